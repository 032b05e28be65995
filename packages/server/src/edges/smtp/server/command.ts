// Parses command lines into verb and argument, and the arguments of EHLO, MAIL and RCPT.
import { isBeyondAscii, parsePath } from './address.ts'
import { replies, type SmtpReply } from './reply.ts'

type Command = { verb: string; argument: string }
type MailArgument = { from: string; declaredSize: number | null; bodyType: '7bit' | '8bitmime'; smtputf8: boolean }

const clientNameLengthMax = 255
const httpVerb = /^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|TRACE|CONNECT|PRI)(?: |$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** True when the bytes start like an HTTP request. A browser was pointed at this port, perhaps to smuggle SMTP through it. */
export const isHttp = (line: Buffer): boolean => httpVerb.test(line.toString('latin1', 0, 8))

/**
 * The verb in upper case and the rest of the line, or null when the line has control characters or is not UTF-8. The names of machines in a greeting
 * may have bytes of an older charset.
 */
export function splitCommand(line: Buffer): Command | null {
  let text = line.toString('latin1')
  if (!/^[ -~]*$/.test(text)) {
    try {
      text = utf8.decode(line)
    } catch {
      if (!/^(?:EHLO|HELO) /i.test(text)) return null
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
    if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return null
  }
  const space = text.indexOf(' ')
  if (space === -1) return { verb: text.toUpperCase(), argument: '' }
  return { verb: text.slice(0, space).toUpperCase(), argument: text.slice(space + 1).trim() }
}

/** The client's name as given, or null. Any text is accepted, because the names of many machines are no host names. `splitCommand` refuses control characters. */
export const parseClientName = (argument: string): string | null =>
  argument !== '' && argument.length <= clientNameLengthMax && !/\p{C}/u.test(argument) ? argument : null

/**
 * The argument of MAIL (RFC 5321 §4.1.1.2, SIZE RFC 1870, BODY RFC 6152, SMTPUTF8 RFC 6531), or the reply that refuses it. AUTH (RFC 4954 §5) has no
 * effect, because a submission is its account's.
 */
export function parseMail(argument: string, esmtp: boolean, offersAuth: boolean): MailArgument | SmtpReply {
  const after = afterKeyword(argument, 'FROM:')
  const path = after === null ? null : parsePath(after, 'sender')
  if (!path) return replies.senderSyntax
  const parameters = parseParameters(path.rest)
  if (!parameters) return replies.parameterSyntax
  const mail: MailArgument = { from: path.address, declaredSize: null, bodyType: '7bit', smtputf8: false }
  for (const [key, value] of parameters) {
    if (!esmtp) return replies.parameterUnknown
    if (key === 'SIZE') {
      if (value === null || !/^\d{1,20}$/.test(value)) return replies.parameterSyntax
      mail.declaredSize = Number(value)
    } else if (key === 'BODY') {
      const bodyType = value?.toLowerCase()
      if (bodyType !== '7bit' && bodyType !== '8bitmime') return replies.parameterSyntax
      mail.bodyType = bodyType
    } else if (key === 'SMTPUTF8') {
      if (value !== null) return replies.parameterSyntax
      mail.smtputf8 = true
    } else if (key !== 'AUTH' || !offersAuth || value === null) return replies.parameterUnknown
  }
  return isBeyondAscii(mail.from) && !mail.smtputf8 ? replies.needsSmtputf8 : mail
}

/** The argument of RCPT (RFC 5321 §4.1.1.3), or the reply that refuses it. None of the offered extensions gives it parameters. */
export function parseRecipient(argument: string, smtputf8: boolean): { to: string } | SmtpReply {
  const after = afterKeyword(argument, 'TO:')
  const path = after === null ? null : parsePath(after, 'recipient')
  if (!path) return replies.recipientSyntax
  const parameters = parseParameters(path.rest)
  if (!parameters) return replies.parameterSyntax
  if (parameters.size > 0) return replies.parameterUnknown
  return isBeyondAscii(path.address) && !smtputf8 ? replies.needsSmtputf8 : { to: path.address }
}

/** The text after the keyword. Spaces before the path violate the RFC, but are common. */
function afterKeyword(argument: string, keyword: string): string | null {
  return argument.slice(0, keyword.length).toUpperCase() === keyword ? argument.slice(keyword.length).trimStart() : null
}

/** ` KEY=value KEY` as a map with upper-case keys, or null when the syntax is wrong or a key is repeated. */
function parseParameters(text: string): Map<string, string | null> | null {
  const parameters = new Map<string, string | null>()
  if (text === '') return parameters
  if (!text.startsWith(' ')) return null
  for (const word of text.split(' ')) {
    if (word === '') continue
    const parts = /^([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~\u{a0}-\u{10ffff}]+))?$/u.exec(word)
    const key = parts?.[1]?.toUpperCase()
    if (key === undefined || parameters.has(key)) return null
    parameters.set(key, parts?.[2] ?? null)
  }
  return parameters
}
