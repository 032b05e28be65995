// The evidence that a message keeps: every signature with its reason, what DNS left open, and text that a database row can hold.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkSender } from '../src/authentication/sender-checks.ts'
import type { Records } from './harness/dns-server.ts'
import { signWithNode } from './harness/signers.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const recordOf = (key: typeof rsa.publicKey) => `v=DKIM1; k=rsa; p=${key.export({ type: 'spki', format: 'der' }).toString('base64')}`
const record = recordOf(rsa.publicKey)
const weak = recordOf(generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey)
const edRecord = `v=DKIM1; k=ed25519; p=${generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`

type Zone = Record<string, Records | 'failure'>
const zone: Zone = {
  'shop.example': { TXT: ['v=spf1 -all'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.shop.example': { TXT: [record] },
  's1._domainkey.other.example': { TXT: [record] },
}
const plain = Buffer.from('From: Ada <ada@shop.example>\r\nSubject: Hello\r\n\r\nHello  there. \r\n\r\n')
const key = { domain: 'shop.example', selector: 's1', key: rsa.privateKey }
const broken = (raw: Buffer): Buffer => Buffer.from(raw.toString('latin1').replace(/b=[A-Za-z0-9+/]{4}(?=[^\r]*\r\n)/, 'b=AAAA'), 'latin1')

const check = (raw: Buffer, records: Zone = {}, envelopeFrom = 'eve@elsewhere.example') =>
  checkSender(
    { envelopeFrom, client: { address: '198.51.100.9', name: 'mail.example' }, raw },
    { resolver: createZoneResolver({ ...zone, ...records }), hostname: 'mx.example', nowMs: () => 0 },
  )

test('signatures of both canonical forms and of several lengths are hashed apart', async () => {
  const forms = ['simple', 'relaxed'] as const
  let raw: Buffer = plain
  for (const body of forms) raw = signWithNode(raw, { ...key, canonicalize: ['relaxed', body] })
  raw = signWithNode(raw, { ...key, canonicalize: ['simple', 'simple'], length: true })
  const { dkim } = await check(raw)
  expect(dkim?.signatures.map(({ result }) => result)).toEqual(['pass', 'pass', 'pass'])
})

test.each<[what: string, TXT: string[], result: string, reason: string | null]>([
  ['a key that is too short', [weak], 'policy', 'weak key: RSA with 512 bits'],
  ['a revoked key', ['v=DKIM1; p='], 'neutral', 'invalid public key'],
  ['a key of another kind', [edRecord], 'neutral', 'inappropriate key algorithm'],
  ['the first reason of several', ['v=DKIM1; p=', weak], 'neutral', 'invalid public key'],
  ['the first reason of several, in another order', [edRecord, 'v=DKIM1; p='], 'neutral', 'inappropriate key algorithm'],
  ['the fifth of five records', ['a', 'b', 'c', 'd', record], 'pass', null],
  ['the sixth of six records', ['a', 'b', 'c', 'd', 'e', record], 'neutral', 'invalid public key'],
])('%s', async (_what, TXT, result, reason) => {
  const { dkim } = await check(signWithNode(plain, key), { 's1._domainkey.shop.example': { TXT } })
  expect(dkim?.signatures).toMatchObject([{ result, reason }])
})

test('a broken signature of the author does not speak where another passes', async () => {
  const { dkim } = await check(broken(signWithNode(signWithNode(plain, key), key)))
  expect(dkim).toMatchObject({ result: 'pass', signatures: [{ result: 'fail' }, { result: 'pass' }] })
  expect((await check(plain)).dkim).toEqual({ result: 'none', domain: null, signatures: [] })
})

test('a failure of DNS about the author leaves DMARC open', async () => {
  const open = (name: string) => ({ result: 'temperror', reason: `DNS could not say whether ${name} has sent it` })
  expect((await check(plain, { 'shop.example': 'failure' }, 'ada@shop.example')).dmarc).toMatchObject(open('shop.example'))
  const signed = signWithNode(plain, key)
  expect((await check(signed, { 's1._domainkey.shop.example': 'failure' })).dmarc).toMatchObject(open('shop.example'))
  const elsewhere = signWithNode(plain, { ...key, domain: 'other.example' })
  expect((await check(elsewhere, { 's1._domainkey.other.example': 'failure' })).dmarc).toMatchObject({ result: 'fail', reason: null })
  expect((await check(plain, {}, 'x')).dmarc).toMatchObject({ result: 'fail', reason: null })
})

test('claims are one line of text that a row can hold', async () => {
  const claim = async (selector: string) => {
    const raw = Buffer.from(`DKIM-Signature: v=1; a=rsa-sha256; d=; s=${selector}; h=from; bh=x; b=x\r\nFrom: a@shop.example\r\n\r\n`)
    return (await check(raw)).dkim?.signatures[0]
  }
  expect(await claim('\x01a\x02\x03b\x04')).toMatchObject({ selector: 'a b', domain: null })
  expect(await claim('')).toMatchObject({ selector: null })
  expect((await claim(`${'a'.repeat(254)}\u{1f600}`))?.selector).toBe(`${'a'.repeat(254)}\ufffd`)
})

test('no timer is left behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await check(plain)
  expect(timers()).toBe(before)
})
