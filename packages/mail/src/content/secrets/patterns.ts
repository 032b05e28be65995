// Patterns of the caller, in the syntax of RE2, which matches in linear time. A pattern of a regular expression engine with backtracking
// could take exponential time.
import { RE2JS } from 're2js'
import type { TextMatcher } from './secret.ts'

export const patternCharactersMax = 200
/** Instructions of the compiled pattern, which bound the steps per character. */
const sizeMax = 2_000

/** A compiled pattern. A search takes at most `size` steps per character. */
export type CompiledPattern = TextMatcher & { size: number }

/** Compiles a pattern, in which `^` and `$` match at the start and the end of each line. Throws an Error with the reason when it is not valid, is too large, or matches the empty text. */
export function compilePattern(source: string): CompiledPattern {
  if (source.length > patternCharactersMax) throw new Error(`a pattern has at most ${patternCharactersMax} characters`)
  const compiled = compile(source)
  const size = compiled.programSize()
  if (size > sizeMax) throw new Error('the pattern repeats too much: lower its counts')
  if (compiled.matcher('').find()) throw new Error('the pattern matches an empty text')
  return {
    name: source,
    size,
    find(text) {
      const matcher = compiled.matcher(text)
      return matcher.find() ? (matcher.group() ?? '') : null
    },
  }
}

/** A pattern, by its index in a list, that cannot be used. */
export type PatternProblem = { index: number; reason: string }

/** The first of these patterns that cannot be compiled. Takes up to 60 ms per pattern. */
export function findPatternProblem(patterns: string[]): PatternProblem | null {
  for (const [index, pattern] of patterns.entries()) {
    try {
      compilePattern(pattern)
    } catch (error) {
      return { index, reason: (error as Error).message }
    }
  }
  return null
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.MULTILINE)
  } catch (error) {
    throw new Error(`the pattern is not valid in the syntax of RE2: ${(error as Error).message}`)
  }
}
