// Encodes text as the body of a MIME part: unchanged where it fits on 7-bit lines, otherwise quoted-printable or base64 (RFC 2045 §6).

/** `body` is ASCII on lines of at most 76 characters that end in CRLF. The last line has a line end only when the text has one. */
export type EncodedText = { encoding: '7bit' | 'quoted-printable' | 'base64'; body: string }

const lineLength = 76
const tab = 9
const lf = 10
const cr = 13
const space = 32
const equals = 61
const hexDigits = Buffer.from('0123456789ABCDEF')

/** Encodes a text with CRLF line ends. Base64 is used for mostly non-Latin text, where it is shorter. */
export function encodeText(text: string): EncodedText {
  if (isPlain(text)) return { encoding: '7bit', body: text }
  const bytes = Buffer.from(text)
  return isLatin(text) ? { encoding: 'quoted-printable', body: quotedPrintable(bytes) } : { encoding: 'base64', body: base64Lines(bytes) }
}

/** Printable ASCII on short lines. A pattern is faster than a loop here. */
function isPlain(text: string): boolean {
  if (/[^\t\r\n\x20-\x7e]/.test(text)) return false
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\r\n', start)
    const end = found === -1 ? text.length : found
    if (end - start > lineLength) return false
    start = end + 2
  }
  return true
}

function isLatin(text: string): boolean {
  let letters = 0
  let others = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code | 32) >= 97 && (code | 32) <= 122) letters++
    else if (code > 126 || (code < space && code !== tab && code !== lf && code !== cr)) others++
  }
  return others < letters
}

/** One pass. Soft line breaks do not split a character, so that the source stays readable. */
function quotedPrintable(bytes: Buffer): string {
  const { length } = bytes
  // In the worst case, every octet takes three, and every 24 octets a soft line break of three.
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

/** Octets of the UTF-8 character that begins with this octet. 1 for a continuation octet, for which the first octet has reserved space. */
const charactersFrom = (byte: number): number => (byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4)

/** Base64 on lines of 76 characters, the last without a line end. */
const base64Lines = (bytes: Buffer): string => (bytes.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n')
