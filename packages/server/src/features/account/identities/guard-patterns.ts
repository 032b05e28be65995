// The patterns of an identity's outbound guard, checked before they are stored.
import { findPatternProblem } from '@callsign/mail/content/secrets/patterns'
import { invalid } from '../../../core/errors.ts'
import type { FindPatternProblem } from './provider.ts'

export interface GuardPatterns {
  /** Throws 400 for a pattern that the outbound guard cannot use. */
  check(owner: string, patterns: string[]): Promise<void>
  /** Registers the check on a thread. Without it, patterns are compiled on the thread of the caller. */
  use(find: FindPatternProblem): void
}

export function createGuardPatterns(): GuardPatterns {
  let findProblem: FindPatternProblem = async (_owner, patterns) => findPatternProblem(patterns)
  return {
    async check(owner, patterns) {
      const problem = patterns.length === 0 ? null : await findProblem(owner, patterns)
      if (problem !== null) throw invalid(`/outbound_guard_patterns/${problem.index}`, problem.reason)
    },
    use(find) {
      findProblem = find
    },
  }
}
