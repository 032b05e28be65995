// Checks custom headers. Names that Callsign or mail systems write are refused, and so are line breaks.

import { readMessageIds } from '../mime/message-ids.ts'

/** A refused header: a JSON pointer (RFC 6901) to it, and the reason as a sentence. */
export type HeaderProblem = { path: string; message: string }

const headersMax = 50
const nameCharactersMax = 76
const lineBytesMax = 998
const totalBytesMax = 16 * 1024

/** Names that the API has fields for. */
const ownFields = new Map([
  ['from', 'the mailbox that sends'],
  ['sender', 'the mailbox that sends'],
  ['reply-to', 'the field reply_to'],
  ['to', 'the field to'],
  ['cc', 'the field cc'],
  ['bcc', 'the field bcc'],
  ['subject', 'the field subject'],
  ['date', 'the server'],
  ['message-id', 'the server'],
  ['in-reply-to', 'the reply operation'],
  ['references', 'the reply operation'],
  ['mime-version', 'the server'],
])

/** Trace fields and authentication results, which would falsely claim that this server received or signed a message. */
const traceFields = new Set(['received', 'return-path', 'dkim-signature', 'authentication-results', 'delivered-to', 'auto-submitted'])
const reservedPrefixes = ['content-', 'arc-', 'resent-', 'received-', 'dkim-', 'dkim2-', 'domainkey-']

// Printable ASCII except the colon (RFC 5322 §3.6.8, ftext).
const fieldName = /^[!-9;-~]+$/

/**
 * Lists the problems of a map of custom headers. Values may hold any Unicode text on one line. Text beyond ASCII is encoded when the message is
 * composed (RFC 2047).
 */
export function checkCustomHeaders(headers: Record<string, string>): HeaderProblem[] {
  const entries = Object.entries(headers)
  if (entries.length > headersMax) return [{ path: '/headers', message: `At most ${headersMax} headers may be given.` }]
  const problems: HeaderProblem[] = []
  const seen = new Set<string>()
  let totalBytes = 0
  for (const [name, value] of entries) {
    const bytes = Buffer.byteLength(value)
    totalBytes += name.length + bytes + 4
    const message = nameProblem(name, seen) ?? valueProblem(value, name.length + 2 + bytes)
    if (message) problems.push({ path: `/headers/${pointer(name.slice(0, nameCharactersMax))}`, message })
    seen.add(name.toLowerCase())
  }
  if (totalBytes > totalBytesMax)
    problems.push({ path: '/headers', message: `All headers together may have at most ${totalBytesMax} octets.` })
  return problems
}

/** A name as a step of a JSON pointer (RFC 6901). */
const pointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function nameProblem(name: string, seen: Set<string>): string | null {
  if (name.length > nameCharactersMax) return `A header name has at most ${nameCharactersMax} characters.`
  if (!fieldName.test(name)) return 'A header name is made of printable ASCII characters without spaces and colons.'
  const lower = name.toLowerCase()
  if (seen.has(lower)) return 'This header is given twice.'
  const owner = ownFields.get(lower)
  if (owner) return `This header is set by ${owner}.`
  if (traceFields.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix)))
    return 'This header is reserved for mail systems.'
  return null
}

function valueProblem(value: string, lineBytes: number): string | null {
  if (!value.trim()) return 'A header value must not be empty.'
  if (/[\r\n\0\p{Zl}\p{Zp}]/u.test(value)) return 'A header value must not hold line breaks or NUL.'
  if (/(?!\t)\p{Cc}/u.test(value)) return 'A header value must not hold control characters.'
  if (!value.isWellFormed()) return 'A header value must be well-formed Unicode.'
  if (lineBytes > lineBytesMax) return `A header has at most ${lineBytesMax} octets, its name included.`
  return null
}

/**
 * Headers without In-Reply-To and References, and the Message-IDs of these, oldest first and the answered one last. A field without an id
 * or with a line break stays, so that it is refused. For callers that write these fields themselves, as programs of other mail services do.
 */
export function takeThreadHeaders(headers: Record<string, string>): { headers: Record<string, string>; references: string[] } {
  const kept: Record<string, string> = {}
  const found = { references: [] as string[], 'in-reply-to': [] as string[] }
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase()
    const isThread = (key === 'references' || key === 'in-reply-to') && typeof value === 'string' && !hasLineBreak.test(value)
    const ids = isThread ? readMessageIds([value]) : []
    if (ids.length === 0) kept[name] = value
    else found[key as keyof typeof found] = ids
  }
  return { headers: kept, references: joinReferences(found.references, found['in-reply-to']) }
}

/** A line break that does not fold the field (RFC 5322 §2.2.3). */
const hasLineBreak = /[\r\n](?![\n \t])/

const referencesMax = 100

/** The References of a message with its In-Reply-To as the last id: at most 100, with the first, which names the thread. */
export function joinReferences(references: readonly string[], inReplyTo: readonly string[]): string[] {
  const [answered] = inReplyTo
  const all = answered === undefined ? [...references] : [...references.filter((id) => id !== answered), answered]
  return all.length > referencesMax ? [all[0] as string, ...all.slice(1 - referencesMax)] : all
}

/** The field that marks automatic mail (RFC 3834 §5). */
export const autoSubmittedField = 'Auto-Submitted'
