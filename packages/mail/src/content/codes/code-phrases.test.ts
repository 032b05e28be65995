// The phrases that are found are those that one pattern of them all would find.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findHits, type Hit, phraseLists, withCompounds } from './code-phrases.ts'

const asLiteral = (text: string): string => text.replace(/[.*+?^$(){}[\]\\|]/g, '\\$&')
const oneOf = (phrases: string[]): string =>
  `(${[...new Set(phrases)]
    .toSorted((a, b) => b.length - a.length)
    .map(asLiteral)
    .join('|')})`
const patternOf = (isJoined: boolean): string =>
  phraseLists
    .filter((list) => list.isJoined === isJoined)
    .map(({ phrases }) => oneOf(phrases))
    .join('|')
const unspaced =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]'
const start = `(?<=^|[^\\p{L}\\p{N}]|${unspaced}(?=[a-z0-9]))`
const end = `(?:(?![\\p{L}\\p{N}])|(?<=[a-z0-9])(?=${unspaced}))`
const pattern = new RegExp(`${start}(?:${patternOf(false)})${end}|${patternOf(true)}`, 'gu')

const findByPattern = (text: string): Hit[] =>
  [...text.matchAll(pattern)].map((match) => ({
    kind: phraseLists[match.slice(1).findIndex((part) => part !== undefined)]?.kind as Hit['kind'],
    start: match.index,
    end: match.index + match[0].length,
    phrase: match[0],
  }))

test('the longest of the first list wins, and only between words', () => {
  expect(findHits('your security code, not the zip code or a barcode').map(({ kind, phrase }) => [kind, phrase])).toEqual([
    ['strong', 'security code'],
    ['other', 'zip code'],
    ['other', 'barcode'],
  ])
  expect(findHits('encode').length + findHits('codex').length).toBe(0)
})

test('in languages without spaces a phrase may touch its neighbours', () => {
  expect(findHits('您的验证码123456').map(({ kind, phrase }) => [kind, phrase])).toEqual([['strong', '验证码']])
})

test.each<[text: string, found: string[]]>([
  ['code', ['weak code']],
  ['code.', ['weak code']],
  ['(code)', ['weak code']],
  ['xcode', []],
  ['1code', []],
  ['codex', []],
  ['code1', []],
  ['écode', []],
  ['codeé', []],
  ['\u{1d400}code', []],
  ['\ud835\udfffcode', []],
  ['\ud800\udc00code', []],
  ['code\u{1d400}', []],
  ['\u{1f600}code\u{1f600}', ['weak code']],
  ['\udfffcode', ['weak code']],
  ['x\udfffcode', ['weak code']],
  ['\u0301code', ['weak code']],
  ['error_code', []],
  ['code_x', []],
  ['_code', ['weak code']],
  ['code_', ['weak code']],
  ['1_code', []],
  ['código', ['weak código']],
  ['xcódigo', []],
  ['écódigo', []],
  ['security code', ['strong security code']],
  ['security  code', ['weak code']],
  ['securitycode', ['strong securitycode']],
  ['insecurity code', ['weak code']],
  ['あなたのotpは482913です', ['strong otp']],
  ['您的pin码是482913', ['weak pin']],
  ['мойotp', []],
  ['код', ['weak код']],
  ['мойкод', []],
  ['кодя', []],
  ['мой код: код', ['weak код', 'weak код']],
  ['验证码', ['strong 验证码']],
  ['我的验证码是', ['strong 验证码']],
  ['x验证码1', ['strong 验证码']],
  ['code code', ['weak code', 'weak code']],
  ['', []],
])('the phrases of %j', (text, found) => {
  expect(findHits(text).map(({ kind, phrase }) => `${kind} ${phrase}`)).toEqual(found)
  for (const { start, end, phrase } of findHits(text)) expect(text.slice(start, end)).toBe(phrase)
})

test.each<[text: string, found: string[]]>([
  ['konfirmkod 482913', ['strong konfirmkod 0-10']],
  ['min autentkod och kod', ['strong autentkod 4-13', 'weak kod 18-21']],
  ['the secur kod', ['strong secur kod 4-13']],
  ['tavs verifikacijas kodsx', ['strong verifikacijas kodsx 5-24']],
  ['code konfirmkod', ['weak code 0-4', 'strong konfirmkod 5-15']],
  ['konfirmkod, code', ['strong konfirmkod 0-10', 'weak code 12-16']],
  ['xverifkod', []],
  ['verifkodabcdef', []],
  ['verif ok', []],
  ['kod', ['weak kod 0-3']],
  ['sisäänkirjautumiskoodisi on', ['strong sisäänkirjautumiskoodisi 0-24']],
  ['сіздің кодыңыз', ['weak кодыңыз 7-14']],
  ['a kóddal', ['weak kóddal 2-8']],
  ['kodak, kodein och кодекс', []],
])('with compounds, the phrases of %j', (text, found) => {
  expect(withCompounds(text, findHits(text)).map(({ kind, phrase, start, end }) => `${kind} ${phrase} ${start}-${end}`)).toEqual(found)
})

const phrases = phraseLists.flatMap((list) => list.phrases)
const pieces = fc.oneof(
  fc.constantFrom(...phrases),
  fc.constantFrom(...phrases.map((phrase) => phrase.slice(0, 5))),
  fc.constantFrom(' ', ' ', '.', 's', '1', 'é', '\u0301', '\ud835\udc00', '\ud800', '\udc00', '码', 'あ'),
)

test('any text: the same hits as by the pattern', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      expect(findHits(parts.join(''))).toEqual(findByPattern(parts.join('')))
    }),
    { numRuns: 2000 },
  )
})
