// Key records: which keys are taken, which are not and why, and that a record is imported once.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { readKeyRecord } from './key-record.ts'

const rsaOf = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits }).publicKey
const rsa = rsaOf(2048)
const spki = rsa.export({ type: 'spki', format: 'der' }).toString('base64')
const bare = rsa.export({ type: 'pkcs1', format: 'der' }).toString('base64')
const ed = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

test('RSA keys in both forms that occur, Ed25519 keys bare', () => {
  expect(readKeyRecord(`v=DKIM1; k=rsa; p=${spki}`)).toMatchObject({ kind: 'rsa', isStrict: false, isSlow: false })
  expect(readKeyRecord(`p=${bare.slice(0, 50)} ${bare.slice(50)}; t=y:s`)).toMatchObject({ kind: 'rsa', isStrict: true })
  expect(readKeyRecord(`v=DKIM1; k=ed25519; p=${ed.subarray(-32).toString('base64')}`)).toMatchObject({ kind: 'ed25519' })
})

test('services, hashes and versions that allow mail', () => {
  for (const tags of ['s=email', 's=*', 's=tlsrpt:email', 's=tlsrpt:*', 'h=sha1:sha256', 'h=sha256', 'k=RSA', 't=y'])
    expect([tags, readKeyRecord(`v=DKIM1; ${tags}; p=${spki}`)]).toEqual([tags, expect.objectContaining({ kind: 'rsa', isStrict: false })])
})

test('refusals with their reasons', () => {
  const refusals: Record<string, string> = {
    'v=DKIM1; p=': 'invalid public key',
    'v=DKIM1; p=AAAAA': 'invalid public key',
    'p=!!!!': 'invalid public key',
    'v=DKIM1': 'invalid public key',
    [`p=!${spki}`]: 'invalid public key',
    [`p=${spki}!`]: 'invalid public key',
    [`p=${spki.replace(/=*$/, '')}===`]: 'invalid public key',
    [`k=ed25519; p=${spki}`]: 'invalid public key',
    [`p=${spki}; p=${spki}`]: 'invalid public key',
    [`k=ed25519; p=${ed.toString('base64')}`]: 'invalid public key',
    [`v=DKIM2; p=${spki}`]: 'unknown key version',
    [`k=rsa; v=DKIM1; p=${spki}`]: 'unknown key version',
    [`s=tlsrpt; p=${spki}`]: 'key not for email',
    [`h=sha1; p=${spki}`]: 'inappropriate hash algorithm',
    [`k=dsa; p=${spki}`]: 'unknown key type',
    [`k=rsa; p=${ed.toString('base64')}`]: 'unknown key type',
    [`p=${elliptic}`]: 'unknown key type',
    'p=AAAA': 'unknown key type',
    [`k=; p=${spki}`]: 'unknown key type',
    [`k=dsa; p=${ed.subarray(-32).toString('base64')}`]: 'unknown key type',
    [`p=${spki.slice(0, 40)}=${spki.slice(40)}`]: 'invalid public key',
    'p=AAAAA==': 'invalid public key',
    'p=AAAAAA===': 'invalid public key',
  }
  for (const [record, refusal] of Object.entries(refusals)) expect(readKeyRecord(record), record).toEqual({ refusal, result: 'neutral' })
  const weak = rsaOf(1023).export({ type: 'spki', format: 'der' }).toString('base64')
  expect(readKeyRecord(`p=${weak}`)).toEqual({ refusal: 'weak key: RSA with 1023 bits', result: 'policy' })
})

test('the smallest and the largest key that are taken', () => {
  const recordOf = (bits: number) => readKeyRecord(`p=${rsaOf(bits).export({ type: 'pkcs1', format: 'der' }).toString('base64')}`)
  expect(recordOf(1024)).toMatchObject({ kind: 'rsa', isSlow: false })
  expect(recordOf(4096)).toMatchObject({ kind: 'rsa', isSlow: false })
  expect(recordOf(4104)).toMatchObject({ kind: 'rsa', isSlow: true })
})

test('a bare key whose length takes more octets than one, or one', () => {
  // 512 bits: too weak, but read as a key.
  const short = rsaOf(512).export({ type: 'pkcs1', format: 'der' })
  expect(short[1]).toBeLessThan(0x80)
  expect(readKeyRecord(`p=${short.toString('base64')}`)).toEqual({ refusal: 'weak key: RSA with 512 bits', result: 'policy' })
})

test('an exponent that would make every signature cost milliseconds is refused', () => {
  const jwk = { ...rsa.export({ format: 'jwk' }), e: Buffer.alloc(200, 0x7f).toString('base64url') }
  const costly = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64')
  expect(readKeyRecord(`p=${costly}`)).toEqual({ refusal: 'RSA exponent too large', result: 'policy' })
  const largest = { ...rsa.export({ format: 'jwk' }), e: Buffer.from('0100000000', 'hex').toString('base64url') }
  const taken = createPublicKey({ key: largest, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64')
  expect(readKeyRecord(`p=${taken}`)).toMatchObject({ kind: 'rsa' })
})

test('a record is imported once', () => {
  const record = `v=DKIM1; p=${spki}; n=once`
  expect(readKeyRecord(record)).toBe(readKeyRecord(record))
})
