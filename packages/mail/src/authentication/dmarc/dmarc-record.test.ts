// DMARC records, and where they are found in the tree of names (RFC 9989 §4.7, §4.10).
import { describe, expect, test } from 'vitest'
import { createZoneResolver } from '../../../tests/harness/zone-resolver.ts'
import { DnsError, findRecord, inheritedRecord, nameExists, organizationOf, readDmarcRecord, walkTree } from './dmarc-record.ts'

const readPolicies = (text: string) => {
  const record = readDmarcRecord(text)
  return record && (record.policies ? Object.values(record.policies).join(' ').trim() : 'no policy')
}

describe('a record', () => {
  test.each<[text: string, policies: string | null]>([
    ['v=DMARC1; p=reject', 'reject'],
    ['v=DMARC1;p=quarantine;sp=none;np=reject;', 'quarantine none reject'],
    ['  V = DMARC1 ; p = Reject', 'reject'],
    ['v=DMARC1; rua=mailto:dmarc@shop.example; p=none', 'none'],
    // Text that is not a tag is ignored.
    ['v=DMARC1; p=reject; note', 'reject'],
    ['v=DMARC1; p=reject;; sp=none', 'reject none'],
    ['v=DMARC1; p=reject; 1=2', 'reject'],
    // Only the first tag names the version, in capitals.
    ['v=DMARC1', 'no policy'],
    ['v=dmarc1; p=reject', null],
    ['v=DMARC10; p=reject', null],
    ['v=DMARC2; p=reject', null],
    ['p=reject; v=DMARC1', null],
    ['note v=DMARC1; p=reject', null],
    ['', null],
    // A repeated tag is ambiguous.
    ['v=DMARC1; p=reject; p=none', null],
    ['v=DMARC1; p=reject; rua=mailto:a@b.example;rua =mailto:c@d.example', null],
    // A value that is not a policy spoils the record, unless it asks for reports.
    ['v=DMARC1; p=block', 'no policy'],
    ['v=DMARC1; sp=reject', 'no policy'],
    ['v=DMARC1; p=reject; sp=block', 'no policy'],
    ['v=DMARC1; p=reject; np=block', 'no policy'],
    ['v=DMARC1; rua=mailto:a@b.example', 'none'],
    ['v=DMARC1; p=block; sp=reject; rua=mailto:a@b.example', 'none'],
    ['v=DMARC1; p=reject; sp=block; rua=mailto:a@b.example', 'none'],
  ])('%j has %j', (text, policies) => expect(readPolicies(text)).toBe(policies))

  test.each<[rua: string, asks: boolean]>([
    ['mailto:a@b.example', true],
    ['https://b.example/r?d=1&e=%2F', true],
    [' mailto:a@b.example ', true],
    ['mailto:a@b.example!10', true],
    ['mailto:a@b.example!10m', true],
    ['b.example, mailto:a@b.example', true],
    ['mailto:a@b.example , mailto:c@d.example', true],
    ['mailto:a@b.example!m', false],
    ['mailto:a@b.example!10x', false],
    ['mailto:a@b.example!10m!', false],
    ['mailto:a!10@b.example!', false],
    ['a@b.example', false],
    ['1mailto:a@b.example', false],
    ['<mailto:a@b.example>', false],
    ['mailto:a b@c.example', false],
    ['mailto:a%2x@b.example', false],
    ['mailto:a%2@b.example', false],
    ['', false],
  ])('without p= it asks for reports: rua=%s is %s', (rua, asks) =>
    expect(readPolicies(`v=DMARC1; rua=${rua}`)).toBe(asks ? 'none' : 'no policy'),
  )

  test.each<[tags: string, isTest: boolean]>([
    ['t=y', true],
    ['t=Y', true],
    ['t=n', false],
    ['t=', false],
    ['pct=0', true],
    ['pct=00', true],
    ['pct=01', false],
    ['pct=10', false],
    ['pct=100', false],
    ['pct=', false],
    ['', false],
  ])('%j: one step weaker is %s', (tags, isTest) => expect(readDmarcRecord(`v=DMARC1; p=reject; ${tags}`)?.isTest).toBe(isTest))

  test('its alignment, its psd= and its text', () => {
    expect(readDmarcRecord(' v=DMARC1; p=none; adkim=S; psd=Y ')).toMatchObject({
      text: 'v=DMARC1; p=none; adkim=S; psd=Y',
      isStrictDkim: true,
      isStrictSpf: false,
      psd: 'y',
    })
    expect(readDmarcRecord('v=DMARC1; p=none; aspf=s; adkim=r')).toMatchObject({ isStrictDkim: false, isStrictSpf: true, psd: null })
  })
})

type Zone = Parameters<typeof createZoneResolver>[0]
const own = 'v=DMARC1; p=reject'
const zone: Zone = {
  '_dmarc.mail.shop.example': { TXT: [own] },
  '_dmarc.shop.example': { TXT: [own] },
  '_dmarc.example': { TXT: [`${own}; psd=y`] },
  '_dmarc.unit.campus.example': { TXT: [own] },
  '_dmarc.campus.example': { TXT: [`${own}; psd=n`] },
  '_dmarc.suffix.example': { TXT: [`${own}; psd=u`] },
}

describe('the walk up the tree', () => {
  const walk = async (domain: string, records: Zone = zone) => {
    const resolver = createZoneResolver(records)
    const found = await walkTree(domain, resolver)
    return { found: found.map((one) => one.domain), asked: resolver.asked.map((question) => question.replace('TXT _dmarc.', '')) }
  }

  test('asks for the name and for every name above it', async () =>
    expect(await walk('a.b.shop.test')).toEqual({ found: [], asked: ['a.b.shop.test', 'b.shop.test', 'shop.test', 'test'] }))

  test('cuts a long name to seven labels, as in the example of §4.10', async () => {
    const { asked } = await walk('a.b.c.d.e.f.g.h.i.j.mail.shop.test')
    expect(asked).toEqual([
      'a.b.c.d.e.f.g.h.i.j.mail.shop.test',
      'g.h.i.j.mail.shop.test',
      'h.i.j.mail.shop.test',
      'i.j.mail.shop.test',
      'j.mail.shop.test',
      'mail.shop.test',
      'shop.test',
      'test',
    ])
    expect((await walk('b.c.d.e.f.shop.test')).asked).toHaveLength(7)
  })

  test('ends at psd=y and at psd=n, and at no other value', async () => {
    expect(await walk('x.mail.shop.example')).toEqual({
      found: ['mail.shop.example', 'shop.example', 'example'],
      asked: ['x.mail.shop.example', 'mail.shop.example', 'shop.example', 'example'],
    })
    expect((await walk('unit.campus.example')).asked).toEqual(['unit.campus.example', 'campus.example'])
    expect((await walk('suffix.example')).asked).toEqual(['suffix.example', 'example'])
    expect((await walk('a.example.test', { '_dmarc.example.test': { TXT: [`${own}; psd=y`] } })).asked).toHaveLength(2)
  })
})

describe('the organizational domain', () => {
  const organization = async (domain: string) => organizationOf(domain, await walkTree(domain, createZoneResolver(zone)))
  test.each([
    ['x.mail.shop.example', 'shop.example'],
    ['shop.example', 'shop.example'],
    ['a.b.other.example', 'other.example'],
    // A public suffix has no organization above it.
    ['example', 'example'],
    ['x.unit.campus.example', 'campus.example'],
    ['campus.example', 'campus.example'],
    ['mail.shop.test', 'mail.shop.test'],
  ])('of %s is %s', async (domain, expected) => expect(await organization(domain)).toBe(expected))

  test('is the shortest name with a record where no psd= says more', async () => {
    const records: Zone = { '_dmarc.a.b.test': { TXT: [own] }, '_dmarc.b.test': { TXT: [own] } }
    expect(organizationOf('x.a.b.test', await walkTree('x.a.b.test', createZoneResolver(records)))).toBe('b.test')
  })
})

describe('a name without a record inherits', () => {
  const inherited = async (domain: string, records: Zone = zone) =>
    inheritedRecord(domain, await walkTree(domain, createZoneResolver(records)))?.domain ?? null
  test('that of its organization, not one in between', async () => {
    expect(await inherited('x.mail.shop.example')).toBe('shop.example')
    expect(await inherited('x.unit.campus.example')).toBe('campus.example')
  })
  test('that of the public suffix, when its organization has none', async () => expect(await inherited('a.other.example')).toBe('example'))
  test('nothing from a record of another kind', async () => {
    // Its organization is a.test, below the suffix, and the record in between is not an organization's.
    expect(await inherited('x.y.test')).toBeNull()
    expect(await inherited('x.b.a.test', { '_dmarc.b.a.test': { TXT: [own] }, '_dmarc.test': { TXT: [`${own}; psd=y`] } })).toBe('test')
  })
})

describe('a question', () => {
  const failing: Zone = { '_dmarc.gone.example': 'failure', 'gone.example': 'failure' }
  test('finds the one record among other texts', async () => {
    const find = (...TXT: string[]) => findRecord('shop.example', createZoneResolver({ '_dmarc.shop.example': { TXT } }))
    expect(await find('v=spf1 -all', ` ${own}`)).toMatchObject({ text: own })
    expect(await find(own, own)).toBeNull()
    expect(await find('v=spf1 -all')).toBeNull()
  })
  test('throws on a failure of DNS, with its reason', async () => {
    await expect(findRecord('gone.example', createZoneResolver(failing))).rejects.toThrow(new DnsError('DNS failure: ETIMEOUT'))
    await expect(nameExists('gone.example', createZoneResolver(failing))).rejects.toThrow(new DnsError('DNS failure: ETIMEOUT'))
  })
  test('is not asked for a name that DNS cannot hold', async () => {
    const resolver = createZoneResolver({})
    for (const name of [`${'a'.repeat(64)}.example`, 'a..example']) {
      expect(await findRecord(name, resolver)).toBeNull()
      expect(await nameExists(name, resolver)).toBe(false)
    }
    expect(resolver.asked).toEqual([])
  })
  test('finds that a name exists: with an address, with other records, as a part of others, or as an alias', async () => {
    const resolver = createZoneResolver({
      'a.example': { A: ['192.0.2.1'] },
      'text.example': { TXT: ['x'] },
      'deep.below.example': { TXT: ['x'] },
      'alias.example': { CNAME: 'nothing.example' },
    })
    const aliased = { ...resolver, a: async () => ({ kind: 'no-name' as const }) }
    for (const name of ['a.example', 'text.example', 'below.example']) expect(await nameExists(name, resolver)).toBe(true)
    expect(await nameExists('alias.example', aliased)).toBe(true)
    expect(await nameExists('none.example', resolver)).toBe(false)
  })
})
