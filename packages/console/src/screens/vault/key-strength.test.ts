// The strength of a vault key rises with its length and its kinds of characters, and not with repetitions.
import { expect, test } from 'vitest'
import { strengthOf } from './key-strength.ts'

test.each([
  ['aaaaaaaaaaaaaaaaaaaaaaaa', 'bad'],
  ['abcdefghijklmnopqrstuvwx', 'bad'],
  ['1234567812345678', 'bad'],
  ['correct horse battery', 'bad'],
  ['horse horse horse horse horse horse', 'bad'],
  ['correct horse battery staple', 'warn'],
  ['seven plum trees by the quiet river', 'good'],
  ['7GQ2KX90-4MTB8V1C-ZP5RW3HN-D6EJ0AYS', 'good'],
] as const)('%s is %s', (key, tone) => {
  expect(strengthOf(key).tone).toBe(tone)
})

test('a repetition adds nothing', () => {
  expect(strengthOf('').bits).toBe(0)
  expect(strengthOf('xqz'.repeat(20)).bits).toBe(strengthOf('xqz'.repeat(2)).bits)
})
