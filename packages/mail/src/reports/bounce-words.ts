// Reads bounces in prose, recognised by their sender, their phrases and the message that they enclose.
import { expired, failureSubject, failureText, gaveUp, stillTrying } from './bounce-phrases.ts'
import { isMailboxFull } from './refusal-phrases.ts'
import { firstSentence, reasonFor, statusIn } from './reply-search.ts'
import { wordsOf } from './reply-words.ts'
import type { Report } from './report-kinds.ts'

/** A more precise code from the text of a failure with a general code: 5.2.2 for a full mailbox, 4.4.7 for an expired message. */
export function refineStatus(status: string | null, text: string): string | null {
  if (status !== null && !/^[245]\.0\.0$/.test(status)) return status
  if (isMailboxFull(wordsOf(text))) return '5.2.2'
  return expired.test(text) ? '4.4.7' : status
}

/** True for mail from a mail system rather than from a person. `author` is the address of From, or its name. */
export const isFromMailSystem = (author: string): boolean =>
  /^"?(?:mailer[-_ .]?daemon|post[-_ ]?master|mail[-_ ]?(?:system|delivery|server|robot|admin\w*|er)|mdaemon|root|double-bounce|bounces?|daemon|majordomo|system[-_ ]?administrator|delivery|microsoftexchange\w*|amavis|antispam|mailgate|mailsweeper|uucp|smtp)(?![a-z])/i.test(
    author,
  )

/** `failedRecipients` is true when the header names the recipients (X-Failed-Recipients), and `hasEnclosed` when the message is enclosed. */
export type Bounce = { subject: string; ownText: string; recipient: string; failedRecipients: boolean; hasEnclosed: boolean }

/** Reads a bounce in prose. Null when it is not a bounce. */
export function readBounceWords({ subject, ownText, recipient, failedRecipients, hasEnclosed }: Bounce): Report | null {
  const isKnown = failedRecipients || hasEnclosed || failureSubject.test(subject) || failureText.test(ownText)
  const reason = reasonFor(ownText, recipient, true)
  if (!isKnown && !reason?.match(/^[45]\d\d /)) return null
  const answer = reason ?? (firstSentence(ownText) || subject)
  const kind = kindOfWords(subject, ownText, failedRecipients || /^5/.test(answer))
  const status = statusIn(answer) ?? statusIn(ownText)
  return { kind, enhancedStatus: /^5\d\d /.test(answer) ? status : refineStatus(status, ownText), answer, host: null }
}

/** `delayed` while the reporting system goes on trying. `isFinal` is true when something else rules this out. */
export function kindOfWords(subject: string, ownText: string, isFinal: boolean): 'failed' | 'delayed' {
  const words = `${subject}\n${ownText}`
  const isDelay = stillTrying.test(words) && !gaveUp.test(ownText) && !isFinal && !statusIn(ownText)?.startsWith('5')
  return isDelay ? 'delayed' : 'failed'
}
