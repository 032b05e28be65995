// Passwords have the chosen length and characters, and no character is more likely than another.
import { describe, expect, test } from 'vitest'
import { generatePassword, type PasswordCharacters, passwordCharacters } from './password.ts'

const all = Object.keys(passwordCharacters) as PasswordCharacters[]

describe('a password', () => {
  test('has the length, only the chosen characters, and each kind at least once', () => {
    for (let round = 0; round < 200; round++) {
      const short = generatePassword(8, all)
      expect(short).toHaveLength(8)
      for (const kind of all) expect([...short].some((one) => passwordCharacters[kind].includes(one))).toBe(true)
      expect(generatePassword(20, ['digits'])).toMatch(/^[2-9]{20}$/)
    }
    expect(generatePassword(128, ['lower', 'upper'])).toMatch(/^[a-zA-Z]{128}$/)
  })

  test('has each character about equally often', () => {
    const counts = new Map<string, number>()
    const rounds = 400
    for (let round = 0; round < rounds; round++) for (const one of generatePassword(128, all)) counts.set(one, (counts.get(one) ?? 0) + 1)
    const alphabet = all.map((kind) => passwordCharacters[kind]).join('')
    expect([...counts.keys()].toSorted()).toEqual([...alphabet].toSorted())
    const expected = (rounds * 128) / alphabet.length
    // Six standard deviations of a fair draw. A modulo without rejection would make some characters a third more likely.
    for (const [character, count] of counts)
      expect([character, Math.abs(count - expected) < 6 * Math.sqrt(expected)]).toEqual([character, true])
  })

  test('is refused outside the limits or without characters', () => {
    for (const length of [0, 7, 129, 8.5, Number.NaN]) expect(() => generatePassword(length, all)).toThrow(RangeError)
    expect(() => generatePassword(20, [])).toThrow(RangeError)
  })
})
