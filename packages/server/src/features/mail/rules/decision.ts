// The decisions of the guardrails on one message: the author, the rules, the proof, a reply, the mode. Pure.
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { Guardrail, MailRuleRow } from './model.ts'

/** What a decision needs of a rule. */
export type Rule = Pick<MailRuleRow, 'id' | 'action' | 'entry' | 'reason'>

/** Active rules for one direction of one identity, by their entry; there is at most one each. */
export type Rules = ReadonlyMap<string, Rule>

const domainCharactersMax = 253

type Candidate = { entry: string; isAddress: boolean; blocksOnly: boolean }

/**
 * The entries that speak of an address, the most exact first: itself, itself without its tag (only to block: whoever blocks ann@ means ann+x@ too,
 * whoever allows ann@ has said nothing of what others may file under a plus), its domain, and each domain above it.
 */
export function candidatesFor(address: string): Candidate[] {
  const key = addressKey(address)
  const untagged = untaggedKey(key)
  const at = key.lastIndexOf('@')
  // No domain is longer (RFC 1035 §2.3.4); what pretends to be is judged by its end.
  const domain = at < 0 ? '' : key.slice(at + 1).slice(-domainCharactersMax)
  const candidates: Candidate[] = [{ entry: key, isAddress: true, blocksOnly: false }]
  if (untagged !== null) candidates.push({ entry: untagged, isAddress: true, blocksOnly: true })
  if (domain === '' || domain.startsWith('[')) return candidates
  for (let start = 0; start >= 0; start = domain.indexOf('.', start + 1)) {
    const entry = domain.slice(start === 0 ? 0 : start + 1)
    if (entry !== '') candidates.push({ entry, isAddress: false, blocksOnly: false })
  }
  return candidates
}

type Match = { rule: Rule; isAddress: boolean }

/** The rule that decides on an address: the most exact that applies. An allow rule may be passed over. */
function findMatch(address: string, rules: Rules, canAllow = true): Match | null {
  for (const { entry, isAddress, blocksOnly } of candidatesFor(address)) {
    const rule = rules.get(entry)
    if (rule && (rule.action === 'block' || (canAllow && !blocksOnly))) return { rule, isAddress }
  }
  return null
}

/** What is known of a message that arrives. */
export type Arrival = {
  /** The address in From; null when From does not name exactly one usable author. */
  author: string | null
  /** The author is proven, or nothing speaks against it where the domain has no policy. */
  isAuthenticated: boolean
  /** It came from outside in the name of a domain that has its mailboxes here, without an aligned signature. */
  isForeign: boolean
  /** The DNS servers answered nothing, so that the sender could not be checked. */
  isUnverified: boolean
  /** The agent has written in its thread, and the author takes part in that thread. */
  isReply: boolean
  /** The DMARC verdict; null when there is none. */
  dmarc: { result: string; domain: string | null; policy: string | null } | null
  mode: 'open' | 'allowlist'
}

/**
 * Whether a message is let in. In this order: exactly one author, the rules, proof of the author, a reply by a participant, the mode. Only what nobody can
 * pretend comes before the proof: a block rule.
 */
export function decideInbound(arrival: Arrival, rules: Rules): Guardrail {
  const { author, isAuthenticated, isForeign, isUnverified, isReply, dmarc, mode } = arrival
  if (author === null) return held('author', 'It does not name exactly one author in From.')
  const match = findMatch(author, rules, isAuthenticated)
  if (match) return byRule(match.rule.action === 'block' ? 'quarantined' : 'allowed', match, 'from')
  const domain = dmarc?.domain ?? 'the domain of its author'
  if (dmarc?.result === 'fail' && (dmarc.policy === 'reject' || dmarc.policy === 'quarantine'))
    return held('dmarc', `${domain} asks to ${dmarc.policy} mail in its name that fails DMARC, and this one does.`)
  if (isForeign)
    return held('hosted_domain', `It came from outside in the name of ${domain}, which has its mailboxes here, without a signature of it.`)
  if (dmarc?.result === 'temperror' && dmarc.policy !== 'none' && !isUnverified)
    return held('dmarc', `The DMARC record of ${domain} could not be looked up, for an hour and longer.`)
  if (isReply && isAuthenticated)
    return {
      decision: 'allowed',
      rule_id: null,
      basis: 'reply',
      reason: 'Its author takes part in a conversation in which this agent has written.',
    }
  return mode === 'open'
    ? { decision: 'allowed', rule_id: null, basis: 'mode', reason: 'No rule decides on its author, and the inbound mode is open.' }
    : held('mode', 'No rule allows its author, and the inbound mode is allowlist.')
}

const held = (basis: Guardrail['basis'], reason: string): Guardrail => ({ decision: 'quarantined', rule_id: null, basis, reason })

/** A recipient that may not be written to, and why, as a sentence. */
export type Refusal = { address: string; rule_id: string | null; reason: string }

export type OutboundDecision = { guardrail: Guardrail; refusals: [] } | { guardrail: null; refusals: Refusal[] }

/** Whether an agent may write to all of these recipients. */
export function decideOutbound(recipients: string[], mode: 'open' | 'allowlist', rules: Rules): OutboundDecision {
  const decided = recipients.map((address) => ({ address, match: findMatch(address, rules) }))
  const refusals = decided.flatMap(({ address, match }): Refusal[] => {
    if (match?.rule.action === 'block') {
      const { rule } = match
      return [{ address, rule_id: rule.id, reason: `${address} may not be written to: rule ${rule.id} blocks ${named(match)}` }]
    }
    const reason = `${address} may not be written to: no rule allows it, and the outbound mode is allowlist`
    return match === null && mode === 'allowlist' ? [{ address, rule_id: null, reason }] : []
  })
  if (refusals.length > 0) return { guardrail: null, refusals }
  const matches = decided.flatMap(({ match }) => match ?? [])
  const [first] = matches
  if (!first) {
    const reason = 'No rule speaks of its recipients, and the outbound mode is open.'
    return { guardrail: { decision: 'allowed', rule_id: null, basis: 'mode', reason }, refusals: [] }
  }
  const distinct = [...new Map(matches.map((match) => [match.rule.id, match])).values()]
  if (distinct.length === 1) return { guardrail: byRule('allowed', first, 'to'), refusals: [] }
  const shown = distinct.slice(0, 5).map((match) => named(match))
  const rest = distinct.length - shown.length
  const reason = `Rules allow mail to ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
  return { guardrail: { decision: 'allowed', rule_id: null, basis: basisOf(first), reason }, refusals: [] }
}

const basisOf = (match: Match) => (match.isAddress ? ('address_rule' as const) : ('domain_rule' as const))

const named = ({ rule }: Match): string => `${rule.entry}${rule.reason ? ` (${rule.reason})` : ''}`

const byRule = (decision: Guardrail['decision'], match: Match, way: 'from' | 'to'): Guardrail => ({
  decision,
  rule_id: match.rule.id,
  basis: basisOf(match),
  reason: `A rule ${match.rule.action === 'allow' ? 'allows' : 'blocks'} mail ${way} ${named(match)}.`,
})
