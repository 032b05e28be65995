// Normalizes the text that codes are searched in.
import { withAsciiDigits } from '../../text/digits.ts'

/** Drops the hash of an app that Android's SMS Retriever requires, eleven characters of base64 at the end or on a line of their own. */
export function withoutAppHash(text: string): string {
  const isMarked = isAppMessage.test(text)
  if (!isMarked && text.length > appMessageCharactersMax) return text
  return text.replace(appHash, (hash) =>
    isMarked || (/[a-z]/.test(hash) && /[A-Z]/.test(hash) && /[\d+/]|[a-z][A-Z]/.test(hash)) ? '\n' : hash,
  )
}

/** True for a text that begins with the mark of an app's message, or ends with the hash of an app. */
export const hasAppHash = (text: string): boolean => isAppMessage.test(text) || mixedHash.test(text)

const appMessageCharactersMax = 1000
/** The hash on the last line, with a digit or a capital behind a small letter. */
const mixedHash = /\n(?=[^\n]*[a-z])(?=[^\n]*[A-Z])(?=[^\n]*(?:[\d+/]|[a-z][A-Z]))[A-Za-z0-9+/]{11}\s*$/
const appHash = /(?:^|\n)[A-Za-z0-9+/]{11}(?= ?(?:\n|$))|\s[A-Za-z0-9+/]{11}\s*$/g
const isAppMessage = /^\s*(?:<#>|\[#\])/

/** The text with single spaces, ASCII dashes and digits. */
export function readable(text: string): string {
  const isCommon = !uncommon.test(text)
  if (isCommon && !/[ \n] | \n/.test(text)) return text
  const even = isCommon ? text : unify(text)
  const single = /[^\S\n ]|[^\S\n]{2}/.test(even) ? even.replace(/[^\S\n]+/g, ' ') : even
  return single.includes(' \n') || single.includes('\n ') ? single.replace(/ ?\n ?/g, '\n') : single
}

// A backtick is a quotation mark of some chat programs.
const uncommon = /[^\x20-\x5f\x61-\x7e\n]/

const unify = (text: string): string =>
  withAsciiDigits(text.replaceAll('，', '、').normalize('NFKC'))
    .replace(/\u034f|[\u00ad\u200b-\u200f\u2060\u2066-\u2069\u202a-\u202e\ufeff]/g, '')
    .replace(/[\u05be\u2010-\u2015\u2212]/g, '-')
    .replaceAll('\u2019', "'")
    // Quotation marks, and the colons of Khmer, Armenian and Ethiopic.
    .replace(/[`\u201c-\u201f]/g, '"')
    .replace(/[\u17d6\u055d\u1361\u1366]/g, ':')
    .replaceAll('İ', 'I')
    .replace(/\r\n?/g, '\n')
