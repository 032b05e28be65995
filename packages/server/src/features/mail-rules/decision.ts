// What the guardrails decide, in the order of decisions §6: address, domain, an answer to us, failed DMARC, the mode. Pure.
import { addressKey, untaggedKey } from '../../core/mail-address.ts'
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

/** The rule that decides on an address: the most exact that applies. */
function findMatch(address: string, rules: Rules): Match | null {
  for (const { entry, isAddress, blocksOnly } of candidatesFor(address)) {
    const rule = rules.get(entry)
    if (rule && (!blocksOnly || rule.action === 'block')) return { rule, isAddress }
  }
  return null
}

/** What is known of a message that arrives. */
export type Arrival = {
  /** Every address in From (or, without one, whatever stands for the sender). */
  senders: string[]
  /** It joins a thread in which the agent has written. */
  isReply: boolean
  /** The DMARC verdict; null when there is none. */
  dmarc: { result: string; domain: string | null; policy: string | null } | null
  mode: 'open' | 'allowlist'
}

/**
 * Whether a message is let in. A message with several senders is blocked when one of them is, and allowed by rules when all of them are: nobody
 * gets in behind somebody else's name.
 */
export function decideInbound({ senders, isReply, dmarc, mode }: Arrival, rules: Rules): Guardrail {
  const matches = senders.map((sender) => findMatch(sender, rules))
  const blocked = matches.find((match) => match?.rule.action === 'block')
  if (blocked) return byRule('quarantined', blocked, 'from')
  const [first] = matches
  if (first && matches.every((match) => match !== null)) return byRule('allowed', first, 'from')
  if (isReply)
    return { decision: 'allowed', rule_id: null, basis: 'reply', reason: 'It belongs to a conversation in which this agent has written.' }
  if (dmarc?.result === 'fail' && (dmarc.policy === 'reject' || dmarc.policy === 'quarantine')) {
    const domain = dmarc.domain ?? 'The domain of its sender'
    const reason = `${domain} asks to ${dmarc.policy} mail in its name that fails DMARC, and this one does.`
    return { decision: 'quarantined', rule_id: null, basis: 'dmarc', reason }
  }
  return mode === 'open'
    ? { decision: 'allowed', rule_id: null, basis: 'mode', reason: 'No rule speaks of its sender, and the inbound mode is open.' }
    : { decision: 'quarantined', rule_id: null, basis: 'mode', reason: 'No rule allows its sender, and the inbound mode is allowlist.' }
}

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
