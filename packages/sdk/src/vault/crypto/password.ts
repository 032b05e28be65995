// Generates random passwords for secrets of other services.
import { randomBytes } from './bytes.ts'

/** The kinds of characters of a password. Characters that look alike (0 O, 1 l I) are left out. */
export const passwordCharacters = {
  lower: 'abcdefghijkmnopqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '!#$%&*+-=?@_~',
} as const

export type PasswordCharacters = keyof typeof passwordCharacters

export const passwordLengthMin = 8
export const passwordLengthMax = 128

/**
 * Generates a password that has at least one character of each kind. Throws RangeError for a length outside the limits, or without a kind.
 * Passwords that lack a kind are drawn again, so every password with all kinds is equally likely.
 */
export function generatePassword(length: number, kinds: readonly PasswordCharacters[]): string {
  if (!Number.isInteger(length) || length < passwordLengthMin || length > passwordLengthMax)
    throw new RangeError(`The length must be ${passwordLengthMin} to ${passwordLengthMax}.`)
  if (kinds.length === 0) throw new RangeError('Choose at least one kind of characters.')
  const sets = kinds.map((kind) => passwordCharacters[kind])
  const alphabet = sets.join('')
  for (;;) {
    const password = Array.from({ length }, () => alphabet[randomBelow(alphabet.length)]).join('')
    if (sets.every((set) => [...set].some((character) => password.includes(character)))) return password
  }
}

/** A random whole number below `limit`, which is at most 256. Bytes at the uneven end are drawn again. */
function randomBelow(limit: number): number {
  const even = 256 - (256 % limit)
  for (;;) {
    const [byte = 0] = randomBytes(1)
    if (byte < even) return byte % limit
  }
}
