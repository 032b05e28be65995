// The text form of keys, with layout, checksum and hashing.
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { checksum, generateKey, hashSecret, isSecret, newSalt, parseKey } from './model.ts'

test('a new key has the prefix, 16 characters of id, 43 of secret and 6 of checksum', () => {
  const key = generateKey()
  expect(key).toMatch(/^svc_live_[0-9A-Za-z]{65}$/)
  expect(parseKey(key)).toEqual({ lookupId: key.slice(9, 25), secret: key.slice(25, 68) })
})

test('the checksum is base62 of CRC-32, most significant first, padded with 0', () => {
  // CRC-32 of "123456789" is cbf43926, the check value of the CRC catalogue.
  expect(crc32('123456789')).toBe(0xcbf43926)
  expect(checksum('123456789')).toBe('3jZRME')
  expect(checksum('')).toBe('000000')
})

test('any changed character makes a key malformed', () => {
  const key = generateKey()
  for (let i = 0; i < key.length; i++) {
    const changed = key.slice(0, i) + (key[i] === 'x' ? 'y' : 'x') + key.slice(i + 1)
    expect(parseKey(changed), `position ${i}`).toBeNull()
  }
  expect(parseKey(`${key} `)).toBeNull()
  expect(parseKey('')).toBeNull()
})

test('the stored hash is SHA-256 of salt and secret and accepts that secret only', () => {
  const salt = newSalt()
  const hash = hashSecret(salt, 'secret')
  expect(salt).toHaveLength(16)
  expect(hash).toHaveLength(32)
  expect(isSecret('secret', salt, hash)).toBe(true)
  expect(isSecret('secreT', salt, hash)).toBe(false)
  expect(isSecret('secret', newSalt(), hash)).toBe(false)
})
