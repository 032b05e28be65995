// The evidence of an SPF result: its sentence, its explanation, and the errors of a record.
import { describe, expect, test } from 'vitest'
import { createZoneResolver } from '../../../tests/harness/zone-resolver.ts'
import { checkHost, type SpfQuestion } from './spf.ts'

type Zone = Parameters<typeof createZoneResolver>[0]
const client = { address: '192.0.2.7', name: 'mail.example' }
const question: SpfQuestion = { envelopeFrom: 'ada@shop.example', client, hostname: 'mx.example', nowMs: () => 1_795_000_000_400 }

const check = (record: string | string[], more: Zone = {}, asked: Partial<SpfQuestion> = {}) =>
  checkHost({ ...question, ...asked }, createZoneResolver({ 'shop.example': { TXT: [record].flat() }, ...more }))

describe('the sentence', () => {
  test.each([
    ['+all', 'pass', '192.0.2.7 may send for shop.example'],
    ['-all', 'fail', '192.0.2.7 may not send for shop.example'],
    ['~all', 'softfail', '192.0.2.7 should rather not send for shop.example'],
    ['?all', 'neutral', '192.0.2.7 is neither permitted nor denied by shop.example'],
    ['', 'neutral', '192.0.2.7 is neither permitted nor denied by shop.example'],
  ])('of %j', async (terms, result, reason) =>
    expect(await check(`v=spf1 ${terms}`)).toEqual({ result, domain: 'shop.example', record: `v=spf1 ${terms}`, reason }),
  )
})

describe('an error', () => {
  const deep = Array.from({ length: 11 }, (_, index) => `include:i${index}.example`).join(' ')
  test.each<[what: string, record: string | string[], more: Zone, result: string, reason: string]>([
    ['no record', 'v=spf2 -all', {}, 'none', 'shop.example has no SPF record'],
    ['two records', ['v=spf1 -all', 'v=spf1 +all'], {}, 'permerror', 'shop.example has more than one SPF record'],
    ['a wrong term', 'v=spf1 alle', {}, 'permerror', 'the SPF record of shop.example: syntax error in alle'],
    ['no answer', 'x', { 'shop.example': 'failure' }, 'temperror', 'DNS failure: ETIMEOUT for shop.example'],
    [
      'no answer about a mail host',
      'v=spf1 mx -all',
      { 'shop.example': { TXT: ['v=spf1 mx -all'], MX: [{ preference: 1, exchange: 'mx.shop.example' }] }, 'mx.shop.example': 'failure' },
      'temperror',
      'DNS failure: ETIMEOUT for mx.shop.example',
    ],
    ['an include of no name', 'v=spf1 include:%{l} +all', {}, 'permerror', 'shop.example includes an invalid domain name'],
    ['an include without a record', 'v=spf1 include:none.example +all', {}, 'permerror', 'none.example has no SPF record'],
    ['a redirect to no name', 'v=spf1 redirect=%{l}', {}, 'permerror', 'shop.example redirects to an invalid domain name'],
    ['a redirect without a record', 'v=spf1 redirect=none.example', {}, 'permerror', 'none.example has no SPF record'],
    [
      'too many terms',
      `v=spf1 ${deep} +all`,
      Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`i${index}.example`, { TXT: ['v=spf1 -all'] }])),
      'permerror',
      'the SPF record takes too many DNS questions',
    ],
    [
      'too many void answers',
      'v=spf1 a:a.none.example a:b.none.example a:c.none.example +all',
      {},
      'permerror',
      'too many DNS questions of the SPF record have no answer',
    ],
    [
      'too many mail hosts',
      'v=spf1 mx:many.example +all',
      {
        'many.example': { MX: Array.from({ length: 11 }, (_, index) => ({ preference: index, exchange: `h${index}.example` })) },
        ...Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`h${index}.example`, { A: ['198.51.100.1'] }])),
      },
      'permerror',
      'many.example has too many mail hosts',
    ],
  ])('of %s', async (_what, record, more, result, reason) => expect(await check(record, more)).toMatchObject({ result, reason }))

  test('of a return path without a domain name, and of a client without an address', async () => {
    expect(await check('v=spf1 +all', {}, { envelopeFrom: 'ada' })).toMatchObject({ result: 'none', reason: 'ada is not a domain' })
    expect(await check('v=spf1 +all', {}, { envelopeFrom: 'ada@' })).toMatchObject({
      result: 'none',
      reason: 'the empty name is not a domain',
    })
    const unknown = { ...client, address: 'unknown' }
    expect(await check('v=spf1 +all', {}, { client: unknown })).toMatchObject({
      result: 'temperror',
      reason: 'the address of the client is none',
    })
  })

  test('that is not of the record is not a result', async () => {
    const broken = { ...createZoneResolver({}), txt: () => Promise.reject(new TypeError('a defect')) }
    await expect(checkHost(question, broken)).rejects.toThrow('a defect')
    const brokenLater = { ...createZoneResolver({ 'shop.example': { TXT: ['v=spf1 a -all'] } }), a: broken.txt }
    await expect(checkHost(question, brokenLater)).rejects.toThrow('a defect')
  })
})

describe('address look-ups of mx and ptr', () => {
  /** `count` mail hosts of another address, ten for each domain. */
  const hosts = (count: number): Zone => {
    const names = Array.from({ length: count }, (_, index) => `h${index}.example`)
    const zone: Zone = Object.fromEntries(names.map((name) => [name, { A: ['198.51.100.1'] }]))
    for (const domain of [0, 1, 2, 3])
      zone[`d${domain}.example`] = {
        A: ['198.51.100.1'],
        MX: names.slice(domain * 10, domain * 10 + 10).map((exchange, preference) => ({ preference, exchange })),
      }
    return zone
  }
  const record = 'v=spf1 mx:d0.example mx:d1.example mx:d2.example mx:d3.example ip4:192.0.2.7 -all'
  const reason = 'the SPF record takes too many look-ups of addresses'
  test('thirty are made, and the next is an error', async () => {
    expect(await check(record, hosts(30))).toMatchObject({ result: 'pass' })
    expect(await check(record, hosts(31))).toMatchObject({ result: 'permerror', reason })
  })
  test('those of ptr count', async () => {
    const names = ['one.example', 'two.example']
    const reverse: Zone = { '7.2.0.192.in-addr.arpa': { PTR: names } }
    expect(await check(`v=spf1 ptr:none.example ${record.slice(7)}`, { ...hosts(29), ...reverse })).toMatchObject({
      result: 'permerror',
      reason,
    })
  })
})

describe('mail hosts', () => {
  const zone = (exchanges: string[], addresses: Record<string, string>): Zone => ({
    'shop.example': { TXT: ['v=spf1 mx -all'], MX: exchanges.map((exchange, index) => ({ preference: 10 - index, exchange })) },
    ...Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, { A: [address] }])),
  })
  const checkZone = (records: Zone) => {
    const resolver = createZoneResolver(records)
    return checkHost(question, resolver).then(({ result }) => ({ result, asked: resolver.asked.filter((asked) => asked.startsWith('A ')) }))
  }
  test('are asked for by preference, until one matches', async () => {
    const records = zone(['c.example', 'b.example', 'a.example.'], {
      'a.example': '198.51.100.1',
      'b.example': '192.0.2.7',
      'c.example': '192.0.2.7',
    })
    expect(await checkZone(records)).toEqual({ result: 'pass', asked: ['A a.example', 'A b.example'] })
  })
  test('a null MX and an invalid name are not asked for, nor counted', async () => {
    const many = [...Array.from({ length: 20 }, () => 'host'), '.', 'b.example']
    expect(await checkZone(zone(many, { 'b.example': '192.0.2.7', host: '192.0.2.7' }))).toEqual({ result: 'pass', asked: ['A b.example'] })
  })
  test('of an address that is not one match nothing', async () => {
    expect(await checkZone(zone(['a.example'], { 'a.example': 'unknown' }))).toMatchObject({ result: 'fail' })
  })
})

describe('names of the client', () => {
  const named = (PTR: string[], addresses: Record<string, string> = {}): Zone => ({
    '7.2.0.192.in-addr.arpa': { PTR },
    ...Object.fromEntries(PTR.map((name) => [name.replace(/\.$/, '').toLowerCase(), { A: [addresses[name] ?? '192.0.2.7'] }])),
  })
  const pOf = async (zone: Zone) => {
    const own = { TXT: ['v=spf1 -all exp=exp.shop.example'], A: ['192.0.2.7'] }
    return (await check('', { ...zone, 'shop.example': own, 'exp.shop.example': { TXT: ['%{p}'] } })).reason
  }
  test('%{p} is the domain itself, or a name below it, or the first', async () => {
    expect(await pOf(named(['other.example', 'a.shop.example', 'Shop.example']))).toBe('shop.example')
    expect(await pOf(named(['other.example', 'a.shop.example', 'b.shop.example']))).toBe('a.shop.example')
    expect(await pOf(named(['badshop.example', 'shop.example.test']))).toBe('badshop.example')
    expect(await pOf(named(['a.shop.example', 'other.example'], { 'a.shop.example': '198.51.100.1' }))).toBe('other.example')
  })
  test('is unknown without one', async () => {
    expect(await pOf({})).toBe('unknown')
    expect(await pOf({ '7.2.0.192.in-addr.arpa': 'failure' })).toBe('unknown')
    expect(await pOf(named(['localhost']))).toBe('unknown')
  })
  test('a name with a dot at its end, and one with a failure beside it', async () => {
    expect(await check('v=spf1 ptr -all', named(['host.shop.example.']))).toMatchObject({ result: 'pass' })
    expect(await check('v=spf1 ptr -all', { ...named(['host.shop.example']), 'other.example': 'failure' })).toMatchObject({
      result: 'pass',
    })
  })
  test('a failure of the reverse look-up matches nothing', async () => {
    expect(await check('v=spf1 ptr -all', { '7.2.0.192.in-addr.arpa': 'failure' })).toMatchObject({ result: 'fail' })
    expect(await check('v=spf1 ptr:shop.example a:a.none.example a:b.none.example +all')).toMatchObject({ result: 'permerror' })
  })
  test('a macro of them counts as a look-up', async () => {
    // Two each, so that six are above the limit of ten.
    const apart: Zone = { ...named(['other.example']), 'x.other.example': { A: ['198.51.100.1'] } }
    const six = Array.from({ length: 6 }, () => 'a:x.%{p}').join(' ')
    expect(await check(`v=spf1 ${six} +all`, apart)).toMatchObject({
      result: 'permerror',
      reason: 'the SPF record takes too many DNS questions',
    })
    expect(await check(`v=spf1 ${six.slice('a:x.%{p} '.length)} +all`, apart)).toMatchObject({ result: 'pass' })
  })
})

describe('the explanation', () => {
  const explained = (text: string[] | 'failure', record = 'v=spf1 -all exp=exp.%{d}', asked: Partial<SpfQuestion> = {}) =>
    check(record, { 'exp.shop.example': text === 'failure' ? text : { TXT: text } }, asked)
  const plain = '192.0.2.7 may not send for shop.example'
  test('is that of the domain, with its macros', async () => {
    expect(await explained(['%{i} is not one of %{o}%_at %{t}'])).toMatchObject({
      result: 'fail',
      reason: '192.0.2.7 is not one of shop.example at 1795000000',
    })
  })
  test.each<[what: string, text: string[] | 'failure', record?: string]>([
    ['an empty text', ['']],
    ['two texts', ['one', 'two']],
    ['no text', []],
    ['a failure of DNS', 'failure'],
    ['a wrong macro', ['%{x}']],
    ['a character beyond ASCII', ['schön']],
    ['a name that is none', ['text'], 'v=spf1 -all exp=%{l}'],
    ['too many names of the client', ['text'], 'v=spf1 -all exp=exp.none.example'],
  ])('is left out after %s', async (_what, text, record) => expect((await explained(text, record)).reason).toBe(plain))
  test('does not hold a local part beyond ASCII, neither in its text nor in its name', async () => {
    const envelopeFrom = 'jürgen@shop.example'
    const reasonOf = async (text: string, record?: string) => (await explained([text], record, { envelopeFrom })).reason
    expect(await reasonOf('Not you, %{l}.')).toBe(plain)
    expect(await reasonOf('Not you, %{s}.')).toBe(plain)
    expect(await reasonOf('Not you, %{o}.')).toBe('Not you, shop.example.')
    expect(await reasonOf('Not you.', 'v=spf1 -all exp=%{l}.exp.shop.example')).toBe(plain)
  })
  test('is that of a fail only, and never that of an include', async () => {
    expect(await explained(['text'], 'v=spf1 ~all exp=exp.shop.example')).toMatchObject({
      reason: '192.0.2.7 should rather not send for shop.example',
    })
    expect(await explained(['text'], 'v=spf1 +all exp=exp.shop.example')).toMatchObject({ reason: '192.0.2.7 may send for shop.example' })
    const included: Zone = {
      'inner.example': { TXT: ['v=spf1 -all exp=exp.shop.example'] },
      'exp.shop.example': { TXT: ['text'] },
    }
    const resolver = createZoneResolver({ 'shop.example': { TXT: ['v=spf1 include:inner.example -all'] }, ...included })
    expect((await checkHost(question, resolver)).reason).toBe(plain)
    expect(resolver.asked).toEqual(['TXT shop.example', 'TXT inner.example'])
    expect(await check('v=spf1 redirect=inner.example', included)).toMatchObject({ result: 'fail', reason: 'text' })
  })
})

describe('a local part beyond ASCII (RFC 8616 §4)', () => {
  const envelopeFrom = 'jürgen@shop.example'
  const zone: Zone = {
    'jürgen.users.example': { A: ['192.0.2.7'], TXT: ['v=spf1 +all'] },
    'xn--jrgen-kva.users.example': { A: ['192.0.2.7'], TXT: ['v=spf1 +all'] },
  }
  test('matches no mechanism that names it', async () => {
    for (const term of ['exists:%{l}.users.example', 'a:%{l}.users.example', 'include:%{l}.users.example'])
      expect(await check(`v=spf1 ${term} -all`, zone, { envelopeFrom }), term).toMatchObject({ result: 'fail' })
    expect(await check('v=spf1 redirect=%{l}.users.example', zone, { envelopeFrom })).toMatchObject({ result: 'permerror' })
  })
  test('does not disturb one that does not', async () =>
    expect(
      await check('v=spf1 exists:%{o} -all', { 'shop.example': { TXT: ['v=spf1 exists:%{o} -all'], A: ['127.0.0.2'] } }, { envelopeFrom }),
    ).toMatchObject({ result: 'pass' }))
})
