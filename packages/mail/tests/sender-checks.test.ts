// SPF, DKIM, DMARC and ARC of one message, on signatures that other programs made, and with every kind of DNS failure.
import { generateKeyPairSync } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { describe, expect, test } from 'vitest'
import { checkSender } from '../src/authentication/sender-checks.ts'
import { expectCost } from './harness/cost.ts'
import type { Records } from './harness/dns-server.ts'
import { allowedMs } from './harness/processor.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaPrivate = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const rsaRecord = `v=DKIM1; k=rsa; p=${rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`
const ed = generateKeyPairSync('ed25519')
const edRecord = `v=DKIM1; k=ed25519; p=${ed.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`

const zone: Record<string, Records> = {
  'shop.example': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'], A: ['192.0.2.1'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] },
  's1._domainkey.shop.example': { TXT: [rsaRecord] },
  's2._domainkey.shop.example': { TXT: [edRecord] },
  'news.shop.example': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'], A: ['192.0.2.2'] },
  's1._domainkey.news.shop.example': { TXT: [rsaRecord] },
  'elsewhere.example': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'] },
  's1._domainkey.elsewhere.example': { TXT: [rsaRecord] },
  'list.example': { TXT: [rsaRecord] },
  's1._domainkey.list.example': { TXT: [rsaRecord] },
}

const plain = (from = 'ada@shop.example', more = ''): Buffer =>
  Buffer.from(
    `From: Ada <${from}>\r\nTo: bob@agents.localhost\r\nSubject: Hello\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\n${more}\r\nHello there.\r\nGoodbye.\r\n`,
  )

type Overrides = Parameters<typeof createZoneResolver>[0]
const check = (
  raw: Buffer,
  { from = 'ada@shop.example', ip = '192.0.2.7', name = 'mail.shop.example', records = {} as Overrides, limitMs = 8_000 } = {},
) =>
  checkSender(
    { envelopeFrom: from, client: { address: ip, name }, raw },
    { resolver: createZoneResolver({ ...zone, ...records }), hostname: 'mx.agents.localhost', nowMs: Date.now, limitMs },
  )

/** The message as nodemailer composes and signs it. */
async function fromNodemailer(from: string, domainName: string): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await transport.sendMail({
    from,
    to: 'bob@agents.localhost',
    subject: 'Signed by nodemailer',
    text: 'Grüße\n\n\ntrailing blanks  \n',
    dkim: { domainName, keySelector: 's1', privateKey: rsaPrivate },
  })
  return message as Buffer
}

describe('SPF', () => {
  test('pass, with its evidence', async () => {
    expect((await check(plain())).spf).toMatchObject({
      result: 'pass',
      domain: 'shop.example',
      identity: 'mailfrom',
      client_ip: '192.0.2.7',
      record: 'v=spf1 ip4:192.0.2.0/24 -all',
    })
  })

  test('fail from another address, over IPv6 too, and none without a record', async () => {
    expect((await check(plain(), { ip: '198.51.100.9' })).spf).toMatchObject({ result: 'fail' })
    expect((await check(plain(), { ip: '2001:db8::1' })).spf).toMatchObject({ result: 'fail', client_ip: '2001:db8::1' })
    expect((await check(plain(), { from: 'x@nothing.example' })).spf).toMatchObject({ result: 'none' })
  })

  test('with the null sender the name in HELO is checked', async () => {
    const { spf } = await check(plain(), { from: '', name: 'shop.example' })
    expect(spf).toMatchObject({ result: 'pass', domain: 'shop.example', identity: 'helo' })
    expect((await check(plain(), { from: '', name: '[192.0.2.7]' })).spf).toMatchObject({ result: 'none', identity: 'helo' })
  })
})

describe('DKIM', () => {
  test("nodemailer's signature passes; one changed byte of body or header does not", async () => {
    const signed = await fromNodemailer('ada@shop.example', 'shop.example')
    const { dkim, dmarc } = await check(signed, { ip: '198.51.100.9' })
    expect(dkim).toMatchObject({
      result: 'pass',
      domain: 'shop.example',
      signatures: [{ selector: 's1', algorithm: 'rsa-sha256', is_aligned: true }],
    })
    expect(dmarc).toMatchObject({ result: 'pass', alignment: { spf: false, dkim: true } })
    const body = Buffer.from(signed)
    body[body.length - 5] = (body[body.length - 5] as number) ^ 1
    expect((await check(body)).dkim).toMatchObject({ result: 'fail', signatures: [{ reason: 'body hash did not verify' }] })
    const subject = Buffer.from(signed.toString('latin1').replace('Signed by', 'Forged by'), 'latin1')
    expect((await check(subject)).dkim).toMatchObject({ result: 'fail', signatures: [{ reason: 'bad signature' }] })
  })

  test('rsa-sha1 does not count, an expired signature does not pass, and one without From is ignored', async () => {
    const signed = (await fromNodemailer('ada@shop.example', 'shop.example')).toString('latin1')
    const dkimOf = async (from: string | RegExp, to: string) => (await check(Buffer.from(signed.replace(from, to), 'latin1'))).dkim
    expect(await dkimOf('a=rsa-sha256', 'a=rsa-sha1')).toMatchObject({ result: 'policy', signatures: [{ reason: 'weak algorithm' }] })
    expect(await dkimOf(/(?<=[\s;])h=[^;]*;/, 'h=to:subject;')).toMatchObject({
      result: 'neutral',
      signatures: [{ reason: 'From field not signed' }],
    })
    expect(await dkimOf('v=1;', 'v=1; x=1; t=2;')).toMatchObject({ result: 'neutral', signatures: [{ reason: 'invalid expiration' }] })
  })

  test('of several key records at one name the one that fits is taken', async () => {
    const signed = await fromNodemailer('ada@shop.example', 'shop.example')
    const dkimWith = async (...TXT: string[]) => (await check(signed, { records: { 's1._domainkey.shop.example': { TXT } } })).dkim
    expect(await dkimWith('v=spf1 -all', edRecord, rsaRecord)).toMatchObject({ result: 'pass' })
    expect(await dkimWith(edRecord)).toMatchObject({ result: 'neutral', signatures: [{ reason: 'inappropriate key algorithm' }] })
    expect(await dkimWith()).toMatchObject({ result: 'neutral', signatures: [{ reason: 'no key' }] })
  })

  test('no more than five signatures are looked at', async () => {
    const signed = (await fromNodemailer('ada@shop.example', 'shop.example')).toString('latin1')
    const field = /^DKIM-Signature:[\s\S]*?\r\n(?=\S)/m.exec(signed)?.[0] as string
    const flood = Buffer.from(field.replace('bh=', 'l=1; bh=').repeat(200) + signed, 'latin1')
    const resolver = createZoneResolver(zone)
    const { dkim } = await checkSender(
      { envelopeFrom: 'ada@shop.example', client: { address: '192.0.2.7', name: 'x' }, raw: flood },
      { resolver, hostname: 'x', nowMs: Date.now },
    )
    expect(dkim?.signatures).toHaveLength(5)
  })
})

describe('DMARC', () => {
  test('a forged From fails, with the policy of its domain', async () => {
    const { dmarc } = await check(plain(), { from: 'eve@elsewhere.example', ip: '192.0.2.9' })
    expect(dmarc).toMatchObject({
      result: 'fail',
      domain: 'shop.example',
      policy_domain: 'shop.example',
      policy: 'reject',
      alignment: { spf: false, dkim: false },
    })
  })

  test('subdomains: found by the walk to the organizational domain, with their own policy, aligned when relaxed', async () => {
    expect((await check(plain('ada@news.shop.example'), { from: 'ada@shop.example' })).dmarc).toMatchObject({
      result: 'pass',
      policy: 'quarantine',
      alignment: { spf: true },
    })
    expect((await check(plain('ada@news.shop.example'), { ip: '198.51.100.9' })).dmarc).toMatchObject({
      result: 'fail',
      domain: 'news.shop.example',
      policy_domain: 'shop.example',
      policy: 'quarantine',
    })
    const strict: Records = { TXT: ['v=DMARC1; p=reject; aspf=s; adkim=s'] }
    const records = { '_dmarc.shop.example': strict }
    expect((await check(plain('ada@news.shop.example'), { from: 'ada@shop.example', records })).dmarc).toMatchObject({
      result: 'fail',
      policy: 'reject',
    })
    const signed = await fromNodemailer('ada@news.shop.example', 'shop.example')
    expect((await check(signed, { ip: '198.51.100.9' })).dmarc).toMatchObject({ result: 'pass', alignment: { dkim: true } })
    expect((await check(signed, { ip: '198.51.100.9', records })).dmarc).toMatchObject({ result: 'fail', alignment: { dkim: false } })
  })

  test('names that do not exist have a policy of their own (np)', async () => {
    const records = { '_dmarc.shop.example': { TXT: ['v=DMARC1; p=none; sp=quarantine; np=reject'] } }
    const options = { ip: '198.51.100.9', records }
    expect((await check(plain('x@invented.shop.example'), options)).dmarc).toMatchObject({ result: 'fail', policy: 'reject' })
    expect((await check(plain('x@news.shop.example'), options)).dmarc).toMatchObject({ result: 'fail', policy: 'quarantine' })
  })

  test('t=y, and pct=0 that it replaced, ask for one step less; other pct are history', async () => {
    const policyWith = async (record: string) =>
      (await check(plain(), { ip: '198.51.100.9', records: { '_dmarc.shop.example': { TXT: [record] } } })).dmarc?.policy
    expect(await policyWith('v=DMARC1; p=reject')).toBe('reject')
    expect(await policyWith('v=DMARC1; p=reject; t=y')).toBe('quarantine')
    expect(await policyWith('v=DMARC1; p=reject; pct=0')).toBe('quarantine')
    expect(await policyWith('v=DMARC1; p=quarantine; pct=0; rua=mailto:x@y.example')).toBe('none')
    expect(await policyWith('v=DMARC1; p=reject; pct=10')).toBe('reject')
  })

  test('no record is none; two records are none; a broken one that asks for reports is p=none', async () => {
    const dmarcWith = async (...TXT: string[]) =>
      (await check(plain(), { ip: '198.51.100.9', records: { '_dmarc.shop.example': { TXT } } })).dmarc
    expect(await dmarcWith('something else')).toMatchObject({ result: 'none', policy: null })
    expect(await dmarcWith('v=DMARC1; p=reject', 'v=DMARC1; p=none')).toMatchObject({ result: 'none' })
    expect(await dmarcWith('v=DMARC1; rua=mailto:x@y.example')).toMatchObject({ result: 'fail', policy: 'none' })
  })

  test('a signature of another domain does not align, and nothing aligns on a public suffix', async () => {
    const signed = await fromNodemailer('ada@shop.example', 'elsewhere.example')
    expect(await check(signed, { ip: '198.51.100.9' })).toMatchObject({
      dkim: { result: 'pass', signatures: [{ is_aligned: false }] },
      dmarc: { result: 'fail' },
    })
    const records: Overrides = {
      '_dmarc.example': { TXT: ['v=DMARC1; p=reject; psd=y'] },
      example: { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'] },
    }
    expect(
      (
        await check(plain('ada@other.example'), {
          from: 'x@third.example',
          records: { ...records, 'third.example': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'] } },
        })
      ).dmarc,
    ).toMatchObject({ result: 'fail' })
  })

  test('without exactly one author domain DMARC does not pass', async () => {
    const two = Buffer.concat([Buffer.from('From: Mallory <m@elsewhere.example>\r\n'), plain()])
    expect((await check(two)).dmarc).toMatchObject({ result: 'permerror', reason: 'multiple from fields' })
    const list = Buffer.from(plain().toString().replace('From: Ada <ada@shop.example>', 'From: ada@shop.example, m@elsewhere.example'))
    expect((await check(list)).dmarc).toMatchObject({ result: 'permerror', reason: 'multiple authors' })
    expect((await check(Buffer.from('Subject: nobody\r\n\r\n'))).dmarc).toMatchObject({ result: 'permerror', reason: 'no author' })
  })
})

describe('DNS failure', () => {
  test('is temperror, part by part', async () => {
    const signed = await fromNodemailer('ada@shop.example', 'shop.example')
    const spfGone = await check(signed, { records: { 'shop.example': 'failure' } })
    expect(spfGone).toMatchObject({ spf: { result: 'temperror' }, dkim: { result: 'pass' }, dmarc: { result: 'pass' } })
    const keyGone = await check(signed, { records: { 's1._domainkey.shop.example': 'failure' } })
    expect(keyGone).toMatchObject({ spf: { result: 'pass' }, dkim: { result: 'temperror' }, dmarc: { result: 'pass' } })
    const policyGone = await check(plain(), { ip: '198.51.100.9', records: { '_dmarc.shop.example': 'failure' } })
    expect(policyGone.dmarc).toMatchObject({ result: 'temperror', policy: null })
  })

  test('a resolver that never answers costs the limit and no more', async () => {
    const never = () => new Promise<never>(() => {})
    const resolver = { txt: never, mx: never, a: never, aaaa: never, cname: never, ptr: never }
    const raw = await fromNodemailer('ada@shop.example', 'shop.example')
    const ended: number[] = []
    const checkWithin = async (limitMs: number) => {
      const verdicts = await checkSender(
        { envelopeFrom: 'ada@shop.example', client: { address: '192.0.2.7', name: 'x' }, raw },
        { resolver, hostname: 'mx', nowMs: Date.now, limitMs },
      )
      ended.push(limitMs)
      return verdicts
    }
    const [, verdicts] = await Promise.all([checkWithin(4000), checkWithin(200)])
    expect(verdicts).toMatchObject({
      spf: { result: 'temperror' },
      dkim: { result: 'temperror' },
      dmarc: { result: 'temperror' },
      arc: { result: 'none' },
    })
    // The order shows that the limit counts, also on a slow machine.
    expect(ended).toEqual([200, 4000])
  })

  test('a resolver that throws is failure, not a lost mail', async () => {
    const broken = async () => Promise.reject(new Error('out of order'))
    const resolver = { txt: broken, mx: broken, a: broken, aaaa: broken, cname: broken, ptr: broken }
    expect(
      await checkSender(
        { envelopeFrom: 'a@shop.example', client: { address: '192.0.2.7', name: 'x' }, raw: plain() },
        { resolver, hostname: 'mx', nowMs: Date.now },
      ),
    ).toMatchObject({
      spf: { result: 'temperror' },
    })
  })
})

describe('messages built to be expensive', () => {
  const size = 250_000
  const fill = (unit: string, length = size) => unit.repeat(length / unit.length)
  const from = 'From: ada@shop.example\r\n'
  const set = (index: number) =>
    `ARC-Seal: i=${index}; a=rsa-sha256; cv=${index === 1 ? 'none' : 'pass'}; d=shop.example; s=s1; b=AA==\r\n` +
    `ARC-Message-Signature: i=${index}; a=rsa-sha256; d=shop.example; s=s1; h=from; bh=x; b=x\r\nARC-Authentication-Results: i=${index}; ${fill('x ', 4_000)}\r\n`
  const headers: Record<string, string> = {
    'tags without values': `DKIM-Signature: ${fill('a;')}\r\n${from}`,
    'empty tags': `ARC-Seal: i=1${fill(';')}\r\n${from}`,
    'a signing domain beyond ASCII': `DKIM-Signature: v=1; a=rsa-sha256; s=s1; h=from; bh=x; b=x; d=${fill('\xc3\xa4')}\r\n${from}`,
    'an author domain beyond ASCII': `From: <ada@${fill('\xc3\xa4')}>\r\n`,
    'names in h=': `DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=s1; bh=x; b=x; h=from${fill(':to', 120_000)}\r\n${fill('To: x\r\n', 120_000)}${from}`,
    comments: `ARC-Authentication-Results: ${fill('()')}\r\n${from}`,
    'folded names': `${fill('a\r\n', 125_000)}${fill(' \r\n', 125_000)}${from}`,
    'fifty ARC sets': `${Array.from({ length: 50 }, (_, index) => set(index + 1)).join('')}${from}`,
    'a long identity': `DKIM-Signature: v=1; a=rsa-sha256; d=shop.example; s=s1; h=from; bh=x; b=x; i="${fill('\\a')}@shop.example\r\n${from}`,
  }
  const records: Record<string, string> = {
    'a top label': `v=spf1 a:x.${fill('a', 60_000)}!`,
    slashes: `v=spf1 a:${fill('/1', 60_000)}x`,
    digits: `v=spf1 exists:%{d${fill('1', 60_000)}x}.a.example`,
    terms: `v=spf1${fill(' ?all', 60_000)} x`,
  }
  test.each(Object.entries(headers))('%s: a header of 250 KB costs a time that grows with its size', async (_name, header) => {
    const raw = Buffer.from(`${header}\r\nbody\r\n`, 'latin1')
    // Quadratic readers take many seconds.
    await expectCost(() => check(raw), await allowedMs(500))
  })

  test.each(Object.entries(records))('%s: an SPF record of 60 KB does, too', async (_name, text) => {
    const options = { records: { 'shop.example': { TXT: [text] } } }
    await expectCost(() => check(plain(), options), await allowedMs(500))
  })
})

test('whatever the bytes are, there is a verdict', async () => {
  for (const raw of [
    '',
    '\r\n',
    'DKIM-Signature: \r\n\r\n',
    'DKIM-Signature: v=1; a=rsa-sha256; d=; s=; h=from; bh=; b=\r\nFrom: <>\r\n\r\n',
    'ARC-Seal: i=1\r\n\r\n',
    ':\r\n\r\n',
  ])
    expect((await check(Buffer.from(raw), { from: '\0"@', name: '' })).source).toBe('smtp')
})
