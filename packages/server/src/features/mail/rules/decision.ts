// The decisions of the guardrails on one message: the author, the rules, the proof, a reply, the mode. Pure.
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import type { Guardrail, MailRuleRow } from './model.ts'

/** The columns of a rule that decide. */
export type Rule = Pick<MailRuleRow, 'id' | 'action' | 'entry' | 'reason'>

/** Active rules for one direction of one identity, by entry. An entry has at most one. */
export type Rules = ReadonlyMap<string, Rule>

const domainCharactersMax = 253

type Candidate = { entry: string; isAddress: boolean; blocksOnly: boolean }

/**
 * The entries that match an address, the most exact first: the address, the address without its tag, its domain, and each parent domain. The
 * address without its tag only blocks: blocking ann@ covers ann+x@, but allowing ann@ does not allow any tag.
 */
export function candidatesFor(address: string): Candidate[] {
  const key = addressKey(address)
  const untagged = untaggedKey(key)
  const at = key.lastIndexOf('@')
  // Domains have at most this length (RFC 1035 §2.3.4). A longer text is matched by its end.
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

/** The deciding rule for an address: the most exact that applies. Allow rules may be skipped. */
function findMatch(address: string, rules: Rules, canAllow = true): Match | null {
  for (const { entry, isAddress, blocksOnly } of candidatesFor(address)) {
    const rule = rules.get(entry)
    if (rule && (rule.action === 'block' || (canAllow && !blocksOnly))) return { rule, isAddress }
  }
  return null
}

/** The facts about an arriving message. */
export type Arrival = {
  /** The address in From. Null unless From has exactly one usable author. */
  author: string | null
  /** The author is authenticated, or no check failed and the domain has no policy. */
  isAuthenticated: boolean
  /** It came from outside, in the name of a domain hosted here, without an aligned signature. */
  isForeign: boolean
  /** DNS servers did not answer, so that the sender could not be checked. */
  isUnverified: boolean
  /** The agent has written in its thread, and the author takes part in that thread. */
  isReply: boolean
  /** The DMARC verdict, if any. */
  dmarc: { result: string; domain: string | null; policy: string | null } | null
  mode: 'open' | 'allowlist'
}

/**
 * Allows or quarantines a message. The order is: exactly one author, the rules, authentication of the author, a reply by a participant, the
 * mode. Only block rules come before authentication, because forging an author cannot help against them.
 */
export function decideInbound(arrival: Arrival, rules: Rules): Guardrail {
  const { author, isAuthenticated, isForeign, isUnverified, isReply, dmarc, mode } = arrival
  if (author === null) return quarantined('author', 'It does not name exactly one author in From.')
  const match = findMatch(author, rules, isAuthenticated)
  if (match) return byRule(match.rule.action === 'block' ? 'quarantined' : 'allowed', match, 'from')
  const domain = dmarc?.domain ?? 'the domain of its author'
  if (dmarc?.result === 'fail' && (dmarc.policy === 'reject' || dmarc.policy === 'quarantine'))
    return quarantined('dmarc', `${domain} asks to ${dmarc.policy} mail in its name that fails DMARC, and this one does.`)
  if (isForeign)
    return quarantined(
      'hosted_domain',
      `It came from outside in the name of ${domain}, which has its mailboxes here, without a signature of it.`,
    )
  if (dmarc?.result === 'temperror' && dmarc.policy !== 'none' && !isUnverified)
    return quarantined('dmarc', `The DMARC record of ${domain} could not be looked up, for an hour and longer.`)
  if (isReply && isAuthenticated)
    return {
      decision: 'allowed',
      rule_id: null,
      basis: 'reply',
      reason: 'Its author takes part in a conversation in which this agent has written.',
    }
  return mode === 'open'
    ? { decision: 'allowed', rule_id: null, basis: 'mode', reason: 'No rule decides on its author, and the inbound mode is open.' }
    : quarantined('mode', 'No rule allows its author, and the inbound mode is allowlist.')
}

const quarantined = (basis: Guardrail['basis'], reason: string): Guardrail => ({ decision: 'quarantined', rule_id: null, basis, reason })

/** A refused recipient, and the reason as a sentence. */
export type Refusal = { address: string; rule_id: string | null; reason: string }

export type OutboundDecision = { guardrail: Guardrail; refusals: [] } | { guardrail: null; refusals: Refusal[] }

/** Allows a message to all of these recipients, or refuses it with a reason per refused recipient. */
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
