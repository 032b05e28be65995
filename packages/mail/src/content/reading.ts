// Reads a stored message for filing: parses it, extracts the reply, and finds codes and deception indicators. Runs in a worker thread too.
import type { Code } from '@callsign/contract/codes'
import { htmlToText } from '../html/text.ts'
import { type ParsedMessage, parseMessage } from '../mime/parse.ts'
import { findCodes, isWorthASecondLook } from './codes/codes.ts'
import { findIndicators, type Indicators } from './deception/indicators.ts'
import { extractFirstText, extractReplyText } from './replies/reply-text.ts'
import { isReplySubject } from './replies/subject-prefixes.ts'

export type ReadMail = { parsed: ParsedMessage; extractedText: string; codes: Code[]; indicators: Indicators }

/** Parses whole messages. Never throws. */
export function readMail(stored: Buffer): ReadMail {
  const parsed = parseMessage(stored)
  return {
    parsed,
    extractedText: ownTextOf(parsed),
    codes: codesOf(parsed),
    indicators: findIndicators(parsed),
  }
}

/** Parses the header only, for a message whose body cannot be read. The raw message is kept. */
export function readHeader(stored: Buffer): ReadMail {
  const end = stored.indexOf('\r\n\r\n')
  const parsed = parseMessage(stored.subarray(0, end < 0 ? Math.min(stored.length, headerBytesMax) : Math.min(end + 4, headerBytesMax)))
  const header = { ...parsed, text: null, html: null, attachments: [] }
  return { parsed: header, extractedText: '', codes: [], indicators: findIndicators(header) }
}

const headerBytesMax = 64 * 1024

/** A message that answers nothing has no quotation, so only its signature is left out. */
function ownTextOf({ text, subject, inReplyTo, references }: ParsedMessage): string {
  const isReply = inReplyTo.length > 0 || references.length > 0 || isReplySubject(subject)
  return isReply ? extractReplyText(text ?? '', isForward(subject)) : extractFirstText(text ?? '')
}

// The prefixes of mail programs by language. Scandinavian "VS:" is left out, because it means a reply in Finnish.
const isForward = (subject: string): boolean =>
  /^\s*(?:fwd?|wg|tr|rv|enc|i|doorst|vb|vl|pd|tov|i̇lt|ilt|пер|πρθ|הועבר|转发|轉寄|전달)\s?[:：]/i.test(subject)

/** Codes and confirmation links of a mail. The HTML is searched too when the plain text has none and may be a stub. */
function codesOf({ subject, text, html }: ParsedMessage): Code[] {
  const found = findCodes({ subject, text: text ?? '' })
  if (found.length > 0 || html === null || !isWorthASecondLook(subject, text ?? '')) return found
  return findCodes({ subject, text: htmlToText(html) })
}
