// The order of the decision, case by case. Also compared with a naive implementation over every combination.
import { addressKey } from '@callsign/mail/mail-address'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Arrival, candidatesFor, decideInbound, decideOutbound, type Rule, type Rules } from './decision.ts'

const rule = (entry: string, action: 'allow' | 'block', reason: string | null = null): Rule => ({
  id: `mrl_${entry}`,
  entry,
  action,
  reason,
})
const rules = (...list: Rule[]): Rules => new Map(list.map((one) => [one.entry, one]))
const arrival: Arrival = {
  author: 'ann@mail.example.com',
  isAuthenticated: true,
  isForeign: false,
  isUnverified: false,
  isReply: false,
  dmarc: null,
  mode: 'open',
}
const forged = { isAuthenticated: false }
const failed = (policy: string | null) => ({ result: 'fail', domain: 'example.com', policy })
const undecided = { result: 'temperror', domain: 'example.com', policy: null }

describe('inbound decisions in this order', () => {
  const cases: [string, Partial<Arrival>, Rules, string, string | null, string][] = [
    ['nothing speaks of it: open lets it in', {}, rules(), 'allowed', null, 'mode'],
    ['nothing speaks of it: allowlist does not', { mode: 'allowlist' }, rules(), 'quarantined', null, 'mode'],
    ['the address is blocked', {}, rules(rule('ann@mail.example.com', 'block')), 'quarantined', 'mrl_ann@mail.example.com', 'address_rule'],
    [
      'the address is allowed before its domain is blocked',
      {},
      rules(rule('ann@mail.example.com', 'allow'), rule('mail.example.com', 'block')),
      'allowed',
      'mrl_ann@mail.example.com',
      'address_rule',
    ],
    [
      'the address is blocked before its domain is allowed',
      { mode: 'allowlist' },
      rules(rule('ann@mail.example.com', 'block'), rule('mail.example.com', 'allow')),
      'quarantined',
      'mrl_ann@mail.example.com',
      'address_rule',
    ],
    ['a domain stands for its subdomains', {}, rules(rule('example.com', 'block')), 'quarantined', 'mrl_example.com', 'domain_rule'],
    [
      'the nearer domain comes first',
      {},
      rules(rule('example.com', 'block'), rule('mail.example.com', 'allow')),
      'allowed',
      'mrl_mail.example.com',
      'domain_rule',
    ],
    ['a domain that only ends alike is another', {}, rules(rule('ample.com', 'block')), 'allowed', null, 'mode'],
    ['an answer is let in by an allowlist', { isReply: true, mode: 'allowlist' }, rules(), 'allowed', null, 'reply'],
    [
      'a blocked domain may not even answer',
      { isReply: true },
      rules(rule('example.com', 'block')),
      'quarantined',
      'mrl_example.com',
      'domain_rule',
    ],
    ['failed DMARC comes before an answer', { ...forged, isReply: true, dmarc: failed('reject') }, rules(), 'quarantined', null, 'dmarc'],
    ['an answer by a forged participant is none', { ...forged, isReply: true, mode: 'allowlist' }, rules(), 'quarantined', null, 'mode'],
    ['failed DMARC, reject', { dmarc: failed('reject') }, rules(), 'quarantined', null, 'dmarc'],
    ['failed DMARC, quarantine', { dmarc: failed('quarantine') }, rules(), 'quarantined', null, 'dmarc'],
    ['failed DMARC, none', { dmarc: failed('none') }, rules(), 'allowed', null, 'mode'],
    ['failed DMARC, no policy', { dmarc: failed(null) }, rules(), 'allowed', null, 'mode'],
    ['passed DMARC', { dmarc: { ...failed('reject'), result: 'pass' } }, rules(), 'allowed', null, 'mode'],
    ['DMARC that could not be asked', { ...forged, dmarc: undecided }, rules(), 'quarantined', null, 'dmarc'],
    [
      'DMARC that could not be asked, of a domain that asks for nothing',
      { ...forged, dmarc: { ...undecided, policy: 'none' } },
      rules(),
      'allowed',
      null,
      'mode',
    ],
    ['DNS that answers nothing', { ...forged, isUnverified: true, dmarc: undecided }, rules(), 'allowed', null, 'mode'],
    [
      'DNS that answers nothing lets nobody through an allowlist',
      { ...forged, isUnverified: true, isReply: true, dmarc: undecided, mode: 'allowlist' },
      rules(rule('example.com', 'allow')),
      'quarantined',
      null,
      'mode',
    ],
    [
      'mail from outside in the name of a hosted domain',
      { ...forged, isForeign: true, isReply: true },
      rules(),
      'quarantined',
      null,
      'hosted_domain',
    ],
    ['no author', { author: null }, rules(), 'quarantined', null, 'author'],
    ['no author, whatever is allowed', { author: null, isReply: true }, rules(rule('example.com', 'allow')), 'quarantined', null, 'author'],
    [
      'an allow rule for a forged author is passed over',
      { ...forged, mode: 'allowlist' },
      rules(rule('example.com', 'allow')),
      'quarantined',
      null,
      'mode',
    ],
    [
      'what is passed over hides no block behind it',
      forged,
      rules(rule('ann@mail.example.com', 'allow'), rule('example.com', 'block')),
      'quarantined',
      'mrl_example.com',
      'domain_rule',
    ],
    ['a block rule needs no proof', forged, rules(rule('example.com', 'block')), 'quarantined', 'mrl_example.com', 'domain_rule'],
    [
      'failed DMARC comes before a rule that allows',
      { ...forged, dmarc: failed('reject') },
      rules(rule('example.com', 'allow')),
      'quarantined',
      null,
      'dmarc',
    ],
    ['failed DMARC comes before the mode', { dmarc: failed('reject'), mode: 'allowlist' }, rules(), 'quarantined', null, 'dmarc'],
    [
      'however it is written',
      { author: '"Ann"@MAIL.Example.COM.' },
      rules(rule('ann@mail.example.com', 'block')),
      'quarantined',
      'mrl_ann@mail.example.com',
      'address_rule',
    ],
    [
      'a blocked address is blocked under a tag too',
      { author: 'ann+x@mail.example.com' },
      rules(rule('ann@mail.example.com', 'block')),
      'quarantined',
      'mrl_ann@mail.example.com',
      'address_rule',
    ],
    [
      'an allowed address is not allowed under a tag',
      { author: 'ann+x@mail.example.com', mode: 'allowlist' },
      rules(rule('ann@mail.example.com', 'allow')),
      'quarantined',
      null,
      'mode',
    ],
    [
      'the tagged address itself comes first',
      { author: 'ann+x@mail.example.com' },
      rules(rule('ann+x@mail.example.com', 'allow'), rule('ann@mail.example.com', 'block')),
      'allowed',
      'mrl_ann+x@mail.example.com',
      'address_rule',
    ],
    ['an address literal has no domains above it', { author: 'ann@[192.0.2.1]' }, rules(rule('1]', 'block')), 'allowed', null, 'mode'],
  ]
  test.each(cases)('%s', (_name, more, known, decision, rule_id, basis) => {
    const guardrail = decideInbound({ ...arrival, ...more }, known)
    expect(guardrail).toMatchObject({ decision, rule_id, basis })
    expect(guardrail.reason).toMatch(/^[A-Za-z].{10,}\.$/)
  })

  test('a reason names the entry and why it was made', () => {
    const blocked = decideInbound(arrival, rules(rule('example.com', 'block', 'Sells watches')))
    expect(blocked.reason).toBe('A rule blocks mail from example.com (Sells watches).')
    expect(decideInbound({ ...arrival, dmarc: failed('reject') }, rules()).reason).toContain('example.com asks to reject')
  })

  test('a domain as long as a header takes no longer than a real one', () => {
    const candidates = candidatesFor(`ann@${'a.'.repeat(40_000)}bad.test`)
    expect(candidates.length).toBeLessThan(140)
    expect(decideInbound({ ...arrival, author: `ann@${'a.'.repeat(40_000)}bad.test` }, rules(rule('bad.test', 'block'))).decision).toBe(
      'quarantined',
    )
  })
})

describe('outbound', () => {
  const to = ['ann@example.com', 'bob@other.test']
  test('open mode allows every recipient that no rule blocks, and refusals name the rule', () => {
    expect(decideOutbound(to, 'open', rules())).toEqual({
      guardrail: {
        decision: 'allowed',
        rule_id: null,
        basis: 'mode',
        reason: 'No rule speaks of its recipients, and the outbound mode is open.',
      },
      refusals: [],
    })
    expect(decideOutbound(to, 'open', rules(rule('other.test', 'block', 'Rivals')))).toEqual({
      guardrail: null,
      refusals: [
        {
          address: 'bob@other.test',
          rule_id: 'mrl_other.test',
          reason: 'bob@other.test may not be written to: rule mrl_other.test blocks other.test (Rivals)',
        },
      ],
    })
  })

  test('allowlist mode allows a message only if a rule allows each recipient', () => {
    const { refusals } = decideOutbound(to, 'allowlist', rules(rule('example.com', 'allow')))
    expect(refusals).toMatchObject([{ address: 'bob@other.test', rule_id: null }])
    const allowed = decideOutbound(to, 'allowlist', rules(rule('example.com', 'allow'), rule('bob@other.test', 'allow')))
    expect(allowed.guardrail).toMatchObject({
      decision: 'allowed',
      rule_id: null,
      reason: 'Rules allow mail to example.com, bob@other.test.',
    })
    const one = decideOutbound(['a@example.com', 'b@example.com'], 'allowlist', rules(rule('example.com', 'allow')))
    expect(one.guardrail).toMatchObject({ rule_id: 'mrl_example.com', basis: 'domain_rule', reason: 'A rule allows mail to example.com.' })
  })
})

describe('against a naive implementation', () => {
  // Few words, so that entries collide.
  const domains = ['a.test', 'b.a.test', 'c.b.a.test', 'b.test']
  const domain = fc.constantFrom(...domains)
  const address = fc.tuple(fc.constantFrom('x', 'y', 'x+t', 'X', '"x"'), domain).map(([local, at]) => `${local}@${at}`)
  const entry = fc.oneof(
    domain,
    fc.tuple(fc.constantFrom('x', 'y', 'x+t'), domain).map(([local, at]) => `${local}@${at}`),
  )
  const ruleSet = fc.uniqueArray(fc.record({ entry, action: fc.constantFrom('allow' as const, 'block' as const) }), {
    selector: (one) => one.entry,
    maxLength: 8,
  })
  const mode = fc.constantFrom('open' as const, 'allowlist' as const)
  const context = fc.record({
    isAuthenticated: fc.boolean(),
    isForeign: fc.boolean(),
    isUnverified: fc.boolean(),
    isReply: fc.boolean(),
  })
  const dmarc = fc.option(
    fc.record({
      result: fc.constantFrom('pass', 'fail', 'none', 'temperror', 'permerror'),
      domain: fc.constant('a.test'),
      policy: fc.constantFrom('none', 'quarantine', 'reject', null),
    }),
  )

  /** Returns allow, block or nothing, by reading the rules one by one without an index. */
  function saysOf(written: string, list: { entry: string; action: 'allow' | 'block' }[]): 'allow' | 'block' | null {
    const key = addressKey(written)
    const [local = '', at = ''] = key.split('@')
    const exact = list.find((one) => one.entry === key)
    if (exact) return exact.action
    const plain = list.find((one) => one.entry === `${local.split('+')[0]}@${at}`)
    if (plain?.action === 'block') return 'block'
    const above = list
      .filter((one) => !one.entry.includes('@') && (at === one.entry || at.endsWith(`.${one.entry}`)))
      .sort((a, b) => b.entry.length - a.entry.length)
    return above[0]?.action ?? null
  }

  test('inbound', () => {
    fc.assert(
      fc.property(fc.option(address), ruleSet, context, dmarc, mode, (author, list, known, verdict, how) => {
        const said = author === null ? null : saysOf(author, known.isAuthenticated ? list : list.filter((one) => one.action === 'block'))
        const fails = verdict?.result === 'fail' && ['reject', 'quarantine'].includes(verdict.policy ?? '')
        let expected: 'allowed' | 'quarantined'
        if (author === null || said === 'block') expected = 'quarantined'
        else if (said === 'allow') expected = 'allowed'
        else if (fails || known.isForeign || (verdict?.result === 'temperror' && verdict.policy !== 'none' && !known.isUnverified))
          expected = 'quarantined'
        else if (known.isReply && known.isAuthenticated) expected = 'allowed'
        else expected = how === 'open' ? 'allowed' : 'quarantined'
        const guardrail = decideInbound(
          { author, ...known, dmarc: verdict, mode: how },
          rules(...list.map((one) => rule(one.entry, one.action))),
        )
        expect(guardrail.decision).toBe(expected)
        // The named rule has the action of the decision.
        const named = list.find((one) => guardrail.rule_id === `mrl_${one.entry}`)
        if (guardrail.rule_id) expect(named?.action).toBe(expected === 'allowed' ? 'allow' : 'block')
        expect(guardrail.rule_id === null).toBe(!guardrail.basis.endsWith('_rule'))
      }),
      { numRuns: 2000 },
    )
  })

  test('outbound', () => {
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 5 }), ruleSet, mode, (recipients, list, how) => {
        const refused = recipients.filter((one) => {
          const said = saysOf(one, list)
          return said === 'block' || (said === null && how === 'allowlist')
        })
        const decided = decideOutbound(recipients, how, rules(...list.map((one) => rule(one.entry, one.action))))
        expect(decided.refusals.map((one) => one.address)).toEqual(refused)
        expect(decided.guardrail === null).toBe(refused.length > 0)
      }),
      { numRuns: 2000 },
    )
  })
})
