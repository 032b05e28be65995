// Valid and invalid entries of rules.
import { expect, test } from 'vitest'
import { ApiError } from '../../../core/errors.ts'
import { readEntry } from './model.ts'

test.each([
  ['Ann@Example.COM', 'ann@example.com'],
  ['ann@bücher.test', 'ann@xn--bcher-kva.test'],
  ['"ann"@example.com', 'ann@example.com'],
  ['Example.COM', 'example.com'],
  ['@example.com', 'example.com'],
  [' example.com. ', 'example.com'],
  ['bücher.test', 'xn--bcher-kva.test'],
  ['ｅxample.com', 'example.com'],
  ['localhost', 'localhost'],
  ['\u0645\u06cc\u200c\u0631\u0648@example.com', '\u0645\u06cc\u200c\u0631\u0648@example.com'],
])('%j is stored as %j', (written, entry) => {
  expect(readEntry(written)).toBe(entry)
})

test.each([
  ['', 'neither an address'],
  ['@', 'neither an address'],
  ['a b', 'neither an address'],
  ['Ann <ann@example.com>', 'neither an address'],
  ['ann@', 'neither an address'],
  ['https://example.com', 'neither an address'],
  ['example..com', 'neither an address'],
  ['exa*mple.com', 'neither an address'],
  ['a@b@example.com', 'neither an address'],
  ['*.example.com', 'write example.com'],
  ['@*.example.com', 'write example.com'],
  ['com', 'one label'],
  ['192.0.2.1', 'an IP address'],
  ['a\u202enn@example.com', 'contains U+202E'],
  ['\u200bann@example.com', 'contains U+200B'],
  ['exam\u00adple.com', 'contains U+00AD'],
  ['exam\nple.com', 'contains U+000A'],
  ['ann@exam\r\nple.com', 'contains U+000D'],
  ['ann@example.com\n', 'contains U+000A'],
  ['\tann@example.com', 'contains U+0009'],
  ['ann@b\u00fc\ncher.test', 'contains U+000A'],
  ['ann@exam\u0085ple.com', 'contains U+0085'],
])('%j is 400 at /entry and says %j', (written, words) => {
  const refuse = () => readEntry(written)
  expect(refuse).toThrow(ApiError)
  expect(refuse).toThrow(words)
})
