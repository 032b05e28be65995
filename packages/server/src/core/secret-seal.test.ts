// Secrets sealed with a key of the keyring, for one row.
import { expect, test } from 'vitest'
import { openSecret, sealSecret } from './secret-seal.ts'

const key = Buffer.alloc(32, 1)
const secret = Buffer.from('whsec_abc')
const sealed = sealSecret(key, 'row 1', secret)

test('the secret of a row is opened again, and is not readable before', () => {
  expect(openSecret(key, 'row 1', sealed)).toEqual(secret)
  expect(openSecret(key, 'row 1', sealSecret(key, 'row 1', Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
  expect(sealed).toHaveLength(1 + 12 + secret.length + 16)
  expect(sealed.includes(secret)).toBe(false)
  expect(sealSecret(key, 'row 1', secret)).not.toEqual(sealed)
})

const changed = (at: number) => {
  const copy = Buffer.from(sealed)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}

test.each([
  ['another key', Buffer.alloc(32, 2), 'row 1', sealed, /authenticate/],
  ['another row', key, 'row 2', sealed, /authenticate/],
  ['an unknown version', key, 'row 1', changed(0), /unknown version/],
  ['a changed IV', key, 'row 1', changed(1), /authenticate/],
  ['changed content', key, 'row 1', changed(13), /authenticate/],
  ['a changed tag', key, 'row 1', changed(sealed.length - 1), /authenticate/],
  ['nothing', key, 'row 1', Buffer.alloc(0), /unknown version/],
])('%s is refused with a remedy', (_name, with_, row, bytes, cause) => {
  expect(() => openSecret(with_, row, bytes)).toThrow(
    expect.objectContaining({
      message: `the secret of ${row} cannot be opened with this keyring. Every node needs the same keyring/ folder.`,
      cause: expect.objectContaining({ message: expect.stringMatching(cause) }),
    }),
  )
})
