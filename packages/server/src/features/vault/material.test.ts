// Accepted and rejected salts, blobs and KDF parameters.
import { expect, test } from 'vitest'
import { readPayload, readSalt, readWrappedKey, requireKdfFloor } from './material.ts'

const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64')
const blob = (size: number, version = 1, algorithm = 1) => base64(version, algorithm, ...Array<number>(size - 2).fill(7))

test('a salt is 16 to 64 bytes', () => {
  expect(readSalt('/kdf_salt', Buffer.alloc(16).toString('base64'))).toHaveLength(16)
  expect(readSalt('/kdf_salt', Buffer.alloc(64).toString('base64'))).toHaveLength(64)
  for (const size of [0, 15, 65])
    expect(() => readSalt('/kdf_salt', Buffer.alloc(size).toString('base64'))).toThrow(/^kdf_salt must be 16 to 64 bytes/)
})

test.each([
  ['no padding', 'AQEBAQEBAQEBAQEBAQEBAQ'],
  ['the URL alphabet', '-_-_-_-_-_-_-_-_-_-_-Q=='],
  ['a line break', 'AQEBAQEBAQEBAQEB\nAQEBAQ=='],
  ['bits left over', 'AQEBAQEBAQEBAQEBAQEBAR=='],
  ['padding inside', 'AQE=AQEBAQEBAQEBAQEBAQEBAQ=='],
  ['something after the padding', 'AQEBAQEBAQEBAQEBAQEBAQ==AAAA'],
])('base64 with %s is refused', (_name, text) => {
  expect(() => readSalt('/kdf_salt', text)).toThrow(/^kdf_salt must be strict base64/)
})

test('a wrapped key is a blob of at least 32 encrypted bytes', () => {
  expect(readWrappedKey('/wrapped_org_key', blob(62))).toHaveLength(62)
  expect(readWrappedKey('/wrapped_org_key', blob(1024))).toHaveLength(1024)
  for (const size of [30, 61, 1025]) expect(() => readWrappedKey('/wrapped_org_key', blob(size))).toThrow('62 to 1024 bytes')
})

test('a payload is a blob of at most 64 KiB', () => {
  for (const size of [30, 65_536]) expect(readPayload('/encrypted_payload', blob(size))).toBe(blob(size))
  for (const size of [29, 65_537]) expect(() => readPayload('/encrypted_payload', blob(size))).toThrow('30 to 65536 bytes')
})

test('plaintext and other versions or algorithms are refused', () => {
  const plaintext = Buffer.from(JSON.stringify({ password: 'sent in the clear by mistake' })).toString('base64')
  for (const text of [plaintext, blob(62, 0, 1), blob(62, 2, 1), blob(62, 1, 0), blob(62, 1, 2)]) {
    expect(() => readPayload('/encrypted_payload', text)).toThrow('01 (version) and 01 (AES-256-GCM)')
  }
})

test('KDF parameters at the floor pass, and each one below it is named', () => {
  const params = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }
  expect(() => requireKdfFloor('/kdf_params', params)).not.toThrow()
  for (const [name, low] of [
    ['m', 19_455],
    ['t', 1],
    ['p', 0],
    ['m', -1],
  ] as const) {
    expect(() => requireKdfFloor('/kdf_params', { ...params, [name]: low })).toThrow(
      expect.objectContaining({ code: 'kdf_params_too_weak', details: [expect.objectContaining({ path: `/kdf_params/${name}` })] }),
    )
  }
})
