// Differences between texts, checked by putting both texts together again from the parts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffText } from './text-diff.ts'

test('shows the changed words', () => {
  expect(diffText('One room for two nights', 'One quiet room for three nights')).toEqual([
    { kind: 'same', text: 'One ' },
    { kind: 'added', text: 'quiet ' },
    { kind: 'same', text: 'room for ' },
    { kind: 'removed', text: 'two' },
    { kind: 'added', text: 'three' },
    { kind: 'same', text: ' nights' },
  ])
})

test('equal texts have no changes', () => {
  expect(diffText('a b', 'a b')).toEqual([{ kind: 'same', text: 'a b' }])
  expect(diffText('', '')).toEqual([])
})

test('the parts give both texts, for any texts', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\n', 'long-word'), { maxLength: 40 }).map((list) => list.join(''))
  fc.assert(
    fc.property(words, words, (before, after) => {
      const parts = diffText(before, after)
      const without = (kind: string) =>
        parts
          .filter((part) => part.kind !== kind)
          .map((part) => part.text)
          .join('')
      expect([without('added'), without('removed')]).toEqual([before, after])
    }),
  )
})
