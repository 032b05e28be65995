// The patterns of an identity's outbound guard, checked before they are stored.
import { setImmediate } from 'node:timers/promises'
import { compilePattern } from '@callsign/mail/content/secrets/patterns'
import { invalid } from '../../../core/errors.ts'

/** Throws 400 for a pattern that the outbound guard cannot use. */
export async function checkPatterns(patterns: string[]): Promise<void> {
  for (const [index, pattern] of patterns.entries()) {
    try {
      compilePattern(pattern)
    } catch (error) {
      throw invalid(`/outbound_guard_patterns/${index}`, (error as Error).message)
    }
    // Compiling one takes up to 60 ms, so that other requests come in between.
    await setImmediate()
  }
}
