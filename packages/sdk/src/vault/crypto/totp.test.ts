// One-time passwords, with every value of RFC 6238 appendix B, and pasted formats.
import { expect, test } from 'vitest'
import { encodeUtf8 } from './bytes.ts'
import { codeAt, parseTotp, type TotpAlgorithm, totpCode } from './totp.ts'

const seeds: Record<TotpAlgorithm, string> = {
  'SHA-1': '12345678901234567890',
  'SHA-256': '12345678901234567890123456789012',
  'SHA-512': '1234567890123456789012345678901234567890123456789012345678901234',
}

const alphabet = '0123456789'

// RFC 6238 appendix B, with the seeds of its errata 2866.
const table: [seconds: number, sha1: string, sha256: string, sha512: string][] = [
  [59, '94287082', '46119246', '90693936'],
  [1111111109, '07081804', '68084774', '25091201'],
  [1111111111, '14050471', '67062674', '99943326'],
  [1234567890, '89005924', '91819424', '93441116'],
  [2000000000, '69279037', '90698825', '38618901'],
  [20000000000, '65353130', '77737706', '47863826'],
]

test('the 18 values of RFC 6238 appendix B', async () => {
  for (const [seconds, ...codes] of table) {
    for (const [i, algorithm] of (['SHA-1', 'SHA-256', 'SHA-512'] as const).entries()) {
      const { code } = await codeAt(
        { secret: encodeUtf8(seeds[algorithm]), algorithm, digits: 8, periodSeconds: 30, alphabet },
        seconds * 1000,
      )
      expect(code).toBe(codes[i])
    }
  }
})

const seedBase32 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('a bare secret means SHA-1, six digits, thirty seconds', async () => {
  expect(await totpCode(seedBase32, 59_000)).toEqual({ code: '287082', periodSeconds: 30, secondsLeft: 1 })
  expect(await totpCode(' gezd gnbv-GY3T QOJQ gezdgnbvgy3tqojq== ', 30_000)).toEqual({ code: '287082', periodSeconds: 30, secondsLeft: 30 })
})

test('an otpauth address sets the parameters', async () => {
  const address = `otpauth://totp/Example:ada@example.com?secret=${seedBase32}&issuer=Example&digits=8&period=60&algorithm=SHA1`
  expect(parseTotp(address)).toEqual({ secret: encodeUtf8(seeds['SHA-1']), algorithm: 'SHA-1', digits: 8, periodSeconds: 60, alphabet })
  expect((await totpCode(address, 59_000 * 2)).secondsLeft).toBe(2)
  expect(parseTotp(`otpauth://totp?secret=${seedBase32}&algorithm=sha-256`).algorithm).toBe('SHA-256')
  expect(parseTotp(`otpauth://totp/x?secret=${seedBase32}&algorithm=SHA512`).algorithm).toBe('SHA-512')
})

test('secrets of Steam give five of its letters and digits', async () => {
  // The secret, times and codes of the tests of KeePassXC, tests/TestTotp.cpp.
  const secret = '63BEDWCQZKTQWPESARIERL5DTTQFCJTK'
  for (const text of [
    `steam://${secret}`,
    `otpauth://totp/Valve:ada?secret=${secret}&issuer=Valve&encoder=steam`,
    `otpauth://totp/Valve:ada?secret=${secret}&digits=6&algorithm=SHA256&encoder=Steam`,
    `otpauth://steam/Valve:ada?secret=${secret}&issuer=Valve`,
  ]) {
    expect((await totpCode(text, 1511200518_000)).code).toBe('FR8RV')
    expect((await totpCode(text, 1511200714_000)).code).toBe('9P3VP')
  }
})

test('five digits are the last five of the number', async () => {
  expect((await totpCode(`otpauth://totp/x?secret=${seedBase32}&digits=5`, 59_000)).code).toBe('87082')
  expect((await totpCode(`otpauth://totp/x?secret=${seedBase32}&digits=10`, 59_000)).code).toMatch(/94287082$/)
})

test.each([
  '',
  '   ',
  'not base32 at all!',
  'A'.repeat(2000),
  'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=1',
  'otpauth://totp/x',
  `otpauth://totp/x?secret=${seedBase32}&algorithm=MD5`,
  `otpauth://totp/x?secret=${seedBase32}&algorithm=constructor`,
  `otpauth://totp/x?secret=${seedBase32}&digits=4`,
  `otpauth://totp/x?secret=${seedBase32}&encoder=unknown`,
  'steam://',
  'steam://not base32!',
  `otpauth://totp/x?secret=${seedBase32}&digits=1e1`,
  `otpauth://totp/x?secret=${seedBase32}&period=0`,
  `otpauth://totp/x?secret=${seedBase32}&period=99999`,
  'otpauth://[',
])('%j is refused', (text) => {
  expect(() => parseTotp(text)).toThrowError(expect.objectContaining({ code: 'totp_invalid' }))
})
