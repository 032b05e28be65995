// The rules of RFC 6376 §3.5 and §6.1.1 for the tags of a signature.
import { expect, test } from 'vitest'
import { readSignature } from './signature-field.ts'

const valid = { v: '1', a: 'rsa-sha256', b: 'AA AA', bh: 'BB BB', d: 'shop.example', h: 'From : to', s: 'sel' }

function read(changes: Record<string, string | null>, use: 'dkim' | 'arc' = 'dkim') {
  const tags = Object.entries({ ...valid, ...changes }).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
  return readSignature({ key: 'dkim-signature', text: `DKIM-Signature: ${tags.join('; ')}` }, use)
}

test('a signature that can be verified', () => {
  expect(read({})).toMatchObject({
    domain: 'shop.example',
    selector: 'sel',
    algorithm: 'rsa-sha256',
    kind: 'rsa',
    isSha1: false,
    headerForm: 'simple',
    bodyForm: 'simple',
    bodyLength: null,
    bodyHash: 'BBBB',
    signedKeys: ['from', 'to'],
    bytes: Buffer.from('AAAA', 'base64'),
    isForSubdomain: false,
    expiresAt: null,
    field: { text: 'DKIM-Signature: v=1; a=rsa-sha256; b=; bh=BB BB; d=shop.example; h=From : to; s=sel' },
  })
  expect(read({ c: 'relaxed' })).toMatchObject({ headerForm: 'relaxed', bodyForm: 'simple' })
  expect(read({ c: 'Simple/Relaxed', l: '12', x: '20', t: '19' })).toMatchObject({ bodyForm: 'relaxed', bodyLength: 12, expiresAt: 20 })
  expect(read({ a: 'RSA-SHA1' })).toMatchObject({ isSha1: true, kind: 'rsa' })
  expect(read({ a: 'ed25519-sha256' })).toMatchObject({ isSha1: false, kind: 'ed25519' })
  expect(read({ v: null }, 'arc')).toMatchObject({ kind: 'rsa' })
})

const missing = 'signature missing required tag'
const syntax = 'signature syntax error'

test.each([
  [{ a: null }, 'unknown algorithm'],
  [{ a: 'rsa-md5' }, 'unknown algorithm'],
  [{ c: 'strict' }, 'unknown canonicalization'],
  [{ c: 'simple/strict' }, 'unknown canonicalization'],
  [{ c: 'simple/simple/simple' }, 'unknown canonicalization'],
  [{ d: null }, missing],
  [{ s: null }, missing],
  [{ d: '' }, missing],
  [{ s: '' }, missing],
  [{ v: null }, missing],
  [{ b: null }, missing],
  [{ bh: null }, missing],
  [{ h: null }, missing],
  [{ 'x y': '1' }, syntax],
  [{ v: '2' }, 'incompatible version'],
  [{ t: 'now' }, syntax],
  [{ t: 'x1' }, syntax],
  [{ x: '1x' }, syntax],
  [{ x: '1234567890123' }, syntax],
  [{ l: '-1' }, syntax],
  [{ l: '1'.repeat(77) }, syntax],
  [{ h: ':' }, syntax],
  [{ d: 'shop_.-example' }, syntax],
  [{ s: '-sel' }, syntax],
  [{ q: 'dns/other' }, 'unsupported query method'],
  [{ i: 'ada' }, syntax],
  [{ i: 'a b@shop.example' }, null],
  [{ i: 'a"b@shop.example' }, syntax],
  [{ i: '.a@shop.example' }, syntax],
  [{ i: '"a\\"b"@shop.example' }, null],
  [{ i: 'ada@' }, syntax],
  [{ i: 'ada@other.example' }, 'domain mismatch'],
  [{ i: 'ada@xshop.example' }, 'domain mismatch'],
  [{ i: '@SHOP.example' }, null],
  [{ i: 'ada@news.shop.example' }, null],
  [{ i: 'ada=40news.shop.example' }, null],
  [{ t: '20', x: '20' }, 'invalid expiration'],
  [{ t: '21', x: '20' }, 'invalid expiration'],
  [{ t: '19', x: '20' }, null],
  [{ x: '20' }, null],
  [{ t: '20' }, null],
  [{ q: 'dns/txt' }, null],
  [{ h: 'to:subject' }, 'From field not signed'],
  [{ h: 'xfrom' }, 'From field not signed'],
] as [Record<string, string | null>, string | null][])('%j: %s', (changes, refusal) => {
  const reading = read(changes)
  expect('refusal' in reading ? reading.refusal : null).toBe(refusal)
})

test('a signature of a subdomain, and RSA with SHA-1 in ARC', () => {
  expect(read({ i: 'ada@news.shop.example' })).toMatchObject({ isForSubdomain: true })
  expect(read({ i: 'ada=40news.shop.example' })).toMatchObject({ isForSubdomain: true })
  expect(read({ i: 'ada@Shop.example' })).toMatchObject({ isForSubdomain: false })
  expect(read({ i: 'ada@news.shop.example' }, 'arc')).toMatchObject({ isForSubdomain: false })
  expect(read({ a: 'rsa-sha1' }, 'arc')).toMatchObject({ refusal: 'unknown algorithm', algorithm: 'rsa-sha1' })
})
