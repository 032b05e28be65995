// Reads bounces in prose, recognised by their sender and by their phrases.
import type { Report } from './report-kinds.ts'

/** Limit of the scanned text. */
export const bounceTextMax = 16_384

const failureSubject =
  /\b(?:undeliver(?:ed|able)|un(?:able|successful).{0,20}deliver|delivery (?:has )?fail|delivery (?:status )?notification|delivery problem|delivery error|failed delivery|failure notice|failed mail|mail(?:er)? (?:delivery )?(?:system )?(?:error|fail)|(?:message|mail|e-?mail)\b.{0,30}\b(?:could ?n[o']t|not) be delivered|mail could not|message status - undeliver|non[- ]?delivery|nicht zugestellt|unzustellbar|non remis|returned (?:mail|to sender)|returning (?:mail|message)|rejected mail|warning: .{0,40}(?:delayed|could not)|message delayed|delayed mail|mail delayed)\b/i
const failureText =
  /\b(?:could ?n[o']t be delivered|was not delivered|un(?:able to|successful).{0,40}deliver|delivery (?:to .{0,100} )?(?:has )?failed|permanent(?:ly)? (?:fatal )?(?:error|failure|failed)|fatal errors|undeliverable|did ?n[o']t reach|returned to (?:you|sender)|message that you sent could not)/i
const stillTrying =
  /\b(?:(?:will|continue[sd]? to|still|being|be) (?:keep (?:on )?)?(?:be )?(?:try(?:ing)?|retr(?:y|ied|ying)|attempt(?:s|ed|ing)?)|no action is required|this is (?:only )?a warning|(?:do not|don't) need to (?:resend|do anything)|has not (?:yet )?been delivered|delayed)\b/i
const gaveUp =
  /\b(?:gave? up|giving up|no further attempts|will not (?:try|retry|be retried)|too (?:long|old)|(?:retry )?time(?:out)? (?:has )?exceeded|expired|been (?:on|in) the queue too long)\b/i

const mailboxFull = /\b(?:mailbox|inbox|quota|account|storage)\b.{0,40}\b(?:full|exceeded|over)\b|\bover ?quota\b|\bquota exceeded\b/i

/** A more precise code from the text of a failure with a general code: 5.2.2 for a full mailbox, 4.4.7 for an expired message. */
export function refineStatus(status: string | null, words: string): string | null {
  if (status !== null && !/^[245]\.0\.0$/.test(status)) return status
  if (mailboxFull.test(words)) return '5.2.2'
  return gaveUp.test(words) ? '4.4.7' : status
}

/** The text of a report about one address: the rest of its line, and the indented lines below. */
export function reasonFor(text: string, address: string): string | null {
  const lines = text.slice(0, bounceTextMax).split('\n')
  const start = lines.findIndex((line) => line.toLowerCase().includes(address.toLowerCase()))
  if (start === -1) return null
  const first = (lines[start] as string).replace(/^.*?>:?/, '').trim()
  const isBare = first.toLowerCase() === address.toLowerCase()
  const rest: string[] = isBare ? [] : [first]
  for (const line of lines.slice(start + 1, start + 6)) {
    if (line.trim() === '') break
    rest.push(line.trim())
  }
  return rest.join(' ').trim() || null
}

/** True for mail from a mail system rather than from a person. */
export const isFromMailSystem = (envelopeFrom: string, author: string): boolean =>
  envelopeFrom === '' || /^(?:mailer[-_ ]?daemon|postmaster|mail[-_ ]?system|mdaemon|root|double-bounce)\b/i.test(author)

/**
 * Reads a bounce in prose. Null when the text is not a bounce. `failedRecipients` is true when the header names the recipients
 * (X-Failed-Recipients).
 */
export function readBounceWords(subject: string, text: string, recipient: string, failedRecipients: boolean): Report | null {
  const head = text.slice(0, bounceTextMax)
  if (!failedRecipients && !failureSubject.test(subject) && !failureText.test(head)) return null
  const answer = answerIn(head) ?? reasonFor(head, recipient) ?? firstSentence(head)
  const enhancedStatus = /(?:^|[^\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(head)?.[1] ?? null
  const isDelay = stillTrying.test(`${subject}\n${head}`) && !gaveUp.test(head) && !failedRecipients && !enhancedStatus?.startsWith('5')
  const hasPermanentAnswer = /^5\d\d[ -]/.test(answer)
  const code = hasPermanentAnswer ? enhancedStatus : refineStatus(enhancedStatus, head)
  return { kind: isDelay ? 'delayed' : 'failed', enhancedStatus: code, answer, host: null }
}

/** The line with the SMTP reply of the remote server. */
function answerIn(text: string): string | null {
  const line = text.split('\n').find((one) => /(?:^|[\s:(<>])[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3}\b|\S)/.test(one))
  return line === undefined ? null : line.trim().replace(/^.*?(?=\b[45]\d\d[ -])/, '')
}

const firstSentence = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 300)
