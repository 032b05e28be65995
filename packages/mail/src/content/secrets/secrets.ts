// Finds secrets in an outgoing text: private keys, API keys, card numbers, keys of Callsign, and texts that match given patterns.
import { unifyLineEnds } from '../../mime/storable-text.ts'
import { findCardNumbers } from './card-numbers.ts'
import { issuerRules } from './issuers.ts'
import { aroundLongRuns } from './long-run.ts'
import { findPrivateKeys } from './private-keys.ts'
import type { IssuerRule, Secret, TextMatcher } from './secret.ts'

/** Secrets of one kind above this number are not listed. */
const perNameMax = 5

/**
 * The secrets in a text, in linear time, without repetitions. Placeholders such as `sk_live_xxxxxxxx` are not secrets. Invisible characters
 * within a secret do not hide it. `hasCards` is false for files of numbers, in which some have the form of a card number.
 */
export function findSecrets(given: string, matchers: TextMatcher[] = [], { hasCards = true } = {}): Secret[] {
  const text = visible(given)
  const issuable = aroundLongRuns(text)
  const lines = matchers.length === 0 ? text : unifyLineEnds(text)
  const found = [
    ...findPrivateKeys(text).map((one): Secret => ({ type: 'private_key', ...one })),
    ...(issuable === '' ? [] : findAllIssued(issuable)),
    ...(hasCards ? findCardNumbers(text) : []).map(
      (digits): Secret => ({ type: 'card_number', name: 'card number', evidence: `…${digits.slice(-4)}` }),
    ),
    ...matchers.flatMap(({ name, find }): Secret[] => {
      const match = find(lines)
      return match === null ? [] : [{ type: 'custom_pattern', name, evidence: masked(match) }]
    }),
  ]
  return [...new Map(found.map((one) => [`${one.type} ${one.name} ${one.evidence}`, one])).values()]
}

/** The text without characters that are not shown, and with ordinary blanks and hyphens in place of their variants. */
const visible = (text: string): string =>
  /[^\0-\u009f]/.test(text)
    ? text
        .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
        .replace(/\p{Zs}/gu, ' ')
        .replace(/[\u2010-\u2015\u2212]/g, '-')
    : text

/** Emphasis of Markdown around words. Underscores within an identifier are none. */
const emphasis = /(?<![A-Za-z0-9_])_{1,3}(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])_{1,3}(?![A-Za-z0-9_])/g

/** The issued secrets in a text as it stands, and those of further kinds in it without emphasis. */
function findAllIssued(text: string): Secret[] {
  const found = issuerRules.flatMap((rule) => findIssued(text, rule))
  const plain = text.replace(emphasis, ' ')
  if (plain === text) return found
  const names = new Set(found.map(({ name }) => name))
  return [...found, ...issuerRules.filter(({ name }) => !names.has(name)).flatMap((rule) => findIssued(plain, rule))]
}

function findIssued(text: string, { type, name, literals, pattern, check }: IssuerRule): Secret[] {
  if (!literals.some((literal) => text.includes(literal))) return []
  const found: Secret[] = []
  for (const match of text.matchAll(pattern)) {
    const secret = match[1] ?? match[0]
    if (isPlaceholder(secret) || (check && !check(secret))) continue
    found.push({ type, name, evidence: masked(secret) })
    if (found.length === perNameMax) break
  }
  return found
}

/** True for text that stands for a secret: the word EXAMPLE at its end, few different characters, as in `xxxxxxxx`, or ascending ones. */
function isPlaceholder(secret: string): boolean {
  const tail = secret.slice(-16).toLowerCase()
  return /EXAMPLE(?:KEY)?$/.test(secret) || new Set(tail).size < 6 || ascents(tail) >= 11
}

/** Characters that follow their predecessor in the alphabet or in the digits. A random text of 16 has fewer than 3. */
function ascents(text: string): number {
  let count = 0
  for (let index = 1; index < text.length; index++) if (text.charCodeAt(index) - text.charCodeAt(index - 1) === 1) count++
  return count
}

/** The first four and last two characters. */
const masked = (secret: string): string => (secret.length < 12 ? `${secret.slice(0, 1)}…` : `${secret.slice(0, 4)}…${secret.slice(-2)}`)
