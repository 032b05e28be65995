// Reads address lists (RFC 5322 §3.4, the obsolete forms of §4.4, RFC 6532) the way real senders write them, in one pass.
import { decodeEncodedWords, readEncodedWord } from './encoded-words.ts'
import { cutText, storableLine } from './storable-text.ts'

/** A mailbox. `name` is "" without a display name. `address` has its domain in lower case and is "" when the sender gave only a name. */
export type ParsedAddress = { name: string; address: string }

const NAME_CHARACTERS_MAX = 1000
const ADDRESS_CHARACTERS_MAX = 998
const DOMAIN_LITERAL_CHARACTERS_MAX = 100

/** At most this many mailboxes are read from one list, and kept of one message. */
export const ADDRESSES_MAX = 2000

/** At most this many pieces between two commas are kept. Garbage collection of more would take longer than reading them. */
const PIECES_MAX = 5 * ADDRESSES_MAX

/** Parses at most `addressesMax` mailboxes of an address list, in order, with groups flattened. Never throws. Malformed parts are left out. */
export function parseAddresses(value: string, addressesMax: number = ADDRESSES_MAX): ParsedAddress[] {
  return new AddressReader(value, addressesMax).read()
}

/** The same, and whether a group with an address in it stands in the list (RFC 6854: `name: mailboxes;`). */
export function parseAddressList(value: string, addressesMax: number = ADDRESSES_MAX): { mailboxes: ParsedAddress[]; hasGroup: boolean } {
  const reader = new AddressReader(value, addressesMax)
  const mailboxes = reader.read()
  return { mailboxes, hasGroup: reader.hasGroup }
}

/** The domain of an address, after its last `@`, in lower case. "" without one. */
export function addressDomain(address: string): string {
  const at = address.lastIndexOf('@')
  return at < 0 ? '' : address.slice(at + 1)
}

// One run of characters in a phrase; `isGlued` when nothing but comments stands between it and the one before.
type Piece = { text: string; isQuoted: boolean; isGlued: boolean }

class AddressReader {
  readonly #value: string
  readonly #max: number
  readonly #found: ParsedAddress[] = []
  #pieces: Piece[] = []
  #angle: string | null = null
  #comment = ''
  #hasGap = true
  hasGroup = false
  /** Number of addresses before the current group. Null outside of a group. */
  #groupStart: number | null = null
  // Once a quote or comment is found without an end, later openers count as plain text: looking for each one's end again would be quadratic.
  #areQuotesOpen = false
  #areCommentsOpen = false

  constructor(value: string, max: number) {
    this.#value = value
    this.#max = max
  }

  read(): ParsedAddress[] {
    const value = this.#value
    let at = 0
    while (at < value.length && this.#found.length < this.#max) {
      const character = value[at]!
      if (character === '"' && !this.#areQuotesOpen) at = this.#readQuoted(at)
      else if (character === '(' && !this.#areCommentsOpen) at = this.#readComment(at)
      else if (character === '<') at = this.#readAngle(at)
      else if (character === ',' || character === ';') {
        this.#finish()
        if (character === ';') this.#endGroup()
        at++
      } else if (character === ':') {
        // The pieces before the colon were a group's name.
        this.#reset()
        this.#groupStart = this.#found.length
        at++
      } else if (value.charCodeAt(at) <= 0x20 || character === '>') {
        this.#hasGap = true
        at++
      } else at = this.#readAtom(at)
    }
    this.#finish()
    return this.#found
  }

  #endGroup(): void {
    if (this.#groupStart !== null && this.#found.slice(this.#groupStart).some((one) => one.address !== '')) this.hasGroup = true
    this.#groupStart = null
  }

  #add(text: string, isQuoted: boolean): void {
    if (this.#pieces.length < PIECES_MAX) this.#pieces.push({ text, isQuoted, isGlued: !this.#hasGap })
    this.#hasGap = false
  }

  #readQuoted(open: number): number {
    const close = findClose(this.#value, open, '"', null)
    if (close < 0) {
      this.#areQuotesOpen = true
      return open
    }
    this.#add(this.#value.slice(open, close + 1), true)
    return close + 1
  }

  #readComment(open: number): number {
    const close = findClose(this.#value, open, ')', '(')
    if (close < 0) {
      this.#areCommentsOpen = true
      return open
    }
    if (this.#comment === '') this.#comment = removeBackslashes(this.#value.slice(open + 1, close))
    return close + 1
  }

  // Everything up to `>`, without white space and comments outside quotes. A comma ends an unclosed one, unless a route `<@a,@b:c@d>` explains it.
  #readAngle(open: number): number {
    const value = this.#value
    let content = ''
    let from = open + 1
    let at = from
    let isRoute: boolean | null = null
    while (at < value.length) {
      const character = value[at]!
      if (character === '>' || character === '<' || ((character === ',' || character === ';') && isRoute !== true)) break
      if (isRoute === null && value.charCodeAt(at) > 0x20) isRoute = character === '@'
      let next = at + 1
      if (character === '"' && !this.#areQuotesOpen) {
        const close = findClose(value, at, '"', null)
        if (close < 0) this.#areQuotesOpen = true
        else next = close + 1
      } else if (character === '(' && !this.#areCommentsOpen) {
        const close = findClose(value, at, ')', '(')
        if (close < 0) this.#areCommentsOpen = true
        else {
          content += value.slice(from, at)
          from = close + 1
          next = from
        }
      } else if (value.charCodeAt(at) <= 0x20) {
        content += value.slice(from, at)
        from = next
      }
      at = next
    }
    this.#angle ||= content + value.slice(from, at)
    this.#hasGap = true
    return at
  }

  #readAtom(from: number): number {
    const value = this.#value
    // An encoded word is one atom even when its sender left commas or parentheses in it.
    const word = this.#hasGap ? readEncodedWord(value, from) : null
    let at = word === null ? from + 1 : word.end
    // A domain literal may hold colons.
    if (value[from] === '[' && !this.#hasGap) {
      const close = value.slice(from, from + DOMAIN_LITERAL_CHARACTERS_MAX).indexOf(']')
      if (close > 0) at = from + close + 1
    } else if (word === null) {
      while (at < value.length && !this.#endsAtom(value.charCodeAt(at)) && !(value[at] === '[' && value[at - 1] === '@')) at++
    }
    this.#add(value.slice(from, at), false)
    return at
  }

  /** Openers that count as plain text do not end an atom, because each would be one of its own. */
  #endsAtom(code: number): boolean {
    if (code === 0x22) return !this.#areQuotesOpen
    if (code === 0x28) return !this.#areCommentsOpen
    return isSpecial(code)
  }

  #reset(): void {
    this.#pieces = []
    this.#angle = null
    this.#comment = ''
    this.#hasGap = true
  }

  #finish(): void {
    if (this.#angle !== null) {
      this.#push(joinName(joinPieces(this.#pieces)) || this.#comment, cleanAddress(this.#angle))
    } else if (this.#pieces.length > 0) {
      const words = joinPieces(this.#pieces)
      const addresses = words.filter((word) => word.isAddress)
      const name = joinName(words.filter((word) => !word.isAddress)) || this.#comment
      if (addresses.length === 0) this.#push(name, '')
      for (const word of addresses) this.#push(addresses.length === 1 ? name : '', cleanAddress(word.text))
    }
    this.#reset()
  }

  #push(name: string, address: string): void {
    const entry = { name: cutText(storableLine(decodeEncodedWords(name)).replace(/\s+/g, ' '), NAME_CHARACTERS_MAX), address }
    // A name that only repeats the address says nothing.
    if (entry.name.toLowerCase() === address.toLowerCase()) entry.name = ''
    if ((entry.name !== '' || entry.address !== '') && this.#found.length < this.#max) this.#found.push(entry)
  }
}

type Word = { text: string; isQuoted: boolean; isAddress: boolean }

// Joins pieces that belong together: those without a gap, and around `@` and `.` also those with one (RFC 5322 §4.4 allows blanks there).
function joinPieces(pieces: readonly Piece[]): Word[] {
  const groups: Piece[][] = []
  for (const piece of pieces) {
    const group = groups.at(-1)
    const before = group?.at(-1)
    if (group !== undefined && before !== undefined && (piece.isGlued || isJoint(before, piece, group))) group.push(piece)
    else groups.push([piece])
  }
  return groups.map((group) => ({
    text: group.map((piece) => piece.text).join(''),
    isQuoted: group.length === 1 && group[0]!.isQuoted,
    isAddress: group.some((piece) => !piece.isQuoted && piece.text.includes('@') && !piece.text.startsWith('=?')),
  }))
}

function isJoint(before: Piece, piece: Piece, group: readonly Piece[]): boolean {
  if (!piece.isQuoted && piece.text.startsWith('@')) return true
  if (before.isQuoted) return false
  if (before.text.endsWith('@')) return true
  const hasAt =
    before.text.includes('@') || (group.length > 1 && group.length < 10 && group.some((part) => !part.isQuoted && part.text.includes('@')))
  return hasAt && !piece.isQuoted && (before.text.endsWith('.') || piece.text.startsWith('.'))
}

function joinName(words: readonly Word[]): string {
  return words.map((word) => (word.isQuoted ? removeBackslashes(word.text.slice(1, -1)) : word.text)).join(' ')
}

// Drops a route (`@a,@b:` before the mailbox, RFC 5322 §4.4), blanks, controls and a trailing dot; lowers the domain.
function cleanAddress(text: string): string {
  let address = text
  if (address.startsWith('@')) address = address.slice(address.indexOf(':') + 1)
  else if (/^mailto:/i.test(address)) address = address.slice(7)
  if (address.length > 2 && address.startsWith("'") && address.endsWith("'")) address = address.slice(1, -1)
  if (address.length > ADDRESS_CHARACTERS_MAX) return ''
  address = storableLine(address)
  const at = address.lastIndexOf('@')
  if (at < 0) return address
  const domain = address
    .slice(at + 1)
    .toLowerCase()
    .replace(/\s+/g, '')
  return `${address.slice(0, at)}@${domain.endsWith('.') ? domain.slice(0, -1) : domain}`
}

// The offset of the closing character that belongs to the opener at `open`, backslashes respected and comments nested; -1 when it never closes.
function findClose(value: string, open: number, closer: string, opener: string | null): number {
  let depth = 1
  for (let at = open + 1; at < value.length; at++) {
    const character = value[at]
    if (character === '\\') at++
    else if (character === closer) {
      depth--
      if (depth === 0) return at
    } else if (character === opener) depth++
  }
  return -1
}

// Characters that end an atom: blanks and `"(,:;<>`.
function isSpecial(code: number): boolean {
  return code <= 0x20 || code === 0x22 || code === 0x28 || code === 0x2c || (code >= 0x3a && code <= 0x3c) || code === 0x3e
}

function removeBackslashes(text: string): string {
  return text.includes('\\') ? text.replace(/\\(.)/gs, '$1') : text
}
