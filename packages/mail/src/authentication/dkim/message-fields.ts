// The header fields of a message for DKIM: octets as Latin-1. Every line that a reader might show as a field is a field here.
import type { RawField } from './canonical-form.ts'

const lf = 10
const cr = 13
const space = 32
const tab = 9
const colon = 58
const tilde = 126

/** `body` is a part of the message's own bytes, unless its line ends were converted. */
export type OpenedMessage = { fields: RawField[]; body: Buffer }

/**
 * Opens a message. A line that is not a field belongs to the field above it, so that it can break a signature but not hide from one. The SMTP
 * server accepts only CRLF. When a header has a bare LF all the same, every LF is read as CRLF, as mail programs do.
 */
export function openMessage(raw: Buffer): OpenedMessage {
  const { headEnd, bodyStart } = findBody(raw)
  const head = raw.toString('latin1', 0, headEnd)
  const fields: RawField[] = []
  let key = ''
  let start = -1
  let end = 0
  for (let from = 0; from < head.length; ) {
    const at = head.indexOf('\n', from)
    if (at >= 0 && head.charCodeAt(at - 1) !== cr) return openMessage(withLineEnds(raw))
    const to = at < 0 ? head.length : at - 1
    const name = readName(head, from, to)
    if (name !== null) {
      if (start >= 0) fields.push({ key, text: head.slice(start, end) })
      start = from
      key = name.toLowerCase()
    }
    end = to
    from = at < 0 ? head.length : at + 1
  }
  if (start >= 0) fields.push({ key, text: head.slice(start, end) })
  return { fields, body: raw.subarray(bodyStart) }
}

/** The offset after the last line end of the header, and the offset of the body after the empty line. */
function findBody(raw: Buffer): { headEnd: number; bodyStart: number } {
  if (raw[0] === lf) return { headEnd: 0, bodyStart: 1 }
  if (raw[0] === cr && raw[1] === lf) return { headEnd: 0, bodyStart: 2 }
  // An empty line of a bare LF is found later, when the line ends are converted.
  const whole = raw.indexOf('\n\r\n')
  return whole < 0 ? { headEnd: raw.length, bodyStart: raw.length } : { headEnd: whole + 1, bodyStart: whole + 3 }
}

/** The name of the field that starts on this line, or null. Blanks and folding are allowed before the colon (RFC 5322 §4.5). */
function readName(head: string, from: number, to: number): string | null {
  let at = from
  while (at < to && isNameCharacter(head.charCodeAt(at))) at++
  if (at === from) return null
  const name = head.slice(from, at)
  at = skipBlanks(head, at)
  if (at === to) at = skipBlanks(head, to + 2)
  return head.charCodeAt(at) === colon ? name : null
}

const isNameCharacter = (code: number): boolean => code > space && code <= tilde && code !== colon

function skipBlanks(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === space || text.charCodeAt(at) === tab) at++
  return at
}

const withLineEnds = (raw: Buffer): Buffer => Buffer.from(raw.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
