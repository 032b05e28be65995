// Finds the phrases beside codes and beside other numbers.
import { CodeUnits } from '../../text/code-units.ts'
import { enter, enterJoined, strong, strongJoined, weak, weakJoined } from './code-words.ts'
import { enterJoinedOfAsia, enterOfAsia, strongJoinedOfAsia, strongOfAsia, weakJoinedOfAsia, weakOfAsia } from './code-words-asia.ts'
import { enterOfEurope, strongOfEurope, weakOfEurope } from './code-words-europe.ts'
import { other, otherJoined } from './other-words.ts'
import { withPlainForms } from './phrase-lists.ts'

const kinds = ['other', 'strong', 'weak', 'enter'] as const

/** A phrase in a text. A number near it is a code (`strong`, `weak`), another number (`other`), or text to type (`enter`). */
export type Hit = { kind: (typeof kinds)[number]; start: number; end: number; phrase: string }

/** All phrases. `isJoined` phrases may be adjacent to letters and digits. Of several phrases at one place, the first list wins, and in it the longest. */
export const phraseLists: { phrases: string[]; kind: Hit['kind']; isJoined: boolean }[] = [
  { phrases: other, kind: 'other', isJoined: false },
  { phrases: withPlainForms([...strong, ...strongOfEurope, ...strongOfAsia]), kind: 'strong', isJoined: false },
  { phrases: [...weak, ...weakOfEurope, ...weakOfAsia], kind: 'weak', isJoined: false },
  { phrases: [...enter, ...enterOfEurope, ...enterOfAsia], kind: 'enter', isJoined: false },
  { phrases: otherJoined, kind: 'other', isJoined: true },
  { phrases: [...strongJoined, ...strongJoinedOfAsia], kind: 'strong', isJoined: true },
  { phrases: [...weakJoined, ...weakJoinedOfAsia], kind: 'weak', isJoined: true },
  { phrases: [...enterJoined, ...enterJoinedOfAsia], kind: 'enter', isJoined: true },
]

/** A trie of phrases. `lists` has a bit per list with a phrase that ends here. */
type Branch = { lists: number; next: Map<number, Branch> }

const joinedLists = 0b11110000

/**
 * The trie. `pairs` has the branches after the first two ASCII letters or digits. `thirds` has 1 for each third character that continues the pair,
 * so a phrase of ASCII has at least three characters. Indexed by the numbers in `wordNumbers`.
 */
type Tree = { root: Branch; pairs: (Branch | undefined)[]; thirds: Uint8Array }

/** ASCII letters and digits from 1 on, 0 for everything else. */
const wordNumbers = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code)
  return /[a-z0-9]/i.test(letter) ? Number.parseInt(letter, 36) + 1 : 0
})
const wordNumberMax = 36
const pairOf = (first: number, second: number): number => first * (wordNumberMax + 1) + second
const thirdOf = (pair: number, third: number): number => pair * (wordNumberMax + 1) + third
const wordNumberOf = (unit: number): number => (unit < 128 ? (wordNumbers[unit] as number) : 0)

/** Built for the first message with a number. */
let grown: Tree | null = null

function grow(): Tree {
  const root: Branch = { lists: 0, next: new Map() }
  for (const [index, { phrases }] of phraseLists.entries()) {
    for (const phrase of phrases) {
      let branch = root
      for (let at = 0; at < phrase.length; at++) {
        const unit = phrase.charCodeAt(at)
        const next = branch.next.get(unit) ?? { lists: 0, next: new Map() }
        branch.next.set(unit, next)
        branch = next
      }
      branch.lists |= 1 << index
    }
  }
  const pairs: (Branch | undefined)[] = Array.from({ length: pairOf(wordNumberMax + 1, 0) })
  const thirds = new Uint8Array(thirdOf(pairs.length, 0))
  for (const [first, { next }] of root.next) {
    for (const [second, branch] of next) {
      if (!wordNumberOf(first) || !wordNumberOf(second)) continue
      const pair = pairOf(wordNumberOf(first), wordNumberOf(second))
      pairs[pair] = branch
      for (const third of branch.next.keys()) thirds[thirdOf(pair, wordNumberOf(third))] = 1
    }
  }
  return { root, pairs, thirds }
}

const wordCharacter = /^[\p{L}\p{N}]/u

/** True when a letter or digit begins at this index. */
function isWordAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  if (unit < 128) return wordNumbers[unit] !== 0
  return wordCharacter.test(text.slice(index, index + 2))
}

// Scripts without spaces, in which a Latin word is adjacent to others, as in "OTPは".
const unspaced =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** True when a word goes on at this index. `unit` is its last character before. */
const goesOn = (text: string, index: number, unit: number): boolean =>
  isWordAt(text, index) && !(wordNumberOf(unit) > 0 && unspaced.test(text.slice(index, index + 2)))

/** True when a letter or digit ends before this index. */
function isWordBefore(text: string, index: number): boolean {
  const isPair = index > 1 && isLowSurrogate(text.charCodeAt(index - 1)) && isHighSurrogate(text.charCodeAt(index - 2))
  const before = isPair ? index - 2 : index - 1
  return index > 0 && isWordAt(text, before) && !(wordNumberOf(text.charCodeAt(index)) > 0 && unspaced.test(text.slice(before, index)))
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const texts = new CodeUnits()

/** Finds phrases in order, in a text in lower case with spaces for dashes. One pass, with backtracking of at most the longest phrase. */
export function findHits(text: string): Hit[] {
  grown ??= grow()
  const { root, pairs, thirds } = grown
  const hits: Hit[] = []
  const length = text.length
  const units = texts.of(text)
  let index = 0
  while (index < length) {
    const unit = units[index] as number
    const number = wordNumberOf(unit)
    let hit: Hit | null = null
    if (number > 0) {
      const second = wordNumberOf(units[index + 1] as number)
      if (second === 0) {
        const branch = root.next.get(unit)
        if (branch && !isWordBefore(text, index)) hit = follow(text, index, index + 1, branch, true)
      } else {
        const pair = pairOf(number, second)
        if (thirds[thirdOf(pair, wordNumberOf(units[index + 2] as number))] === 1 && !isWordBefore(text, index))
          hit = follow(text, index, index + 2, pairs[pair] as Branch, true)
      }
      // Skips the rest of the word, because no phrase begins within a word.
      while (wordNumberOf(units[++index] as number) > 0);
    } else {
      if (unit >= 128) {
        const branch = root.next.get(unit)
        // The word boundary is checked after a match, because matches are rare.
        if (branch) hit = follow(text, index, index + 1, branch, true)
        if (hit && isWordBefore(text, index)) hit = follow(text, index, index + 1, branch as Branch, false)
      }
      index++
    }
    if (hit) {
      if (!isPartOfName(text, hit)) hits.push(hit)
      index = hit.end
    }
  }
  return hits
}

/** True for a word of a name in program text, such as "error_code". */
function isPartOfName(text: string, { start, end }: Hit): boolean {
  return (text[start - 1] === '_' && isWordBefore(text, start - 1)) || (text[end] === '_' && isWordAt(text, end + 1))
}

/** The phrase that begins at `start`, or null. `branch` is the branch of the characters before `from`. */
function follow(text: string, start: number, from: number, branch: Branch, isFree: boolean): Hit | null {
  const lists = isFree ? -1 : joinedLists
  let best = phraseLists.length
  let end = 0
  let at: Branch | undefined = branch
  for (let index = from; at !== undefined; at = at.next.get(text.charCodeAt(index++))) {
    const ending = at.lists & lists & (goesOn(text, index, text.charCodeAt(index - 1)) ? joinedLists : -1)
    if (ending === 0) continue
    // The number of the lowest bit. Later ends are longer phrases.
    const list = 31 - Math.clz32(ending & -ending)
    if (list > best) continue
    best = list
    end = index
  }
  const found = phraseLists[best]
  return found ? { kind: found.kind, start, end, phrase: text.slice(start, end) } : null
}

// Stems that many languages share, and their word for a code, in one word or two.
const compound =
  /(?<!\p{L})(?:\p{L}{3,12})?(?:verif|konfirm|confirm|auten|authen|autor|aktiv|activ|secur|segur|sigur|sikker|säker|bekr[äæe]ft|login|loggi|kirjaut|otp|tunnist|vahvist|palautus|registr|rekister|validaz|validat|zurücksetzung|wiederherstellung)\p{L}{0,14} ?(?:kod|cod|kood|kód|cód|kòd)\p{L}{0,5}(?!\p{L})/gu
// The word for a code with the endings of Finnish, Estonian, Hungarian, Slavic and Turkic languages, Uyghur and Kurdish.
const inflected =
  /(?<!\p{L})(?:(?:kod|kood|kód|kôd|kòd|kóð)(?!ak|ek|iak|ein|ier|ing|ir)|код(?!ек|ир|ов|ак)|шифр(?=[аоу])|كود|کۆد)[\p{L}\p{M}]{0,7}(?!\p{L})/gu

const codeStems = ['kod', 'cod', 'kood', 'kód', 'cód', 'kòd', 'kôd', 'kóð', 'код', 'шифр', 'كود', 'کۆد']

/** The hits, with words of languages that the lists lack. For short texts, which are few. */
export function withCompounds(text: string, hits: Hit[]): Hit[] {
  if (!codeStems.some((stem) => text.includes(stem))) return hits
  const find = (pattern: RegExp, kind: Hit['kind']): Hit[] =>
    [...text.matchAll(pattern)].map(({ index, 0: phrase }) => ({ kind, start: index, end: index + phrase.length, phrase }))
  const merge = (first: Hit[], others: Hit[]): Hit[] => [
    ...first,
    ...others.filter((hit) => first.every(({ start, end }) => hit.end <= start || hit.start >= end)),
  ]
  return merge(merge(find(compound, 'strong'), hits), find(inflected, 'weak')).toSorted((a, b) => a.start - b.start)
}
