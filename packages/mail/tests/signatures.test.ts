// DKIM signatures and ARC chains that other implementations made, through the function that checks arriving mail.
import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkSender } from '../src/authentication/sender-checks.ts'
import type { Records } from './harness/dns-server.ts'
import { sealWithNode, signers, signWithNode } from './harness/signers.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaText = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const ed = generateKeyPairSync('ed25519')
const edText = ed.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
const zone: Record<string, Records> = {
  'shop.example': { TXT: ['v=spf1 -all'], A: ['192.0.2.1'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.shop.example': { TXT: [`v=DKIM1; k=rsa; p=${rsaText}`] },
  's2._domainkey.shop.example': { TXT: [`v=DKIM1; k=ed25519; p=${edText}`] },
  'strict._domainkey.shop.example': { TXT: [`v=DKIM1; k=rsa; t=s; p=${rsaText}`] },
  'revoked._domainkey.shop.example': { TXT: ['v=DKIM1; k=rsa; p='] },
  's1._domainkey.list.example': { TXT: [`v=DKIM1; k=rsa; p=${rsaText}`] },
}
const nowMs = Date.UTC(2026, 10, 23)
const nowSeconds = nowMs / 1000
const key = { domain: 'shop.example', selector: 's1', key: rsa.privateKey }

const plain = (more = ''): Buffer =>
  Buffer.from(
    `From: Ada <ada@shop.example>\r\nTo: bob@agents.localhost\r\nSubject: Hello   there,\r\n\tBob\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\n${more}\r\nHello \t there. \r\n\r\n\r\nGoodbye.\r\n\r\n\r\n`,
  )
const check = (raw: Buffer) =>
  checkSender(
    { envelopeFrom: 'ada@elsewhere.example', client: { address: '198.51.100.9', name: 'mail.example' }, raw },
    { resolver: createZoneResolver(zone), hostname: 'mx.agents.localhost', nowMs: () => nowMs },
  )
const signatureOf = async (raw: Buffer) => (await check(raw)).dkim?.signatures[0]
const replaced = (raw: Buffer, from: string | RegExp, to: string): Buffer => Buffer.from(raw.toString('latin1').replace(from, to), 'latin1')

describe.each(signers)('signatures of $name', ({ sign, seal }) => {
  const forms = ['simple', 'relaxed'] as const
  test.each(forms.flatMap((header) => forms.map((body) => [header, body] as const)))(
    '%s/%s pass in both algorithms',
    async (header, body) => {
      for (const [algorithm, selector, privateKey] of [
        ['rsa-sha256', 's1', rsa.privateKey],
        ['ed25519-sha256', 's2', ed.privateKey],
      ] as const) {
        const signed = await sign(plain(), { domain: 'shop.example', selector, key: privateKey, algorithm, canonicalize: [header, body] })
        const { dkim, dmarc } = await check(signed)
        expect(dkim).toMatchObject({ result: 'pass', signatures: [{ algorithm, selector, unsigned_bytes: 0 }] })
        expect(dmarc).toMatchObject({ result: 'pass' })
        expect((await check(replaced(signed, 'Goodbye', 'Goodbyf'))).dkim).toMatchObject({ result: 'fail' })
      }
    },
  )

  test('unsigned bytes behind l= are counted, and the signature is worth nothing for DMARC', async () => {
    const signed = await sign(plain(), { ...key, length: true })
    expect((await check(signed)).dmarc).toMatchObject({ result: 'pass' })
    const more = await check(Buffer.concat([replaced(signed, /(?:\r\n){2}$/, ''), Buffer.from('Wire the money to me.\r\n')]))
    expect(more.dkim).toMatchObject({ result: 'pass', signatures: [{ unsigned_bytes: 23 }] })
    expect(more.dmarc).toMatchObject({ result: 'fail' })
  })

  const seen = 'Authentication-Results: list.example; spf=pass smtp.mailfrom=shop.example; dkim=pass header.d=shop.example\r\n'
  const sealer = { domain: 'list.example', selector: 's1', key: rsa.privateKey, service: 'list.example' }
  test('ARC: a chain passes, names its last sealer, and fails when a byte changes', async () => {
    const once = await seal(plain(seen), sealer)
    expect((await check(once)).arc).toMatchObject({ result: 'pass', chain_length: 1, domain: 'list.example', reason: null })
    const twice = await seal(once, sealer)
    expect((await check(twice)).arc).toMatchObject({ result: 'pass', chain_length: 2 })
    expect((await check(replaced(twice, 'Goodbye', 'Goodbyf'))).arc).toMatchObject({ result: 'fail', chain_length: 2 })
    expect((await check(replaced(twice, 'i=1; list.example; spf=pass', 'i=1; list.example; spf=fail'))).arc).toMatchObject({
      result: 'fail',
    })
  })
})

describe('times', () => {
  const expiring = (tags: Record<string, string>) => signatureOf(signWithNode(plain(), { ...key, tags }))
  test('a signature past its x= is expired, up to the second', async () => {
    expect(await expiring({ x: String(nowSeconds - 1) })).toMatchObject({ result: 'neutral', reason: 'expired' })
    expect(await expiring({ x: '1' })).toMatchObject({ result: 'neutral', reason: 'expired' })
    expect(await expiring({ x: String(nowSeconds) })).toMatchObject({ result: 'pass' })
    expect(await expiring({ t: String(nowSeconds - 60), x: String(nowSeconds + 60) })).toMatchObject({ result: 'pass' })
  })
  test('an expired signature is worth nothing for DMARC', async () => {
    expect((await check(signWithNode(plain(), { ...key, tags: { x: '1' } }))).dmarc).toMatchObject({ result: 'fail' })
  })
  test('x= at or before t= is refused', async () => {
    for (const t of [nowSeconds, nowSeconds + 60])
      expect(await expiring({ t: String(t), x: String(nowSeconds) })).toMatchObject({ result: 'neutral', reason: 'invalid expiration' })
  })
})

describe('tags', () => {
  const withTags = (tags: Record<string, string>, more = {}) => signatureOf(signWithNode(plain(), { ...key, ...more, tags }))
  test('i= is the domain or below it, unless the key is strict', async () => {
    expect(await withTags({ i: '@shop.example' })).toMatchObject({ result: 'pass' })
    expect(await withTags({ i: 'ada@news.shop.example' })).toMatchObject({ result: 'pass' })
    expect(await withTags({ i: '@other.example' })).toMatchObject({ result: 'neutral', reason: 'domain mismatch' })
    expect(await withTags({ i: '@badshop.example' })).toMatchObject({ result: 'neutral', reason: 'domain mismatch' })
    expect(await withTags({ i: '@shop.example' }, { selector: 'strict' })).toMatchObject({ result: 'pass' })
    expect(await withTags({ i: '@news.shop.example' }, { selector: 'strict' })).toMatchObject({
      result: 'neutral',
      reason: 'domain mismatch',
    })
  })
  test('versions, query methods and lengths', async () => {
    expect(await withTags({ v: '2' })).toMatchObject({ result: 'neutral', reason: 'incompatible version' })
    expect(await withTags({ q: 'dns/other' })).toMatchObject({ result: 'neutral', reason: 'unsupported query method' })
    expect(await withTags({ q: 'dns/other:dns/txt' })).toMatchObject({ result: 'pass' })
    expect(await withTags({ l: '-1' })).toMatchObject({ result: 'neutral', reason: 'signature syntax error' })
    expect(await withTags({ l: '4' })).toMatchObject({ result: 'fail', reason: 'body hash did not verify' })
  })
  test('unknown algorithms and canonical forms', async () => {
    expect(await withTags({ a: 'rsa-sha512' })).toMatchObject({ result: 'neutral', reason: 'unknown algorithm' })
    for (const c of ['loose', 'loose/simple', 'relaxed/loose', 'relaxed/relaxed/relaxed'])
      expect([c, await withTags({ c })]).toEqual([c, expect.objectContaining({ result: 'neutral', reason: 'unknown canonicalization' })])
  })
  test('missing tags, and tags of a wrong syntax', async () => {
    const signed = signWithNode(plain(), { ...key, tags: { t: String(nowSeconds) } })
    for (const tag of ['v', 'd', 's', 'h', 'bh']) {
      const without = replaced(signed, new RegExp(`(?<=[ ;:])${tag}=[^;]*; `), '')
      expect([tag, await signatureOf(without)]).toEqual([
        tag,
        expect.objectContaining({ result: 'neutral', reason: 'signature missing required tag' }),
      ])
    }
    const malformed: Record<string, string>[] = [
      { t: 'x' },
      { x: 'x' },
      { d: 'shop..example' },
      { s: '-/-' },
      { h: ':' },
      { i: 'no address' },
      { i: 'a..b@shop.example' },
      { i: '@shop..example' },
    ]
    for (const tags of malformed)
      expect([tags, await withTags(tags)]).toEqual([tags, expect.objectContaining({ result: 'neutral', reason: 'signature syntax error' })])
    expect(await withTags({ i: 'a=64a@shop.example' })).toMatchObject({ result: 'pass' })
  })
  test('a revoked key, and a key of the other kind', async () => {
    expect(await signatureOf(signWithNode(plain(), { ...key, selector: 'revoked' }))).toMatchObject({ result: 'neutral' })
    expect(await signatureOf(signWithNode(plain(), { ...key, selector: 's2' }))).toMatchObject({
      result: 'neutral',
      reason: 'inappropriate key algorithm',
    })
  })
})

describe('the fields that h= selects', () => {
  const names = ['from', 'to', 'subject', 'date']
  test('repeated fields are taken from the last, so that one added on top is not signed', async () => {
    const signed = signWithNode(plain(), { ...key, names })
    const added = Buffer.concat([Buffer.from('Subject: Pay now\r\n'), signed])
    expect(await signatureOf(added)).toMatchObject({ result: 'pass' })
    expect(await signatureOf(replaced(signed, '\r\n\r\nHello', '\r\nSubject: Pay now\r\n\r\nHello'))).toMatchObject({
      result: 'fail',
      reason: 'bad signature',
    })
  })
  test('a name more than once signs that no further field exists', async () => {
    const signed = signWithNode(plain(), { ...key, names: [...names, 'subject', 'reply-to'] })
    expect(await signatureOf(signed)).toMatchObject({ result: 'pass' })
    for (const line of ['Subject: Pay now', 'Reply-To: eve@elsewhere.example'])
      expect(await signatureOf(Buffer.concat([Buffer.from(`${line}\r\n`), signed]))).toMatchObject({
        result: 'fail',
        reason: 'bad signature',
      })
  })
  test('both of two equal fields are covered', async () => {
    const twice = plain('Comments: first\r\nComments: second\r\n')
    const signed = signWithNode(twice, { ...key, names: ['from', 'comments', 'comments'] })
    expect(await signatureOf(signed)).toMatchObject({ result: 'pass' })
    expect(await signatureOf(replaced(signed, 'Comments: first', 'Comments: third'))).toMatchObject({ result: 'fail' })
    expect(await signatureOf(replaced(signed, 'Comments: second', 'Comments: third'))).toMatchObject({ result: 'fail' })
  })
  test('From has to be among them', async () => {
    expect(await signatureOf(signWithNode(plain(), { ...key, names: ['to', 'subject'] }))).toMatchObject({
      reason: 'From field not signed',
    })
  })
})

test('of two signatures the one that passes and aligns speaks', async () => {
  const other = { domain: 'list.example', selector: 's1', key: rsa.privateKey }
  const both = signWithNode(signWithNode(plain(), key), other)
  expect((await check(both)).dkim).toMatchObject({ result: 'pass', domain: 'shop.example' })
  const broken = replaced(signWithNode(signWithNode(plain(), other), key), /(s=s1; .*?b=)[A-Za-z0-9+/]{4}/, '$1AAAA')
  expect((await check(broken)).dkim).toMatchObject({ result: 'pass', domain: 'list.example' })
})

describe('an ARC chain fails', () => {
  const seen = 'Authentication-Results: list.example; dkim=pass header.d=shop.example\r\n'
  const sealer = { domain: 'list.example', selector: 's1', key: rsa.privateKey, service: 'list.example' }
  const sealed = sealWithNode(sealWithNode(plain(seen), sealer), sealer)
  const field = (name: string, instance: number) => new RegExp(`^${name}: i=${instance};[\\s\\S]*?\\r\\n(?=\\S)`, 'm')
  const arcOf = async (raw: Buffer) => (await check(raw)).arc
  test('without a part of a set, or with one twice', async () => {
    for (const name of ['ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results'])
      for (const instance of [1, 2]) {
        expect([name, instance, (await arcOf(replaced(sealed, field(name, instance), '')))?.result]).toEqual([name, instance, 'fail'])
        const twice = replaced(sealed, field(name, instance), '$&$&')
        expect([name, instance, (await arcOf(twice))?.result]).toEqual([name, instance, 'fail'])
      }
  })
  test('with another cv=, an instance out of range, or seals in h=', async () => {
    for (const [from, to] of [
      ['cv=pass', 'cv=none'],
      ['cv=none', 'cv=pass'],
      ['cv=pass', 'cv=fail'],
      ['ARC-Seal: i=2', 'ARC-Seal: i=51'],
      ['ARC-Seal: i=2', 'ARC-Seal: i=0'],
      ['h=from:to', 'h=arc-seal:from:to'],
    ] as const)
      expect([from, to, (await arcOf(replaced(sealed, from, to)))?.result]).toEqual([from, to, 'fail'])
  })
  test('with a sealed state that its place rules out', async () => {
    const once = sealWithNode(plain(seen), sealer)
    for (const cv of ['pass', 'fail'])
      expect([cv, (await arcOf(sealWithNode(plain(seen), { ...sealer, cv })))?.result]).toEqual([cv, 'fail'])
    for (const cv of ['none', 'fail']) expect([cv, (await arcOf(sealWithNode(once, { ...sealer, cv })))?.result]).toEqual([cv, 'fail'])
  })
  test('with more than 50 sets', async () => {
    let raw = plain(seen)
    for (let sets = 0; sets < 50; sets++) raw = sealWithNode(raw, sealer)
    expect(await arcOf(raw)).toMatchObject({ result: 'pass', chain_length: 50 })
    expect(await arcOf(sealWithNode(raw, sealer))).toMatchObject({ result: 'fail' })
  })
  test('with a seal of another key', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    expect(await arcOf(sealWithNode(plain(seen), { ...sealer, key: stranger }))).toMatchObject({ result: 'fail', domain: null })
  })
  test('with a key that DNS does not have now', async () => {
    expect(await arcOf(replaced(sealed, /s=s1/g, 's=none'))).toMatchObject({ result: 'fail' })
  })
})

test('a signature over the octets in place of their hash does not pass for Ed25519 (RFC 8463 §3)', async () => {
  const signed = signWithNode(plain(), { domain: 'shop.example', selector: 's2', key: ed.privateKey, algorithm: 'ed25519-sha256' })
  const bytes = signBytes(null, Buffer.from('x'), ed.privateKey).toString('base64')
  expect(await signatureOf(replaced(signed, /b=[A-Za-z0-9+/=]{88}\r\n/, `b=${bytes}\r\n`))).toMatchObject({
    result: 'fail',
    reason: 'bad signature',
  })
})
