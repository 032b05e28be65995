// Characters that a person would not see on the page of an approval link.
import { expect, test } from 'vitest'
import { escapeHtml } from './html.ts'

test.each([
  ['a direction', 0x202e],
  ['a zero-width space', 0x200b],
  ['a line separator', 0x2028],
  ['a grapheme joiner', 0x034f],
  ['the fillers of Hangul', 0x115f],
  ['the fillers of Hangul', 0x1160],
  ['the fillers of Hangul', 0x3164],
  ['the fillers of Hangul', 0xffa0],
  ['a variation selector', 0xfe00],
  ['an emoji selector without an emoji', 0xfe0f],
  ['a variation selector', 0xe0100],
  ['a tag', 0xe0041],
])('%s is shown: U+%x', (_, code) => {
  const name = `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  expect(escapeHtml(`Pay${String.fromCodePoint(code)}pal 1${String.fromCodePoint(code)}000`)).toBe(`Pay${name}pal 1${name}000`)
})

test('a second selector after an emoji is shown', () => {
  expect(escapeHtml('\u2764\ufe0f\ufe0f')).toBe('\u2764\ufe0f[U+FE0F]')
})

test.each([
  ['emoji', 'I \u2764\ufe0f it \u{1f468}\u200d\u{1f469}\u200d\u{1f467} 1\ufe0f\u20e3'],
  ['lines and tabs', 'one\n\ttwo'],
  ['Korean and Arabic', '\ud55c\uad6d\uc5b4 \u0627\u0644\u0639\u0631\u0628\u064a\u0629'],
])('%s is shown as it is', (_, text) => {
  expect(escapeHtml(text)).toBe(text)
})
