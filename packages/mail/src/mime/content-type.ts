// Reads structured values with parameters (Content-Type, Content-Disposition: RFC 2045 §5.1, RFC 2183, RFC 2231) with the deviations of real senders.
import { decodeText, encodeGuessed, guessText } from './charsets.ts'
import { decodeEncodedWords } from './encoded-words.ts'
import { storableLine } from './storable-text.ts'

/** A value such as `text/plain` in lower case ("" when missing) and its parameters by lower-case name, decoded. */
export type ParameterValue = { value: string; parameters: Map<string, string> }

const PARAMETERS_MAX = 1000
const VALUE_CHARACTERS_MAX = 64 * 1024

// One parameter section `name*index*=text`. The index is -1 without one.
type Segment = { index: number; isEncoded: boolean; text: string }

/** Reads `value; name=text; name*=charset'language'text; name*0="a"; name*1*=b`. Values past 64 KB or 1,000 parameters are cut. Linear, never throws. */
export function readParameters(text: string): ParameterValue {
  const source = withPlainHead(text.length > VALUE_CHARACTERS_MAX ? text.slice(0, VALUE_CHARACTERS_MAX) : text)
  const separator = indexOrEnd(source, ';', 0)
  const head = source.slice(0, separator)
  const value = firstToken(head)
  // The separator is missing in "multipart/mixed boundary=x".
  const early = missingSeparator.exec(head)?.index ?? -1
  const parameters = new Map<string, string>()
  const start = early >= 0 && !value.includes('=') ? early : separator + 1
  for (const [name, segments] of readSegments(source, start)) parameters.set(name, joinSegments(segments))
  return { value: value.toLowerCase(), parameters }
}

// Some senders write the type as an encoded word, which RFC 2047 §5 forbids.
function withPlainHead(source: string): string {
  if (!/^\s{0,20}=\?/.test(source)) return source
  const end = indexOrEnd(source, ';', 0)
  return decodeEncodedWords(source.slice(0, end)) + source.slice(end)
}

// A known parameter after a blank or comma instead of a semicolon.
const missingSeparator =
  /[\s,](?:boundary|charset|name|filename|format|delsp|type|start|protocol|micalg|report-type|method|size)(?:\*\d{0,4}\*?)?\s{0,5}=/i

/** The part of a value before blanks, comments and quotes. */
export function firstToken(text: string): string {
  return /[^\s();,"]+/.exec(text)?.[0] ?? ''
}

function readSegments(source: string, start: number): Map<string, Segment[]> {
  const found = new Map<string, Segment[]>()
  let at = start
  let semicolon = -1
  for (let count = 0; at < source.length && count < PARAMETERS_MAX; count++) {
    const equals = source.indexOf('=', at)
    if (equals < 0) break
    // Searched again only after the last match, because a search per parameter would scan the complete rest each time.
    if (semicolon < at) semicolon = indexOrEnd(source, ';', at)
    if (semicolon < equals) {
      at = semicolon + 1
      continue
    }
    const { text, end } = readParameterText(source, equals + 1)
    addSegment(found, source.slice(at, equals), text)
    at = end
  }
  return found
}

function indexOrEnd(source: string, character: string, from: number): number {
  const index = source.indexOf(character, from)
  return index < 0 ? source.length : index
}

// A quoted string, or everything up to the next `;`: unquoted file names with blanks and parentheses are common.
function readParameterText(source: string, start: number): { text: string; end: number } {
  let at = start
  while (source.charCodeAt(at) <= 0x20) at++
  if (source[at] === '"') {
    const close = findQuoteEnd(source, at)
    if (close >= 0) {
      // A backslash is an escape only before a quote or a backslash: some senders write Windows paths.
      return { text: source.slice(at + 1, close).replace(/\\(["\\])/g, '$1'), end: close + 1 }
    }
    at++
  }
  const end = indexOrEnd(source, ';', at)
  const text = source.slice(at, end)
  const next = missingSeparator.exec(text)?.index ?? -1
  return next >= 0 ? { text: text.slice(0, next).trim(), end: at + next + 1 } : { text: text.trim(), end: end + 1 }
}

function findQuoteEnd(source: string, open: number): number {
  for (let at = open + 1; at < source.length; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '"') return at
  }
  return -1
}

function addSegment(found: Map<string, Segment[]>, written: string, text: string): void {
  const match = /^[\s,]*([^\s*,]{1,100})(?:\*(\d{1,4}))?(\*)?\s*$/.exec(written.slice(-120))
  if (match === null) return
  const name = match[1]!.toLowerCase()
  const segment: Segment = { index: match[2] === undefined ? -1 : Number(match[2]), isEncoded: match[3] !== undefined, text }
  const segments = found.get(name)
  if (segments === undefined) found.set(name, [segment])
  else segments.push(segment)
}

// RFC 2231 §3, §4: `name*` wins over `name*0…`, which wins over plain `name` (the plain one is there for old readers). The first of equals counts.
function joinSegments(segments: Segment[]): string {
  const whole = segments.find((segment) => segment.index < 0 && segment.isEncoded)
  if (whole !== undefined) return decodeSegments([whole])
  const numbered = segments.filter((segment) => segment.index >= 0).sort((left, right) => left.index - right.index)
  if (numbered.length === 0) return segments[0]!.text
  return decodeSegments(numbered)
}

function decodeSegments(segments: Segment[]): string {
  const first = segments[0]!
  let charset: string | null = null
  let texts = segments.map((segment) => segment.text)
  if (first.isEncoded) {
    const charsetEnd = first.text.indexOf("'")
    const languageEnd = charsetEnd < 0 ? -1 : first.text.indexOf("'", charsetEnd + 1)
    if (languageEnd >= 0) {
      charset = first.text.slice(0, charsetEnd)
      texts = [first.text.slice(languageEnd + 1), ...texts.slice(1)]
    }
  }
  const hasEncoded = segments.some((segment) => segment.isEncoded)
  if (!hasEncoded) return texts.join('')
  // One text, so that unencoded characters beyond ASCII give one charset for all segments.
  const { label } = encodeGuessed(texts.join(''), charset ?? '')
  const bytes = Buffer.concat(texts.map((text, index) => decodeSegment(encodeGuessed(text, label).bytes, segments[index]!.isEncoded)))
  return label === '' ? guessText(bytes) : decodeText(bytes, label).text
}

// The percent encoding (RFC 2231 §4), decoded in place.
function decodeSegment(bytes: Buffer, isEncoded: boolean): Buffer {
  if (!isEncoded) return bytes
  let written = 0
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === 0x25 && at + 2 < bytes.length ? Number.parseInt(bytes.toString('latin1', at + 1, at + 3), 16) : Number.NaN
    if (Number.isNaN(escaped) || !isHexDigit(bytes[at + 2]!)) {
      bytes[written++] = bytes[at]!
    } else {
      bytes[written++] = escaped
      at += 2
    }
  }
  return bytes.subarray(0, written)
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

/** A media type `type/subtype` in lower case, or `fallback` for an invalid value (RFC 2045 §5.2). The bare `text` of RFC 1049 is text/plain. */
export function readMediaType(value: string, fallback: string): string {
  if (value === '') return fallback
  if (/^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(value)) return value
  return value === 'text' ? 'text/plain' : fallback
}

const KEPT_PARAMETERS_MAX = 20
const KEPT_CHARACTERS_MAX = 500

/**
 * A media type with its parameters, such as `text/calendar; method=REQUEST`, for a header field of one line. Leaves out file names, parameters of
 * private use, values beyond ASCII, and parameters after 500 characters.
 */
export function formatMediaType(mediaType: string, parameters: ReadonlyMap<string, string>): string {
  let written = mediaType
  let count = 0
  for (const [name, value] of parameters) {
    if (name === 'name' || name === 'boundary' || !/^(?!x-)[a-z0-9_.+-]{1,60}$/.test(name) || !/^[\x20-\x7e]{1,200}$/.test(value)) continue
    const text = /^[\w!#$%&'*+.^`|~-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
    if (++count > KEPT_PARAMETERS_MAX || written.length + text.length + name.length + 3 > KEPT_CHARACTERS_MAX) break
    written += `; ${name}=${text}`
  }
  return written
}

/** The media type of a value with parameters. */
export const mediaTypeOnly = (contentType: string): string => contentType.split(';', 1)[0]!.trim().toLowerCase()

/** A Content-ID without its brackets, or null. */
export function readContentId(value: string | null): string | null {
  if (value === null) return null
  const open = value.indexOf('<')
  const close = value.indexOf('>', open)
  const id = storableLine(open >= 0 && close > open ? value.slice(open + 1, close) : value)
  return id === '' || id.length > 998 ? null : id
}
