// SPF macros (RFC 7208 §7): parsed once with the record, expanded for each message.
import { labelLengthMax, nameLengthMax, toAsciiName } from '../domain-names.ts'
import { dottedIp, type IpAddress, readableIp } from '../ip-address.ts'

type Expansion = { letter: string; isEscaped: boolean; count: number; isReversed: boolean; delimiters: string }

/** A text with macros, as literals and macros in order. */
export type MacroText = (string | Expansion)[]

/** Values of the macros. `validatedName` is the %{p} of the client, 'unknown' without a validated name. */
export type MacroValues = {
  sender: string
  domain: string
  address: IpAddress
  helo: string
  receiver: string
  unixSeconds: number
  validatedName: string
}

const macro = /%(?:\{([slodiphcrtv])(\d*)(r?)([.\-+,/_=]*)\}|([%_-]))/iy
const escapes: Record<string, string> = { '%': '%', _: ' ', '-': '%20' }
/** Macro letters that only explanations may use (RFC 7208 §7.2). */
const explaining = 'crt'

/** Parses a macro string. `isText` allows the macro letters of explanations, `hasSpaces` allows spaces. Null for a syntax error. */
export function readMacroText(text: string, { isText = false, hasSpaces = false } = {}): MacroText | null {
  const parts: MacroText = []
  for (let at = 0; at < text.length; ) {
    const percent = text.indexOf('%', at)
    const literal = text.slice(at, percent < 0 ? text.length : percent)
    if (!(hasSpaces ? /^[ -~]*$/ : /^[!-~]*$/).test(literal)) return null
    if (literal !== '') parts.push(literal)
    if (percent < 0) break
    macro.lastIndex = percent
    const found = macro.exec(text)
    if (!found) return null
    const [all, letter = '', digits = '', reversed = '', delimiters = '', written] = found
    if (written !== undefined) parts.push({ letter: written, isEscaped: false, count: 0, isReversed: false, delimiters: '' })
    else {
      if ((explaining.includes(letter.toLowerCase()) && !isText) || (digits !== '' && Number(digits) === 0)) return null
      const isEscaped = letter !== letter.toLowerCase()
      parts.push({ letter: letter.toLowerCase(), isEscaped, count: Number(digits), isReversed: reversed !== '', delimiters })
    }
    at = percent + all.length
  }
  return parts
}

/** Applied to one label only, because its time grows with the square of the length. */
const topLabel = /^(?:[a-z0-9]*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])$/i

/** Parses a domain-spec: a macro string that ends with a macro, or with a dot and a top label. Null for other text. */
export function readDomainSpec(text: string): MacroText | null {
  const parts = readMacroText(text)
  const last = parts?.at(-1)
  if (last === undefined) return null
  if (typeof last !== 'string') return parts
  const bare = last.replace(/\.$/, '')
  const dot = bare.lastIndexOf('.')
  return dot >= 0 && bare.length - dot <= labelLengthMax + 1 && topLabel.test(bare.slice(dot + 1)) ? parts : null
}

/** True when the text uses one of these macro letters. */
export const usesLetters = (text: MacroText, letters: string): boolean =>
  text.some((part) => typeof part !== 'string' && letters.includes(part.letter))

/** The text with its macros expanded. */
export const expandMacros = (text: MacroText, values: MacroValues): string =>
  text.map((part) => (typeof part === 'string' ? part : expand(part, values))).join('')

function expand({ letter, isEscaped, count, isReversed, delimiters }: Expansion, values: MacroValues): string {
  const written = escapes[letter]
  if (written !== undefined) return written
  const parts = splitAt(lookUp(letter, values), delimiters || '.')
  // A count of 0 stands for all parts.
  const value = (isReversed ? parts.reverse() : parts).slice(-count).join('.')
  return isEscaped
    ? encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    : value
}

function splitAt(text: string, delimiters: string): string[] {
  const parts = ['']
  for (const character of text) {
    if (delimiters.includes(character)) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts
}

function lookUp(letter: string, values: MacroValues): string {
  const at = values.sender.lastIndexOf('@')
  switch (letter) {
    case 's':
      return values.sender
    case 'l':
      return values.sender.slice(0, at)
    case 'o':
      return values.sender.slice(at + 1)
    case 'd':
      return values.domain
    case 'i':
      return dottedIp(values.address)
    case 'p':
      return values.validatedName
    case 'v':
      return values.address.length === 4 ? 'in-addr' : 'ip6'
    case 'h':
      return values.helo
    case 'c':
      return readableIp(values.address)
    case 'r':
      return values.receiver
    default:
      return String(values.unixSeconds)
  }
}

/** An expanded domain-spec as a name, without the trailing dot. Leading labels of a name that is too long are dropped (RFC 7208 §7.3). */
export function toTargetName(expanded: string): string {
  let name = toAsciiName(expanded.replace(/\.$/, ''))
  while (name.length > nameLengthMax && name.includes('.')) name = name.slice(name.indexOf('.') + 1)
  return name
}

/** True for a name that SPF looks up: at least two labels, under a top label (RFC 7208 §4.3, §4.8). */
export function isTargetName(name: string): boolean {
  if (name.length > nameLengthMax) return false
  const labels = name.split('.')
  return labels.length > 1 && labels.every((label) => /^[ -~]{1,63}$/.test(label)) && topLabel.test(labels.at(-1) as string)
}
