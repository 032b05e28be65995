// Text that codes are searched in: single spaces, ASCII digits and dashes, and no hash of an app.
import { expect, test } from 'vitest'
import { readable, withoutAppHash } from './readable.ts'

test.each([
  ['plain text\nof lines', 'plain text\nof lines'],
  ['a  b \n c\t\td', 'a b\nc d'],
  ['a\r\nb\rc', 'a\nb\nc'],
  ['a \n \n b', 'a\n\nb'],
  ['\u0664\u0668\u0662 \uff14\uff18\uff12', '482 482'],
  ['482\u2013913 482\u2212913 482\u05be913', '482-913 482-913 482-913'],
  ['4\u200b8\u00ad2\u034f9\u202e1\ufeff3', '482913'],
  ['Don\u2019t', "Don't"],
  ['İstanbul', 'Istanbul'],
  ['验证码，482913', '验证码、482913'],
  ['a\u00a0b', 'a b'],
])('%j reads %j', (text, expected) => expect(readable(text)).toBe(expected))

test.each([
  ['<#> 482913 is your code\nFA+9qCX9VSu', '<#> 482913 is your code\n'],
  ['[#] 482913\nabcdefghijk', '[#] 482913\n'],
  ['482913 is your code\nFA+9qCX9VSu', '482913 is your code\n'],
  ['482913 is your code FA+9qCX9VSu', '482913 is your code\n'],
  ['FA+9qCX9VSu\n482913', '\n\n482913'],
  // A word of eleven characters is not a hash.
  ['482913 is your\nsubscribing', '482913 is your\nsubscribing'],
  ['482913 is your\nSUBSCRIBING', '482913 is your\nSUBSCRIBING'],
  ['482913\nFA+9qCX9VS', '482913\nFA+9qCX9VS'],
  ['482913\nFA+9qCX9VSu4', '482913\nFA+9qCX9VSu4'],
])('%j without its hash is %j', (text, expected) => expect(withoutAppHash(text)).toBe(expected))

test('a long text has no hash of an app, unless it says so', () => {
  const long = `${'a b '.repeat(300)}\nFA+9qCX9VSu`
  expect(withoutAppHash(long)).toBe(long)
  expect(withoutAppHash(`<#> ${long}`)).toBe(`<#> ${long.slice(0, -12)}\n`)
})
