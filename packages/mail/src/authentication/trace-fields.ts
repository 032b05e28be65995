// Trace fields of a raw message: writes the fields of this server and removes forgeries of them.
import type { Verdicts } from './sender-checks.ts'

const lf = 10
const cr = 13
const space = 32
const tab = 9
/** Bytes of a trace field that are read. */
const traceBytesMax = 2_000
/** Bytes of a field that are searched for its name and the blanks after it. */
const nameBytesMax = 300

/** Byte ranges of the header fields, each with its CRLF and folded lines. Ends at the empty line, or at the first line that is not a field. */
function fieldsOf(raw: Buffer): { start: number; end: number }[] {
  const fields: { start: number; end: number }[] = []
  let start = 0
  while (start < raw.length && raw[start] !== cr && raw[start] !== lf) {
    let end = start
    do {
      const lineEnd = raw.indexOf(lf, end)
      end = lineEnd < 0 ? raw.length : lineEnd + 1
    } while (end < raw.length && (raw[end] === space || raw[end] === tab))
    fields.push({ start, end })
    start = end
  }
  return fields
}

/** True for a field with this name, which is in lower case. RFC 5322 §4.5 allows blanks before the colon. */
function isNamed(raw: Buffer, { start, end }: { start: number; end: number }, name: string): boolean {
  // The first letter rules out most fields without decoding them.
  if (((raw[start] as number) | 0x20) !== name.charCodeAt(0)) return false
  const head = raw.toString('latin1', start, Math.min(end, start + nameBytesMax))
  return /^([!-9;-~]{1,100})[ \t]*(?:\r?\n[ \t]+)*:/.exec(head)?.[1]?.toLowerCase() === name
}

function withoutRanges(raw: Buffer, ranges: { start: number; end: number }[]): Buffer {
  if (ranges.length === 0) return raw
  const kept: Buffer[] = []
  let at = 0
  for (const { start, end } of ranges) {
    kept.push(raw.subarray(at, start))
    at = end
  }
  return Buffer.concat([...kept, raw.subarray(at)])
}

/**
 * Removes the Authentication-Results fields with the name of this server (RFC 8601 §5), so that only its own result is trusted. The comparison
 * with `hostname` ignores case, comments, quotes, a version and a trailing dot. Without such fields, gives the same buffer.
 */
export function withoutForeignResults(raw: Buffer, hostname: string): Buffer {
  const ours = hostname.toLowerCase()
  const forged = fieldsOf(raw).filter((field) => {
    if (!isNamed(raw, field, 'authentication-results')) return false
    const { start, end } = field
    const text = raw.toString('utf8', start, end)
    return readServiceId(text.slice(text.indexOf(':') + 1)) === ours
  })
  return withoutRanges(raw, forged)
}

/** The authserv-id at the start of an Authentication-Results value, in lower case. Linear. */
function readServiceId(value: string): string {
  let id = ''
  let depth = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at] as string
    if (depth > 0) {
      if (character === '\\') at++
      else if (character === '(') depth++
      else if (character === ')') depth--
    } else if (character === '(') depth = 1
    else if (character === ';') break
    else if (/\s/.test(character)) {
      if (id !== '') break
    } else if (character === '\\') id += value[++at] ?? ''
    else if (character !== '"') id += character
  }
  return id.toLowerCase().replace(/\.$/, '')
}

/**
 * True for a mail loop: a Delivered-To field names one of these mailboxes, and a Received field is by this server. Delivered-To alone is the trace of
 * another system that had a mailbox with this address, as in mail that is moved here.
 */
export function hasBeenDelivered(raw: Buffer, mailboxes: readonly string[], hostname: string): boolean {
  const by = hostname.toLowerCase()
  let isNamedHere = false
  let isReceivedHere = false
  for (const field of fieldsOf(raw)) {
    isNamedHere ||= isNamed(raw, field, 'delivered-to') && mailboxes.includes(traceValue(raw, field).replace(/[\s<>]/g, ''))
    isReceivedHere ||= isNamed(raw, field, 'received') && receivers(traceValue(raw, field)).includes(by)
    if (isNamedHere && isReceivedHere) return true
  }
  return false
}

/** The start of a field's value in lower case. */
function traceValue(raw: Buffer, { start, end }: { start: number; end: number }): string {
  const text = raw.toString('utf8', start, Math.min(end, start + traceBytesMax))
  return text.slice(text.indexOf(':') + 1).toLowerCase()
}

/** The names after `by` in a Received field (RFC 5321 §4.4), without comments. */
const receivers = (value: string): string[] =>
  [...value.replace(/\([^()]*\)/g, ' ').matchAll(/(?:^|\s)by\s+([^\s;]+)/g)].map(([, name]) => (name as string).replace(/\.$/, ''))

/** An unquoted value of RFC 8601. A value that needs quotes is left out. The complete result is in the `authentication` of the message. */
const property = (name: string, value: string | null | undefined): string =>
  value && /^[\w.@:+-]{1,255}$/.test(value) ? ` ${name}=${value}` : ''

/** The Authentication-Results field of this server, with its CRLF (RFC 8601). */
export function renderResults(hostname: string, { spf, dkim, dmarc, arc, source }: Verdicts): string {
  const results = source === 'hosted' ? ['auth=pass'] : []
  if (spf) {
    results.push(
      `spf=${spf.result}${property(spf.identity === 'helo' ? 'smtp.helo' : 'smtp.mailfrom', spf.domain)}${property('smtp.remote-ip', spf.client_ip)}`,
    )
  }
  if (dkim?.signatures.length === 0) results.push(`dkim=${dkim.result}`)
  for (const one of dkim?.signatures ?? [])
    results.push(
      `dkim=${one.result}${property('header.d', one.domain)}${property('header.s', one.selector)}${property('header.a', one.algorithm)}`,
    )
  if (dmarc) results.push(`dmarc=${dmarc.result}${property('header.from', dmarc.domain)}${property('policy.dmarc', dmarc.policy)}`)
  if (arc && arc.result !== 'none') results.push(`arc=${arc.result}`)
  return `Authentication-Results: ${hostname};${results.map((result) => `\r\n\t${result}`).join(';')}\r\n`
}
