// Addresses in recipient fields, names beside them, and search highlights.
import { expect, test } from 'vitest'
import { initialsOf, nameOf, parseAddress, splitAddresses } from './addresses.ts'
import { splitMarks } from './highlight.tsx'
import { splitLinks } from './mail-text.tsx'

test('recipients are split at commas outside quotes', () => {
  expect(splitAddresses('ada@a.example, "Park, Jo" <jo@b.example>; c@c.example,')).toEqual([
    'ada@a.example',
    '"Park, Jo" <jo@b.example>',
    'c@c.example',
  ])
})

test('a display name is shown, and else the address', () => {
  expect(parseAddress('"Park, \\"Jo\\"" <jo@b.example>')).toEqual({ name: 'Park, "Jo"', address: 'jo@b.example' })
  expect([nameOf('jo@b.example'), nameOf(''), initialsOf('Ada Mary Park <a@a.example>'), initialsOf('jo.pike@b.example')]).toEqual([
    'jo@b.example',
    'Unknown sender',
    'AP',
    'JP',
  ])
})

test('highlights become text, whatever they contain', () => {
  expect(splitMarks('a &lt;b&gt; <mark>x &amp; y</mark> <img src=x>')).toEqual([
    { text: 'a <b> ', isMarked: false },
    { text: 'x & y', isMarked: true },
    { text: ' <img src=x>', isMarked: false },
  ])
})

test('only web addresses become links', () => {
  expect(splitLinks('see https://a.example/x. or javascript:alert(1)')).toEqual([
    { text: 'see ', href: null },
    { text: 'https://a.example/x', href: 'https://a.example/x' },
    { text: '. or javascript:alert(1)', href: null },
  ])
})
