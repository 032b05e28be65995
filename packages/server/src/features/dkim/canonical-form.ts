// The relaxed canonical form of header fields and bodies (RFC 6376 §3.4.2, §3.4.4): what is hashed, whatever mail systems do to white space.

/** One header field: its name in lower case, and its text as it stands, folding included, without the last CRLF. Octets as Latin-1. */
export type RawField = { key: string; text: string }

const space = 32
const tab = 9
const cr = 13
const lf = 10

/** Splits a message with CRLF line ends at the empty line. Octets above 127 survive as Latin-1. */
export function splitMessage(raw: Buffer): { fields: RawField[]; body: Buffer } {
  const end = raw.indexOf('\r\n\r\n')
  const header = raw.toString('latin1', 0, end === -1 ? raw.length : end)
  const fields = header.split(/\r\n(?![ \t])/).flatMap((text): RawField[] => {
    const colon = text.indexOf(':')
    return colon < 1 ? [] : [{ key: text.slice(0, colon).trimEnd().toLowerCase(), text }]
  })
  return { fields, body: end === -1 ? Buffer.alloc(0) : raw.subarray(end + 4) }
}

/** A field in its relaxed form, without a CRLF at its end. */
export function relaxedField({ key, text }: RawField): string {
  const value = text
    .slice(text.indexOf(':') + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
  return `${key}:${value.replace(/^ | $/g, '')}`
}

/** A body in its relaxed form, in one pass; empty for a body of nothing but empty lines. */
export function relaxedBody(body: Buffer): Buffer {
  const { length } = body
  const out = Buffer.allocUnsafe(length + 2)
  let at = 0
  // After the last line that is not empty: empty lines at the end do not count.
  let filled = 0
  let lineStart = 0
  let isSpacePending = false
  for (let i = 0; i < length; i++) {
    const byte = body[i] as number
    if (byte === space || byte === tab) {
      isSpacePending = true
    } else if (byte === cr && body[i + 1] === lf) {
      i++
      isSpacePending = false
      const isEmpty = at === lineStart
      out[at++] = cr
      out[at++] = lf
      lineStart = at
      if (!isEmpty) filled = at
    } else {
      if (isSpacePending) out[at++] = space
      isSpacePending = false
      out[at++] = byte
    }
  }
  if (at > lineStart) {
    out[at++] = cr
    out[at++] = lf
    filled = at
  }
  return out.subarray(0, filled)
}
