// Every issuer's shortest secret has a long run, and prose has none.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { issuerRules } from './issuers.ts'
import { aroundLongRuns } from './long-run.ts'

const hasLongRun = (text: string): boolean => aroundLongRuns(text) !== ''

/** The pattern without the parts that look at its surroundings. */
const consuming = (pattern: RegExp): RegExp => new RegExp(`^(?:${pattern.source.replace(/\(\?<?[=!][^)]*\)|\\b/g, '')})$`)

test.each(issuerRules.map((rule) => [`${rule.name} ${rule.literals[0]}`, rule] as const))(
  'a text with a %s has a long run',
  (_name, { pattern }) => {
    fc.assert(
      fc.property(fc.stringMatching(consuming(pattern)), (secret) => hasLongRun(`Use ${secret} from now on.`)),
      { numRuns: 50 },
    )
  },
)

test('a run is found at every place, and its length decides', () => {
  for (const before of ['', ' ', 'a word and ', 'é'.repeat(19)])
    for (const after of ['', ' ', ', and more', 'é']) {
      expect(hasLongRun(`${before}${'x'.repeat(20)}${after}`)).toBe(true)
      expect(hasLongRun(`${before}${'x'.repeat(19)}${after}`)).toBe(false)
    }
  expect(hasLongRun('The meeting is on Tuesday at ten, and we have a room for twelve people.')).toBe(false)
})

test('the surroundings of each run are kept, and the rest is not', () => {
  const [run, rest] = ['x'.repeat(30), ' word'.repeat(200)]
  const short = aroundLongRuns(`${rest} first = ${run}${rest} second = ${run}${rest}`)
  expect(short).toContain(` first = ${run} word`)
  expect(short).toContain(` second = ${run} word`)
  expect(short.length).toBeLessThan(4 * 256 + 2 * run.length + 10)
  expect(aroundLongRuns(`near ${run}`)).toBe(`near ${run}`)
})
