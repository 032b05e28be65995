// Text as the body of a MIME part: as it is where it fits on 7-bit lines, otherwise in quoted-printable or base64 (RFC 2045 §6).

/** `body` is ASCII, on lines of at most 76 characters that end in CRLF; the last one has no end unless the text had. */
export type EncodedText = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const lineLength = 76
const tab = 9
const lf = 10
const cr = 13
const space = 32
const equals = 61
const hexDigits = Buffer.from('0123456789ABCDEF')

/** Encodes a text whose line ends are CRLF. What is mostly no Latin letters goes in base64, which is shorter for it. */
export function encodeText(text: string): EncodedText {
  const { isPlain, isLatin } = look(text)
  if (isPlain) return { encoding: '7bit', body: text }
  const bytes = Buffer.from(text)
  return isLatin ? { encoding: 'quoted-printable', body: quotedPrintable(bytes) } : { encoding: 'base64', body: base64Lines(bytes) }
}

/** Plain: printable ASCII on short lines. */
function look(text: string): { isPlain: boolean; isLatin: boolean } {
  const { length } = text
  let isPlain = true
  let letters = 0
  let others = 0
  let column = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === lf) {
      column = 0
      continue
    }
    if (code === cr) continue
    if (++column > lineLength) isPlain = false
    if (code > 126 || (code < space && code !== tab)) {
      isPlain = false
      others++
    } else if ((code | 32) >= 97 && (code | 32) <= 122) {
      letters++
    }
  }
  return { isPlain, isLatin: others < letters }
}

/** One pass; a character of several octets is not cut by a soft line break, for those who look at the source. */
function quotedPrintable(bytes: Buffer): string {
  const { length } = bytes
  // At worst every octet takes three, and every 24 of them a soft line break of three.
  const out = Buffer.allocUnsafe(length * 3 + (Math.ceil(length / 24) + 1) * 3)
  let at = 0
  let column = 0
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number
    if (byte === cr && bytes[i + 1] === lf) {
      out[at++] = cr
      out[at++] = lf
      i++
      column = 0
      continue
    }
    const next = bytes[i + 1]
    const isAtEnd = next === undefined || (next === cr && bytes[i + 2] === lf)
    const isLiteral = (byte > space && byte < 127 && byte !== equals) || ((byte === space || byte === tab) && !isAtEnd)
    const width = isLiteral ? 1 : 3 * charactersFrom(byte)
    if (column + width > lineLength - (isAtEnd ? 0 : 1)) {
      out[at++] = equals
      out[at++] = cr
      out[at++] = lf
      column = 0
    }
    if (isLiteral) {
      out[at++] = byte
      column++
    } else {
      out[at++] = equals
      out[at++] = hexDigits[byte >> 4] as number
      out[at++] = hexDigits[byte & 15] as number
      column += 3
    }
  }
  return out.toString('latin1', 0, at)
}

/** Octets of the UTF-8 character that begins with this one; 1 for those that continue one, whose beginning has seen to it that they fit. */
const charactersFrom = (byte: number): number => (byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4)

/** Base64 on lines of 76 characters, the last without an end. */
const base64Lines = (bytes: Buffer): string => (bytes.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n')
