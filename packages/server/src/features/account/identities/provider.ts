// The interface that checks the patterns of an outbound guard, such that compiling them does not delay other requests.
import type { PatternProblem } from '@callsign/mail/content/secrets/patterns'

/** The first of these patterns that cannot be used. Null when all can be. Rejects with 429 when too many checks of the owner wait. */
export type FindPatternProblem = (owner: string, patterns: string[]) => Promise<PatternProblem | null>
