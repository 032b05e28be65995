// Vault keys and recovery codes. Tests which are accepted, their generation, and that different spellings of a code are equal.
import { expect, test } from 'vitest'
import { decodeUtf8, encodeUtf8 } from './bytes.ts'
import { generateRecoveryCode, generateVaultKey, newVaultKeyBytes, recoveryCodeBytes, vaultKeyBytes } from './vault-key.ts'

test('generated keys and codes have their form, pass, and never come twice', () => {
  const keys = Array.from({ length: 200 }, generateVaultKey)
  const codes = Array.from({ length: 200 }, generateRecoveryCode)
  for (const key of keys) expect(key).toMatch(/^([0-9A-HJKMNP-TV-Z]{8}-){3}[0-9A-HJKMNP-TV-Z]{8}$/)
  for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$/)
  expect(new Set([...keys, ...codes]).size).toBe(400)
  // Every symbol occurs, because 6,400 draws miss one of 32 with a chance below 10^-80.
  expect(new Set(keys.join('').replaceAll('-', '')).size).toBe(32)
  for (const key of keys) expect(newVaultKeyBytes(key)).toEqual(encodeUtf8(key))
})

test('a chosen vault key is used unchanged, without normalizing', () => {
  expect(newVaultKeyBytes('sixteen letters!')).toEqual(encodeUtf8('sixteen letters!'))
  expect(newVaultKeyBytes('caf\u00e9 with a long tail')).toEqual(encodeUtf8('caf\u00e9 with a long tail'))
  expect(newVaultKeyBytes('🔑'.repeat(16))).toHaveLength(64)
  const given = encodeUtf8('given as bytes, sixteen and more')
  expect(newVaultKeyBytes(given)).toEqual(given)
  expect(newVaultKeyBytes(given)).not.toBe(given)
})

test.each([
  ['fifteen letters'],
  [''],
  ['🔑'.repeat(15)],
  ['cafe\u0301 with a long tail'],
  ['a lone surrogate \ud800 in it'],
  ['a tab\tis no good character'],
  ['x'.repeat(1025)],
  [Uint8Array.of(0xff, ...encodeUtf8('not utf-8 but long enough'))],
])('%j is refused as a new vault key', (key) => {
  expect(() => newVaultKeyBytes(key)).toThrowError(expect.objectContaining({ code: 'vault_key_unsuitable' }))
})

test('an old key may be shorter, because other clients have other rules', () => {
  expect(vaultKeyBytes('short')).toEqual(encodeUtf8('short'))
})

test('a recovery code means the same however it is typed', () => {
  const canonical = '0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ'
  expect(decodeUtf8(recoveryCodeBytes(canonical))).toBe(canonical)
  expect(decodeUtf8(recoveryCodeBytes(' oi23 4567 89ab cdef ghjk mnpq rstv wxyz\n'))).toBe(canonical)
  expect(decodeUtf8(recoveryCodeBytes('OL23456789ABCDEFGHJKMNPQRSTVWXYZ'))).toBe(canonical)
  for (const wrong of ['', '0123', `${canonical}0`, canonical.replace('Z', 'U')]) {
    expect(() => recoveryCodeBytes(wrong)).toThrowError(expect.objectContaining({ code: 'recovery_code_malformed' }))
  }
})
