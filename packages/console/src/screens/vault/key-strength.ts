// Estimates how hard a chosen vault key is to guess. The estimate is an upper limit, because people choose words.

export type Strength = { bits: number; label: string; tone: 'bad' | 'warn' | 'good' }

const kinds: [RegExp, number][] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[ -/:-@[-`{-~]/, 33],
  [/[^ -~]/, 100],
]

/** Bits of a word from a list of 8,000 words. */
const wordBits = 13
const wordsPattern = /^\p{L}+(?:[ -]\p{L}+)+$/u

/** Bits if every character were drawn at random. Repetitions and sequences such as `abc` count as one character. */
function characterBits(key: string): number {
  const characters = [...key]
  const alphabet = kinds.reduce((size, [pattern, count]) => size + (pattern.test(key) ? count : 0), 0)
  const steps = characters.map((one, at) => (one.codePointAt(0) ?? 0) - (characters[at - 1]?.codePointAt(0) ?? 0))
  const surprising = steps.filter((step, at) => at === 0 || (step !== 0 && step !== steps[at - 1])).length
  return alphabet === 0 ? 0 : Math.min(surprising, new Set(characters).size * 2) * Math.log2(alphabet)
}

/** The estimate of a key. Words count as words. */
export function strengthOf(key: string): Strength {
  const words = wordsPattern.test(key) ? new Set(key.toLowerCase().split(/[ -]/)).size * wordBits : Number.POSITIVE_INFINITY
  const bits = Math.floor(Math.min(words, characterBits(key)))
  if (bits < 50) return { bits, label: 'easy to guess', tone: 'bad' }
  if (bits < 75) return { bits, label: 'fair, if you did not choose the words yourself', tone: 'warn' }
  return { bits, label: 'strong, if it is not a quotation', tone: 'good' }
}
