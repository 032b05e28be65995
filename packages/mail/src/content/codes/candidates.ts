// Finds tokens in the format of codes, without prices, telephone numbers, dates and measures.

/**
 * A token that may be a code, with the value to type. `isDoubtful` is true for tokens that other things look like, such as a local telephone number (555-0142),
 * a number of nine or ten digits, or the name of a product (X310). They need an explicit phrase.
 */
export type Candidate = { start: number; end: number; value: string; isDigits: boolean; isGrouped: boolean; isDoubtful: boolean }

/** Candidates per text. More numbers are a table. */
const candidatesMax = 120

/** Least digits of a code. */
const digitsMin = 4

const linkPattern = /(?:https?:\/\/|www\.)[^\s<>]+|@[\w.-]+ #\S+\s*$/gi
// Sticky patterns for addresses, and for words with digits, capitals and dashes. They are tried at possible starts only.
const addressPattern = /[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{1,190}/y
const wordPattern = /(?=[A-Za-z-]{0,12}\d|[A-Z]{3})[A-Za-z0-9]{1,19}(?:-[A-Za-z0-9]{1,19}){0,4}(?![A-Za-z0-9])/y
const numberPattern = /\d(?:[ \-.,:/']?\d)*/g

const mask = (text: string): string => '\u0002'.repeat(text.length)

/** False when the text cannot contain a candidate. A fast path for most texts. */
export const mayHoldCandidates = (text: string): boolean => /\d|[A-Z]{3}/.test(text)

const mayHoldLinks = /:\/\/|www\.|@/i

/** Finds numbers, groups of digits and codes of letters. Links and addresses are skipped. */
export function findCandidates(text: string): Candidate[] {
  if (!mayHoldCandidates(text)) return []
  const masked = maskAddresses(mayHoldLinks.test(text) ? text.replace(linkPattern, mask) : text)
  const candidates: Candidate[] = []
  for (const match of masked.matchAll(numberPattern)) {
    if (candidates.length >= candidatesMax) return candidates
    const [start, end] = [match.index, match.index + match[0].length]
    if (isWordCharacter(masked[start - 1]) || isWordCharacter(masked[end])) continue
    candidates.push(...readNumber(match[0], start, masked))
  }
  for (const { word, start } of findWords(masked)) {
    if (candidates.length >= candidatesMax) break
    const candidate = readWord(word, start)
    if (candidate) candidates.push(candidate)
  }
  return candidates
}

/** Masks addresses, searched from each `@`: a pattern that begins with a run of letters would be tried at every word. */
function maskAddresses(text: string): string {
  let masked = ''
  let from = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    addressPattern.lastIndex = startOfRun(text, at, addressCharacter, localCharactersMax)
    const found = addressPattern.lastIndex < from ? null : addressPattern.exec(text)
    if (!found) continue
    masked += text.slice(from, found.index) + mask(found[0])
    from = found.index + found[0].length
    at = from - 1
  }
  return from === 0 ? text : masked + text.slice(from)
}

/** Words with a digit among their first characters, or with capitals at the start. */
function* findWords(text: string): Generator<{ word: string; start: number }> {
  for (let index = indexOfPattern(signOfWord, text, 0); index >= 0; index = indexOfPattern(signOfWord, text, index)) {
    wordPattern.lastIndex = startOfRun(text, index, wordCharacter, lettersBeforeDigitMax)
    const start = wordPattern.lastIndex
    const word = start < 0 ? null : wordPattern.exec(text)
    if (word) yield { word: word[0], start }
    const end = indexOfPattern(notInWord, text, index)
    index = end < 0 ? text.length : end
  }
}

const localCharactersMax = 64
const lettersBeforeDigitMax = 12
const addressCharacter = /[\w.+-]/
const wordCharacter = /[A-Za-z0-9-]/
const signOfWord = /\d|[A-Z]{3}/g
const notInWord = /[^A-Za-z0-9-]/g

/** The start of the run of `character` that ends at `end`. -1 when it is longer than `charactersMax`. */
function startOfRun(text: string, end: number, character: RegExp, charactersMax: number): number {
  let start = end
  while (start > 0 && character.test(text[start - 1] as string)) if (end - --start > charactersMax) return -1
  return start
}

function indexOfPattern(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

const isWordCharacter = (character: string | undefined): boolean => character !== undefined && /[A-Za-z0-9À-ɏЀ-ӿ_]/.test(character)

/** Candidates from a run of digits and separators: one number, equal groups, or adjacent numbers. */
function readNumber(run: string, start: number, text: string): Candidate[] {
  if (run.length < digitsMin || isMarkedAsOther(text, start, start + run.length)) return []
  const digits = run.replace(/\D/g, '')
  const groups = run.split(/[ -]/)
  const isPlain = groups.every((group) => /^\d+$/.test(group))
  const size = (groups[0] as string).length
  const isEven = groups.length > 1 && groups.every((group) => group.length === size)
  const separators = new Set(run.replace(/\d/g, ''))
  if (isPlain && isEven && separators.size === 1 && size <= 4) {
    // Two pairs are two numbers, as in a time or a table.
    const isPairs = size === 2 && digits.length < 6
    return digits.length >= digitsMin && digits.length <= 9 && !isPairs
      ? [{ start, end: start + run.length, value: digits, isDigits: true, isGrouped: true, isDoubtful: false }]
      : []
  }
  // A telephone number, a card, an account.
  if (isPlain && groups.length >= 3 && digits.length >= 9) return []
  const candidates: Candidate[] = []
  let at = start
  for (const part of run.split(' ')) {
    const isUneven = /^\d{3}-\d{4}$|^\d{4}-\d{3}$/.test(part)
    const isLong = /^\d{9,10}$/.test(part)
    if (isUneven || isLong || /^(?:\d{4,8}|\d{3}-\d{3}|\d{4}-\d{4})$/.test(part))
      candidates.push({
        start: at,
        end: at + part.length,
        value: part.replace('-', ''),
        isDigits: true,
        isGrouped: part.includes('-'),
        isDoubtful: isUneven || isLong,
      })
    at += part.length + 1
  }
  return candidates
}

const currency = '[$€£¥₹₽₩₺฿]|(?:eur|usd|gbp|chf|jpy|cny|rmb|inr|rs\\.?|rub|pln|sek|nok|dkk|czk|brl|r\\$|kr|zł|руб|hk\\$|us\\$|aud|cad)'
const beforePrice = new RegExp(`(?:${currency}) ?$`, 'i')
const behindPrice = new RegExp(`^ ?(?:${currency}|元|円|원|%|km\\b|kg\\b|mg\\b|ml\\b|mb\\b|gb\\b|px\\b|m²|sq|kč|₴|грн)`, 'i')

/** True for a price, telephone number, card number, decimal or measure, by the adjacent characters. */
function isMarkedAsOther(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 6), start)
  const behind = text.slice(end, end + 6)
  const isQuoted = /(?:^|[\s:(])'$/.test(before) && behind.startsWith("'")
  if (
    !isQuoted &&
    /[+*•·x.…,'\\^~=@]$|\+ ?\(?$|[*•xX]{2,} ?$|[A-Za-z0-9][/_]$/.test(before) &&
    !/[:：] ?\*{1,3}$|^\*{1,3}$|\n\*{1,3}$| \*{1,3}$/.test(before)
  )
    return true
  if (/^[.,]\d|^[/_\\][A-Za-z0-9]|^\) ?\d/.test(behind)) return true
  return beforePrice.test(before) || behindPrice.test(behind)
}

/** A candidate of letters and digits, a prefix and digits, or capitals. Null for ordinary words. */
function readWord(word: string, start: number): Candidate | null {
  if (!/[A-Za-z]/.test(word) || word.length < 4 || word.length > 19) return null
  const end = start + word.length
  const make = (value: string, isDigits: boolean, isGrouped: boolean): Candidate => ({
    start,
    end,
    value,
    isDigits,
    isGrouped,
    isDoubtful: !isDigits && !isGrouped && isNameLike(value),
  })
  const prefixed = /^[A-Z]{1,3}-(\d{4,8})$/.exec(word)
  if (prefixed) return make(prefixed[1] as string, true, false)
  if (/^(?:[A-Z0-9]{3,6}-){1,3}[A-Z0-9]{3,6}$/.test(word)) return make(word, false, true)
  if (word.includes('-') || word.length > 12) return null
  if (/\d/.test(word)) return /^\d{1,3}[a-z]{1,3}$|^[a-z]{1,2}\d$|^0x/i.test(word) ? null : make(word, false, false)
  return /^[A-Z]{5,8}$/.test(word) && !commonCapitals.has(word) ? make(word, false, false) : null
}

/** True for a word with digits that is not random, such as a product (X310), a device (hda1) or a brand (98point6). */
function isNameLike(word: string): boolean {
  if (!/\d/.test(word)) return false
  const changes = word.match(/\d+|[A-Za-z]+/g)?.length ?? 0
  if (changes <= 2 || /[a-z]{3}/.test(word)) return true
  // Random codes are in capitals, or long.
  return /[a-z]/.test(word) && word.length < 8 && changes <= 3
}

const commonCapitals = new Set(
  'BELOW LOGIN VERIFY ENTER EMAIL PLEASE CODE TODAY OFFER APPLY CLICK VALID PHONE RESET SECURITY SIGNUP ACCOUNT PASSWORD CONFIRM HELLO THANKS NEVER SHARE ALERT NOTICE EXPIRES MINUTES ACTIVATE PASSCODE VERIFIED'.split(
    ' ',
  ),
)
