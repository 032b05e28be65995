// DMARC of one author domain, with given results of SPF and DKIM: policy, alignment, and what a failure of DNS leaves open.
import { describe, expect, test } from 'vitest'
import { createZoneResolver } from '../../../tests/harness/zone-resolver.ts'
import { evaluateDmarc, findPolicy, type Identifiers } from './dmarc.ts'

type Zone = Parameters<typeof createZoneResolver>[0]
const nobody: Identifiers = { spfDomain: null, signers: [], undecided: [] }
const zone: Zone = {
  '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject; sp=quarantine; np=none'] },
  'news.shop.example': { A: ['192.0.2.1'] },
  '_dmarc.example': { TXT: ['v=DMARC1; p=none; psd=y'] },
  '_dmarc.strict.example': { TXT: ['v=DMARC1; p=reject; adkim=s'] },
}

async function evaluate(author: string, identifiers: Partial<Identifiers>, records: Zone = zone) {
  const [own, others] = [createZoneResolver(records), createZoneResolver(records)]
  const found = await evaluateDmarc(await findPolicy(author, own), { ...nobody, ...identifiers }, others)
  return { ...found, alignedSigners: [...found.alignedSigners], asked: others.asked, askedForAuthor: [...new Set(own.asked)] }
}

describe('without a record', () => {
  test('only the same name is aligned, and nothing else is asked', async () => {
    const signers = ['Other.Test', 'mail.other.test', 'shop.test']
    expect(await evaluate('other.test', { spfDomain: 'OTHER.test.', signers })).toEqual({
      result: 'none',
      domain: 'other.test',
      policyDomain: null,
      policy: null,
      isSpfAligned: true,
      alignedSigners: ['other.test'],
      record: null,
      reason: null,
      asked: [],
      askedForAuthor: ['TXT _dmarc.other.test', 'TXT _dmarc.test'],
    })
    expect(await evaluate('other.test', { spfDomain: 'mail.other.test' })).toMatchObject({ isSpfAligned: false, alignedSigners: [] })
    expect(await evaluate('other.test', {})).toMatchObject({ isSpfAligned: false })
  })
  test('a record without a policy is none', async () => {
    const records: Zone = { '_dmarc.other.test': { TXT: ['v=DMARC1; p=block'] } }
    expect(await evaluate('other.test', { spfDomain: 'other.test' }, records)).toMatchObject({
      result: 'none',
      policyDomain: null,
      record: null,
    })
  })
  test.each(['[192.0.2.7]', '192.0.2.7', '2001:db8::7'])('the address %s has none', async (author) => {
    const resolver = createZoneResolver({ [`_dmarc.${author}`]: { TXT: ['v=DMARC1; p=none'] } })
    expect(await findPolicy(author, resolver)).toMatchObject({ author, applied: null })
    expect(resolver.asked).toEqual([])
  })
  test('a domain that only starts or ends with a digit has one', async () => {
    for (const author of ['7shop.example', 'shop.7', '1.x']) {
      const records: Zone = { [`_dmarc.${author}`]: { TXT: ['v=DMARC1; p=reject'] } }
      expect(await findPolicy(author, createZoneResolver(records)), author).toMatchObject({ applied: { domain: author } })
    }
  })
})

describe('alignment', () => {
  test.each<[author: string, signer: string, isAligned: boolean]>([
    ['shop.example', 'shop.example', true],
    ['news.shop.example', 'shop.example', true],
    ['shop.example', 'news.shop.example', true],
    ['shop.example', 'NEWS.Shop.Example.', true],
    ['news.shop.example', 'mail.shop.example', true],
    // A public suffix has no organization in common with the names below it.
    ['shop.example', 'example', false],
    ['shop.example', 'other.example', false],
    ['shop.example', 'badshop.example', false],
    ['shop.example', 'shop.example.test', false],
    ['shop.example', '', false],
    ['strict.example', 'strict.example', true],
    ['strict.example', 'mail.strict.example', false],
    ['mail.strict.example', 'strict.example', false],
  ])('of %s with the signer %j is %s', async (author, signer, isAligned) => {
    const { result, alignedSigners } = await evaluate(author, { signers: [signer] })
    expect([result, alignedSigners.length > 0]).toEqual([isAligned ? 'pass' : 'fail', isAligned])
  })
  test('strictness is that of the checked method', async () => {
    expect(await evaluate('strict.example', { spfDomain: 'mail.strict.example' })).toMatchObject({ result: 'pass', isSpfAligned: true })
    const records: Zone = { '_dmarc.strict.test': { TXT: ['v=DMARC1; p=reject; aspf=s'] } }
    const identifiers = { spfDomain: 'mail.strict.test', signers: ['mail.strict.test'] }
    expect(await evaluate('strict.test', identifiers, records)).toMatchObject({ isSpfAligned: false, alignedSigners: ['mail.strict.test'] })
  })
  test('a signer with an organization of its own is not aligned', async () => {
    const records: Zone = { ...zone, '_dmarc.unit.shop.example': { TXT: ['v=DMARC1; p=none; psd=n'] } }
    expect(await evaluate('shop.example', { signers: ['unit.shop.example', 'x.unit.shop.example'] }, records)).toMatchObject({
      result: 'fail',
    })
  })
  test('names outside the organization cost no walk, and those of another top label not even one for the author', async () => {
    const records: Zone = { '_dmarc.shop.example': { TXT: ['v=DMARC1; p=reject'] } }
    expect((await evaluate('shop.example', { spfDomain: 'other.example', signers: ['badshop.example'] })).asked).toEqual([])
    const { asked, askedForAuthor } = await evaluate('shop.example', { spfDomain: 'shop.test', signers: [''] }, records)
    expect([...asked, ...askedForAuthor]).toEqual(['TXT _dmarc.shop.example'])
  })
  test('a signer is walked for once, however often it signed', async () => {
    const { asked } = await evaluate('shop.example', {
      spfDomain: 'mail.shop.example',
      signers: ['mail.shop.example', 'MAIL.shop.example'],
    })
    expect(asked).toEqual(['TXT _dmarc.mail.shop.example', 'TXT _dmarc.shop.example', 'TXT _dmarc.example'])
  })
  test('ten signers are walked for, and then none', async () => {
    const signers = (count: number) => Array.from({ length: count }, (_, index) => `s${index}.shop.example`)
    const ten = await evaluate('shop.example', { signers: signers(10) })
    expect(ten.alignedSigners).toHaveLength(10)
    const more = await evaluate('shop.example', { signers: signers(30) })
    expect(more).toMatchObject({ result: 'pass', reason: null, asked: ten.asked })
    expect(more.alignedSigners).toEqual(ten.alignedSigners)
    const apart: Zone = Object.fromEntries(signers(11).map((name) => [`_dmarc.${name}`, { TXT: ['v=DMARC1; p=none; psd=n'] }]))
    expect(await evaluate('shop.example', { signers: signers(11) }, { ...zone, ...apart })).toMatchObject({
      result: 'temperror',
      reason: 'too many domains to compare with',
    })
  })
})

describe('the policy', () => {
  const policyOf = async (author: string, record: string, more: Zone = {}) => {
    const { policy, policyDomain } = await evaluate(
      author,
      {},
      { 'known.shop.test': { A: ['192.0.2.1'] }, ...more, '_dmarc.shop.test': { TXT: [record] } },
    )
    return [policy, policyDomain]
  }
  test.each([
    ['shop.test', 'p=reject; sp=none; np=quarantine', 'reject'],
    ['known.shop.test', 'p=reject', 'reject'],
    ['known.shop.test', 'p=reject; sp=none', 'none'],
    ['known.shop.test', 'p=reject; sp=none; np=quarantine', 'none'],
    ['unknown.shop.test', 'p=reject; sp=none; np=quarantine', 'quarantine'],
    ['unknown.shop.test', 'p=reject; sp=none', 'none'],
    ['unknown.shop.test', 'p=none; np=reject', 'reject'],
    ['known.shop.test', 'p=none; np=reject', 'none'],
    ['known.shop.test', 'p=reject; sp=quarantine; t=y', 'none'],
    ['shop.test', 'p=reject; t=y', 'quarantine'],
    ['shop.test', 'p=none; t=y', 'none'],
  ])('of %s under %s is %s', async (author, tags, policy) =>
    expect(await policyOf(author, `v=DMARC1; ${tags}`)).toEqual([policy, 'shop.test']),
  )
  test('is the weaker one while DNS cannot say whether the name exists', async () => {
    const unknown: Zone = { 'x.shop.test': 'failure' }
    const verdict = (tags: string) => evaluate('x.shop.test', {}, { ...unknown, '_dmarc.shop.test': { TXT: [`v=DMARC1; ${tags}`] } })
    const open = { result: 'temperror', reason: 'DNS failure: ETIMEOUT' }
    expect(await verdict('p=reject; np=none')).toMatchObject({ ...open, policy: 'none' })
    expect(await verdict('p=none; np=reject')).toMatchObject({ ...open, policy: 'none' })
    expect(await verdict('p=reject; sp=quarantine; np=reject')).toMatchObject({ ...open, policy: 'quarantine' })
    // Both policies are the same, so that the question is not asked.
    expect(await verdict('p=reject; np=reject')).toMatchObject({ result: 'fail', policy: 'reject', reason: null })
    expect(await verdict('p=reject')).toMatchObject({ result: 'fail', policy: 'reject', reason: null })
  })
})

describe('a failure of DNS', () => {
  test('for the record is temperror, with its reason', async () =>
    expect(await evaluate('shop.example', { spfDomain: 'shop.example' }, { '_dmarc.shop.example': 'failure' })).toMatchObject({
      result: 'temperror',
      policy: null,
      isSpfAligned: false,
      reason: 'DNS failure: ETIMEOUT',
    }))
  test('for an identifier that would be aligned leaves the result open', async () => {
    expect(await evaluate('shop.example', { undecided: ['news.Shop.example'] })).toMatchObject({
      result: 'temperror',
      policy: 'reject',
      reason: 'DNS could not say whether news.shop.example has sent it',
    })
    expect(await evaluate('shop.example', { undecided: ['other.example', ''] })).toMatchObject({ result: 'fail', reason: null })
    expect(await evaluate('shop.example', { spfDomain: 'shop.example', undecided: ['shop.example'] })).toMatchObject({
      result: 'pass',
      reason: null,
    })
  })
  test('for a walk leaves the result open, and nothing else aligned', async () => {
    const records: Zone = { ...zone, '_dmarc.mail.shop.example': 'failure' }
    const open = { result: 'temperror', alignedSigners: [], reason: 'DNS failure: ETIMEOUT' }
    expect(await evaluate('shop.example', { signers: ['mail.shop.example'] }, records)).toMatchObject(open)
    expect(await evaluate('shop.example', { signers: ['mail.shop.example', 'news.shop.example'] }, records)).toMatchObject({
      result: 'pass',
      alignedSigners: ['news.shop.example'],
      reason: null,
    })
  })
  test('the walk for the author goes through its own resolver', async () => {
    const own = createZoneResolver(zone)
    const others = createZoneResolver({ '_dmarc.example': 'failure', '_dmarc.shop.example': 'failure' })
    const policy = await findPolicy('shop.example', own)
    const found = await evaluateDmarc(policy, { ...nobody, signers: ['other.example'] }, others)
    expect(found).toMatchObject({ result: 'fail', reason: null })
  })
})

test('an error that is not one of DNS is not a verdict', async () => {
  const broken = {
    ...createZoneResolver(zone),
    txt: () => Promise.reject(new TypeError('a defect')),
    a: () => Promise.reject(new TypeError('a defect')),
  }
  await expect(findPolicy('shop.example', broken)).rejects.toThrow('a defect')
  const policy = await findPolicy('shop.example', createZoneResolver(zone))
  await expect(evaluateDmarc(policy, { ...nobody, signers: ['x.shop.example'] }, broken)).rejects.toThrow('a defect')
  const inherited = await findPolicy('x.shop.example', createZoneResolver(zone))
  await expect(evaluateDmarc({ ...inherited, resolver: broken } as typeof inherited, nobody, broken)).rejects.toThrow('a defect')
})
