// Distinguishes refusals of an address from refusals of one message, one sender or one attempt.

/** Enhanced codes of an address that permanently takes no mail (RFC 3463 §3.2, RFC 7505, RFC 6710 and the registry). */
const deadAddress = new Set(['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])

/** Phrases of servers without enhanced codes, or with a general one. */
const deadWords =
  /\b(?:no such (?:user|recipient|mailbox|address|account|person)|(?:user|recipient|mailbox|address|account)\b[^.;]{0,60}\b(?:unknown|not found|not exist|does ?n[o']t exist|no longer (?:available|valid|exists)|disabled|invalid|rejected: undeliverable)|unknown (?:user|recipient|mailbox|address|local[- ]part)|invalid (?:recipient|mailbox|address)|unrouteable address|not a (?:known|valid) (?:user|recipient|mailbox))\b/i
/** General codes. The phrases decide only for these codes, or without a code. */
const vague = new Set(['5.0.0', '5.1.8', '5.4.1', '5.5.0', '5.7.0', '5.7.1'])

/** True when the address permanently takes no mail, so that further messages to it are refused to protect the reputation of the sender. */
export function isHardBounce(enhancedStatus: string | null, text: string): boolean {
  if (enhancedStatus !== null && deadAddress.has(enhancedStatus)) return true
  if (enhancedStatus !== null && (!enhancedStatus.startsWith('5.') || !vague.has(enhancedStatus))) return false
  if (/^4\d\d\b/.test(text)) return false
  return deadWords.test(text)
}
