// Valid, expired and forged links.
import { createHmac, createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { signMediaUrl, verifyMediaLink } from './link.ts'

const key = createSecretKey(Buffer.alloc(32, 7))
const attachmentId = 'att_01h455vb4pex5vsknk084sn02q'
const expires = 1_700_003_600
const url = new URL(signMediaUrl({ baseUrl: 'https://calls.example', attachmentId, expires, key }))
const signature = url.searchParams.get('signature') as string
const given = { attachmentId, expires: String(expires), signature, key, nowSeconds: expires - 3600 }

test('the form is that of the contract', () => {
  expect(url.href).toMatch(
    /^https:\/\/calls\.example\/media\/att_01h455vb4pex5vsknk084sn02q\?expires=1700003600&signature=[A-Za-z0-9_-]{43}$/,
  )
  expect(signMediaUrl({ baseUrl: 'https://calls.example/', attachmentId, expires, key })).toBe(url.href)
  expect(signature).toBe(createHmac('sha256', key).update(`callsign media link 1\n${attachmentId}\n1700003600`).digest('base64url'))
})

test('valid until the second it expires', () => {
  expect(verifyMediaLink(given)).toBe('valid')
  expect(verifyMediaLink({ ...given, nowSeconds: expires - 1 })).toBe('valid')
  expect(verifyMediaLink({ ...given, nowSeconds: expires })).toBe('expired')
  expect(verifyMediaLink({ ...given, nowSeconds: expires + 1e9 })).toBe('expired')
})

test.each([
  '1700003601',
  '01700003600',
  '+1700003600',
  ' 1700003600',
  '1700003600 ',
  '1700003600.0',
  '1.7000036e9',
  '0x6553f100',
  '-1',
  '0',
  '',
  '1700003600\n',
  '9'.repeat(13),
  '１７００００３６００',
])('a link that expires at %j is refused', (text) => {
  expect(verifyMediaLink({ ...given, expires: text })).toBe('forged')
  expect(verifyMediaLink({ ...given, expires: text, nowSeconds: expires + 1 })).toBe('forged')
})

test('every changed character of the signature, and every other length, is forged', () => {
  for (let index = 0; index < signature.length; index++) {
    const other = signature[index] === 'A' ? 'B' : 'A'
    expect(verifyMediaLink({ ...given, signature: signature.slice(0, index) + other + signature.slice(index + 1) })).toBe('forged')
  }
  // The last character has two unused bits. Its other encodings are refused, too.
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
    const spelled = signature.slice(0, -1) + last
    expect(verifyMediaLink({ ...given, signature: spelled })).toBe(spelled === signature ? 'valid' : 'forged')
  }
  for (const text of ['', `${signature}=`, `${signature}A`, signature.slice(1), 'ü'.repeat(43), '\0'.repeat(43)]) {
    expect(verifyMediaLink({ ...given, signature: text })).toBe('forged')
  }
})

test('a signature is for one attachment, one time and one key', () => {
  expect(verifyMediaLink({ ...given, attachmentId: 'att_01h455vb4pex5vsknk084sn02r' })).toBe('forged')
  expect(verifyMediaLink({ ...given, attachmentId: `${attachmentId}\n1` })).toBe('forged')
  expect(verifyMediaLink({ ...given, attachmentId: '../../etc' })).toBe('forged')
  expect(verifyMediaLink({ ...given, key: createSecretKey(Buffer.alloc(32, 8)) })).toBe('forged')
})

test('text that is not a link has no valid signature', () => {
  for (const wrong of [
    { attachmentId: 'a/b' },
    { attachmentId: '' },
    { expires: 1.5 },
    { expires: 0 },
    { expires: Number.NaN },
    { expires: 1e21 },
  ]) {
    expect(() => signMediaUrl({ baseUrl: 'https://x', attachmentId, expires, key, ...wrong })).toThrow('not a media link')
  }
})
