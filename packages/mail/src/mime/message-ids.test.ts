// Message identifiers, valid and malformed.
import { expect, test } from 'vitest'
import { readMessageId, readMessageIds } from './message-ids.ts'

test.each([
  ['<a@b>', '<a@b>'],
  ['a@b', '<a@b>'],
  ['bare-word', '<bare-word>'],
  ['two words', null],
  ['', null],
  ['<>', null],
  ['\0', null],
  ['-\0-b--', '<--b-->'],
  ['\ud800x', '<\ufffdx>'],
  ['<a\0b@c>', '<ab@c>'],
  [`${'x'.repeat(999)}`, null],
])('%j is %j', (value, expected) => expect(readMessageId(value)).toBe(expected))

test('no field, no identifier', () => expect(readMessageId(null)).toBeNull())
test('several, each once', () => expect(readMessageIds(['<a@b> <c@d> <a@b>', 'x <e@f'])).toEqual(['<a@b>', '<c@d>']))
