// Compares sender authentication with mailauth, on signed mail, on altered signed mail and on random records.
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { createTransport } from 'nodemailer'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Verdicts } from '../src/authentication/sender-checks.ts'
import { checkSender } from '../src/authentication/sender-checks.ts'
import type { Records } from './harness/dns-server.ts'
import { checkWithMailauth, type OracleVerdicts } from './harness/mailauth.ts'
import { signers } from './harness/signers.ts'
import { createZoneResolver } from './harness/zone-resolver.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaPrivate = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const rsaText = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const ed = generateKeyPairSync('ed25519')
const edText = ed.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')

type Zone = Record<string, Records | 'failure'>

const zone: Zone = {
  'shop.example': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'], A: ['192.0.2.1'] },
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; sp=quarantine; np=reject'] },
  's1._domainkey.shop.example': { TXT: [`v=DKIM1; k=rsa; p=${rsaText}`] },
  's2._domainkey.shop.example': { TXT: [`v=DKIM1; k=ed25519; p=${edText}`] },
  'news.shop.example': { TXT: ['v=spf1 redirect=shop.example'], A: ['192.0.2.2'] },
  's1._domainkey.list.example': { TXT: [`v=DKIM1; p=${rsaText}`] },
}
const client = { address: '198.51.100.9', name: 'mail.example' }

/** `neutral`, `fail` and `policy` all mean that a signature does not count, so they are compared as equal. */
const worth = (result: string): string => (result === 'pass' || result === 'temperror' ? result : 'nothing')

async function checkBoth(raw: Buffer, { envelopeFrom = 'ada@elsewhere.example', records = zone, from = client } = {}) {
  const resolver = createZoneResolver(records)
  const [ours, theirs] = await Promise.all([
    checkSender({ envelopeFrom, client: from, raw }, { resolver, hostname: 'mx.example', nowMs: Date.now }),
    checkWithMailauth({ envelopeFrom, client: from, raw }, resolver),
  ])
  return { ours, theirs }
}

function expectSame(ours: Verdicts, theirs: OracleVerdicts): void {
  expect(ours.spf?.result).toBe(theirs.spf)
  expect(ours.dkim?.signatures.map(({ result }) => worth(result))).toEqual(theirs.dkim.slice(0, 5).map(worth))
  expect(ours.arc?.result).toBe(theirs.arc)
  expect([ours.dmarc?.result, ours.dmarc?.policy]).toEqual([theirs.dmarc, theirs.policy])
}

const letter = (more = ''): Buffer =>
  Buffer.from(
    `${more}From: Ada <ada@shop.example>\r\nTo: bob@agents.localhost\r\nSubject: Hello   there,\r\n  Bob\r\nDate: Sun, 22 Nov 2026 03:00:00 +0000\r\nMessage-ID: <1@shop.example>\r\n\r\nHello  there. \r\n\r\n\t- one\r\n  - two\r\nGr\u00fc\u00dfe\r\n\r\n\r\n`,
  )

const samples: { name: string; raw: Buffer }[] = []

beforeAll(async () => {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const dkim = { domainName: 'shop.example', keySelector: 's1', privateKey: rsaPrivate }
  const { message } = await transport.sendMail({
    from: 'Ada <ada@shop.example>',
    to: 'b@c.example',
    subject: 'Hi',
    text: 'Hello\n\n',
    dkim,
  })
  samples.push({ name: 'nodemailer', raw: message as Buffer }, { name: 'unsigned', raw: letter() })
  const forms = ['simple', 'relaxed'] as const
  const seen = 'Authentication-Results: list.example; spf=pass smtp.mailfrom=shop.example; dkim=pass header.d=shop.example\r\n'
  for (const { name, sign, seal } of signers) {
    for (const canonicalize of forms.flatMap((header) => forms.map((body) => [header, body] as [typeof header, typeof body]))) {
      const options = { domain: 'shop.example', canonicalize }
      const raw = await sign(letter(), { ...options, selector: 's1', key: rsa.privateKey })
      samples.push({ name: `${name}, rsa ${canonicalize.join('/')}`, raw })
      const both = await sign(raw, { ...options, selector: 's2', key: ed.privateKey, algorithm: 'ed25519-sha256', length: true })
      samples.push({ name: `${name}, ed25519 and rsa ${canonicalize.join('/')}, l=`, raw: both })
    }
    const sealer = { domain: 'list.example', selector: 's1', key: rsa.privateKey, service: 'list.example' }
    const sealed = await seal(letter(seen), sealer)
    samples.push(
      { name: `${name}, one ARC set`, raw: sealed },
      { name: `${name}, two ARC sets`, raw: await seal(Buffer.concat([Buffer.from(seen), sealed]), sealer) },
    )
  }
})

test('on whole messages we say the same, and most of them pass', async () => {
  for (const { name, raw } of samples) {
    const { ours, theirs } = await checkBoth(raw)
    expectSame(ours, theirs)
    if (/rsa|nodemailer/.test(name)) expect(ours, name).toMatchObject({ dkim: { result: 'pass' }, dmarc: { result: 'pass' } })
    if (/ARC/.test(name)) expect(ours.arc?.result).toBe('pass')
  }
})

const chance = fc.record({ sample: fc.nat(), at: fc.nat(), octet: fc.integer({ min: 1, max: 255 }) })
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T
const isLineEnd = (octet: number | undefined): boolean => octet === 13 || octet === 10

describe('tampered messages', () => {
  test('an octet changed anywhere: we say the same', async () => {
    await fc.assert(
      fc.asyncProperty(chance, async ({ sample, at, octet }) => {
        const raw = Buffer.from(pick(samples, sample).raw)
        const place = at % raw.length
        // Line ends are for the next test: an SMTP server lets no bare ones in.
        fc.pre(!isLineEnd(raw[place]) && !isLineEnd(octet))
        raw[place] = octet
        const { ours, theirs } = await checkBoth(raw)
        // The displayed addresses come from our parser. An altered From must pass with both or with neither.
        if (isInFrom(raw, place))
          theirs.dmarc === 'pass'
            ? expect(['pass', 'permerror']).toContain(ours.dmarc?.result)
            : expect(ours.dmarc?.result).not.toBe('pass')
        else expectSame(ours, theirs)
      }),
      { numRuns: 1_500 },
    )
  })

  test('lines added, taken away, swapped or folded: we say the same', async () => {
    const edits = ['drop', 'double', 'swap', 'fold', 'blanks', 'empty', 'top'] as const
    await fc.assert(
      fc.asyncProperty(chance, fc.constantFrom(...edits), async ({ sample, at }, edit) => {
        const lines = pick(samples, sample).raw.toString('latin1').split('\r\n')
        const place = at % (lines.length - 1)
        const line = lines[place] as string
        if (edit === 'drop') lines.splice(place, 1)
        if (edit === 'double') lines.splice(place, 0, line)
        if (edit === 'swap') lines.splice(place, 2, lines[place + 1] as string, line)
        if (edit === 'fold') lines[place] = line.replace(' ', '\r\n ')
        if (edit === 'blanks') lines[place] = `${line.replace(' ', ' \t ')}  `
        if (edit === 'empty') lines.splice(place, 0, '')
        if (edit === 'top') lines.unshift(line)
        const { ours, theirs } = await checkBoth(Buffer.from(lines.join('\r\n'), 'latin1'))
        expectSame(ours, theirs)
      }),
      { numRuns: 1_000 },
    )
  })

  test('tags of signatures and seals changed: we say the same', async () => {
    const tags = [
      'v=1',
      'v=2',
      'a=rsa-sha256',
      'a=rsa-sha512',
      'c=simple',
      'c=relaxed/simple',
      'd=shop.example',
      'd=',
      'h=',
      'h=to:from',
      'h=to',
      'i=@shop.example',
    ].concat([
      'i=ada@news.shop.example',
      'i=@example',
      'i=1',
      'l=0',
      'l=7',
      'l=x',
      'q=dns/txt',
      'q=dns',
      's=s2',
      't=1',
      'x=1',
      't=9;x=8',
      'x=99999999999',
      'z=b=c',
      '',
      'cv=pass',
      'B=x',
      'bh=x',
    ])
    await fc.assert(
      fc.asyncProperty(chance, fc.constantFrom(...tags), fc.boolean(), async ({ sample, at }, tag, isReplaced) => {
        const text = pick(samples, sample).raw.toString('latin1')
        const name = tag.split('=')[0] as string
        const fields = [...text.matchAll(/^(?:DKIM-Signature|ARC-Seal|ARC-Message-Signature):/gim)]
        fc.pre(fields.length > 0)
        const start = (pick(fields, at).index as number) + pick(fields, at)[0].length
        const end = start + (/\r\n(?![ \t])/.exec(text.slice(start))?.index as number)
        const old = text.slice(start, end)
        const changed = isReplaced ? old.replace(new RegExp(`(^|;)(\\s*)${name}=[^;]*`), `$1$2${tag}`) : `${old};${tag}`
        const { ours, theirs } = await checkBoth(Buffer.from(text.slice(0, start) + changed + text.slice(end), 'latin1'))
        expectSame(ours, theirs)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** True when this octet is in the From field of the header. */
function isInFrom(raw: Buffer, place: number): boolean {
  const text = raw.toString('latin1')
  const from = /^From[ \t]*:.*/im.exec(text.slice(0, text.indexOf('\r\n\r\n')))
  return from === null || (place >= from.index - 2 && place <= from.index + from[0].length)
}

test('key records of every kind: we say the same', async () => {
  const parts = fc.subarray(
    [
      `p=${rsaText}`,
      `p=${edText}`,
      'p=',
      'p=!',
      'k=rsa',
      'k=ed25519',
      'k=x',
      'v=DKIM1',
      'v=DKIM2',
      's=email',
      's=*:x',
      's=tlsrpt',
      'h=sha256',
      'h=sha1',
      't=s',
      't=y:s',
      'n=a note',
      '',
      'x',
    ],
    { minLength: 1, maxLength: 5 },
  )
  const order = fc.tuple(parts, fc.boolean(), fc.constantFrom(';', '; ', ' ;\t'))
  await fc.assert(
    fc.asyncProperty(order, chance, async ([tags, isReversed, separator], { sample }) => {
      const TXT = [(isReversed ? tags.toReversed() : tags).join(separator)]
      const { ours, theirs } = await checkBoth(pick(samples, sample).raw, { records: { ...zone, 's1._domainkey.shop.example': { TXT } } })
      expectSame(ours, theirs)
    }),
    { numRuns: 800 },
  )
})

test('SPF records of every kind, include each other or not: we say the same', async () => {
  const names = [
    'a.example',
    'b.example',
    'c.example',
    'none.example',
    'bad',
    '%{d}',
    '%{l}.a.example',
    '%{i}.%{v}.b.example',
    '%{d2}',
    '%{ir}.b.example',
    '%{x}',
    '%{p}',
    '%{h1r-}',
  ]
  const term = fc
    .tuple(
      fc.constantFrom('', '+', '-', '~', '?'),
      fc.constantFrom(
        'a',
        'mx',
        'ptr',
        'include:',
        'exists:',
        'a:',
        'mx:',
        'ptr:',
        'ip4:192.0.2.7',
        'ip4:192.0.2.0/24',
        'ip4:1.2.3',
        'ip6:2001:db8::/32',
        'ip6:::1/129',
        'all',
        'redirect=',
        'exp=',
        'x=',
        'y',
      ),
      fc.constantFrom(...names),
      fc.constantFrom('', '', '/24', '/33', '/0', '/24//64', '//129', '.'),
    )
    .map(([sign, kind, name, tail]) => {
      if (/=$/.test(kind)) return `${kind}${name}`
      return `${sign}${kind}${/:$/.test(kind) ? name : ''}${/^(a|mx)/.test(kind) ? tail : ''}`
    })
  const record = fc.array(term, { maxLength: 5 }).map((terms) => ['v=spf1', ...terms].join(' '))
  const address = fc.constantFrom('192.0.2.7', '192.0.2.99', '198.51.100.9', '2001:db8::7', '::ffff:192.0.2.7')
  await fc.assert(
    fc.asyncProperty(record, record, record, address, fc.boolean(), async (a, b, c, address, isFailure) => {
      const records: Zone = {
        'a.example': { TXT: [a], A: ['192.0.2.7'], AAAA: ['2001:db8::7'], MX: [{ preference: 1, exchange: 'b.example' }] },
        'b.example': {
          TXT: [b],
          A: ['192.0.2.99'],
          MX: [
            { preference: 2, exchange: 'a.example' },
            { preference: 1, exchange: 'none.example' },
          ],
        },
        'c.example': isFailure ? 'failure' : { TXT: [c] },
        '192.0.2.7': { PTR: ['a.example', 'mail.a.example'] },
        '7.2.0.192.in-addr.arpa': { PTR: ['a.example', 'mail.a.example'] },
        'user.a.example': { A: ['127.0.0.2'] },
      }
      const { ours, theirs } = await checkBoth(letter(), {
        envelopeFrom: 'user@a.example',
        records,
        from: { address, name: 'h-e.example' },
      })
      expect([ours.spf?.result, a, b, c]).toEqual([theirs.spf, a, b, c])
    }),
    { numRuns: 3_000 },
  )
})

test('DMARC records anywhere in the tree: we say the same', async () => {
  const policy = fc.constantFrom('p=none', 'p=quarantine', 'p=reject', 'p=reject', 'p=x')
  const tag = fc.constantFrom(
    'p=none',
    'sp=none',
    'sp=reject',
    'np=reject',
    'np=none',
    'adkim=s',
    'aspf=s',
    't=y',
    'psd=y',
    'psd=n',
    'rua=mailto:a@b.example',
    'rua=x',
    'x',
    '',
  )
  const record = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(policy, fc.array(tag, { maxLength: 3 })).map(([p, tags]) => ['v=DMARC1', p, ...tags].join('; ')) },
    fc.constantFrom('v=spf1 -all', 'V = DMARC1;p=reject', 'v=DMARC2; p=reject'),
  )
  const answer = fc.oneof(
    { weight: 6, arbitrary: fc.array(record, { minLength: 1, maxLength: 1 }).map((TXT): Records => ({ TXT })) },
    { weight: 1, arbitrary: fc.array(record, { minLength: 2, maxLength: 2 }).map((TXT): Records => ({ TXT })) },
    { weight: 1, arbitrary: fc.constant('failure' as const) },
    { weight: 4, arbitrary: fc.constant(undefined) },
  )
  const authors = [
    'a.b.c.example',
    'b.c.example',
    'c.example',
    'x.c.example',
    '1.2.3.4.5.6.7.b.c.example',
    'ghost.b.c.example',
    'other.test',
    'C.Example.',
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(answer, answer, answer, answer),
      fc.constantFrom(...authors),
      fc.constantFrom('c.example', 'b.c.example', 'x.c.example', 'other.test'),
      async (answers, author, sender) => {
        const records: Zone = {
          ...zone,
          'a.b.c.example': { A: ['192.0.2.1'] },
          'ghost.b.c.example': {},
          'x.c.example': { A: ['192.0.2.1'] },
        }
        for (const name of ['c.example', 'b.c.example', 'x.c.example', 'other.test'])
          records[name] = { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'] }
        for (const [index, name] of ['_dmarc.example', '_dmarc.c.example', '_dmarc.b.c.example', '_dmarc.a.b.c.example'].entries()) {
          const found = answers[index]
          if (found) records[name] = found
        }
        const raw = Buffer.from(`From: Ada <ada@${author}>\r\n\r\nHello\r\n`)
        const { ours, theirs } = await checkBoth(raw, {
          envelopeFrom: `bounce@${sender}`,
          records,
          from: { address: '192.0.2.7', name: 'x.example' },
        })
        // A walk that is not needed is not made: where its failure would have been the answer, ours is the one that the records give.
        if (theirs.dmarc === 'temperror' && ours.dmarc?.result !== 'temperror') return
        expect([ours.dmarc?.result, ours.dmarc?.policy, records]).toEqual([theirs.dmarc, theirs.policy, records])
      },
    ),
    { numRuns: 2_000 },
  )
})
