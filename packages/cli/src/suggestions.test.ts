// Suggestions for mistyped words.
import { expect, test } from 'vitest'
import { closest, closestCommand, editDistance } from './suggestions.ts'

test.each([
  ['', '', 0],
  ['list', 'list', 0],
  ['lst', 'list', 1],
  ['lsit', 'list', 1],
  ['kitten', 'sitting', 3],
  ['', 'abc', 3],
])('%j and %j differ by %i', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance)
  expect(editDistance(b, a)).toBe(distance)
})

test('a distant word has no suggestion', () => {
  expect(closest('agnet', ['agent', 'after'])).toBe('agent')
  expect(closest('nonsense', ['agent', 'after'])).toBeUndefined()
})

test.each([
  [['mail', 'lst'], 'mail list'],
  [['mial', 'list'], 'mail list'],
  [['mail', 'view'], 'mail read'],
  [['domains', 'delete'], 'domains rm'],
  [['whoam'], 'whoami'],
  [['domain'], 'domains'],
  [['messages', 'list'], 'mail list'],
  [['inbox', 'view'], 'mail read'],
  [['secrets'], undefined],
  [['me'], 'whoami'],
  [['emails'], 'mail'],
  [['nonsense', 'too'], undefined],
])('%j is probably %j', (typed, expected) => {
  expect(closestCommand(typed, ['mail list', 'mail read', 'mail send', 'domains rm', 'domains list', 'whoami'])).toBe(expected)
})
