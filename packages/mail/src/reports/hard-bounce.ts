// Distinguishes refusals of an address from refusals of one message, one sender or one attempt.
import { deadDomainPhrases, deadPhrases, livingPhrases, vaguePhrases } from './refusal-phrases.ts'
import { wordsOf } from './reply-words.ts'

/**
 * Enhanced codes of an address that permanently takes no mail (RFC 3463 §3.2, RFC 7505, RFC 6710 and the registry), and two of Exchange Online. They decide
 * only when the words do not. 5.1.0 is not among them, because servers use it for senders too.
 */
const deadCodes: ReadonlySet<string | null> = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.1.351', '5.2.1', '5.4.310'])
/** Codes about the sender (RFC 3463 §3.2, RFC 7505). Beside them, an unknown user or domain is that of the sender. */
const senderCodes = /(?<![\d.])5\.(?:1\.[78]|7\.27)(?![\d.]\d|\d)/
/** Codes beside which a vague phrase is about the address. */
const addressCodes = /^5\.(?:0\.\d|1\.(?:0|1|2|3|6|10|351)|2\.[01]|5\.0)$/
/** Codes beside which an unknown domain is that of the recipient. A server that replies has been reached, so it usually means the domain of the sender. */
const domainCodes = /^5\.[14]\./
/** Exchange Online answers this for recipients that its directory does not have. Elsewhere "Access denied" is a policy. */
const directoryRefusal = /recipient address rejected: access denied/

/**
 * True when the address permanently takes no mail, so that further messages to it are refused to protect the reputation of the sender. The words of
 * the reply decide before its codes, since many servers send 5.1.1 for rate limits and policies, and 5.7.1 for unknown recipients. A doubt keeps the address.
 */
export function isHardBounce(enhancedStatus: string | null, text: string): boolean {
  if (isTemporary(enhancedStatus, text)) return false
  const words = wordsOf(text)
  const status = enhancedStatus ?? /\b5\.\d{1,3}\.\d{1,3}\b/.exec(text)?.[0] ?? null
  if (directoryRefusal.test(words) && (status === '5.4.1' || /\b5\.4\.1\b/.test(text))) return true
  if (senderCodes.test(`${status} ${text}`)) return false
  if (livingPhrases.some((phrase) => phrase.test(words))) return false
  if (deadPhrases.some((phrase) => phrase.test(words))) return true
  if (deadDomainPhrases.test(words) && (replyCode(text) === undefined || domainCodes.test(status ?? ''))) return true
  if ((status === null || addressCodes.test(status)) && vaguePhrases.test(words)) return true
  return deadCodes.has(status)
}

/** The code of the reply counts before the enhanced code, which a reporting system often derives from its own retries. */
function isTemporary(enhancedStatus: string | null, text: string): boolean {
  const code = replyCode(text)
  return code === undefined ? enhancedStatus !== null && !enhancedStatus.startsWith('5.') : code !== '5'
}

/** The first digit of the SMTP reply code in a text. */
const replyCode = (text: string): string | undefined => /(?:^|[\s:;(<>"'])([245])\d\d(?=[ -]\S)/.exec(text.slice(0, 1000))?.[1]
