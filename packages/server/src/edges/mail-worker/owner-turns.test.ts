// Turns between owners.
import { expect, test, vi } from 'vitest'
import { createOwnerTurns } from './owner-turns.ts'

const settings = { runningPerOwnerMax: 1, ownerMsMax: 5000, taskMsMin: 500 }
const drain = (turns: ReturnType<typeof createOwnerTurns<number>>): string[] => {
  const started: string[] = []
  for (let next = turns.next(); next !== null; next = turns.next()) {
    started.push(`${next.owner}${next.item}`)
    turns.finish(next.owner, 0)
  }
  return started
}

test('owners that wait take turns, each in the order of its items', () => {
  const turns = createOwnerTurns<number>(settings)
  for (const item of [1, 2, 3]) turns.add('a', item)
  turns.add('b', 1)
  turns.add('c', 1)
  turns.add('b', 2)
  expect(drain(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('the owner that used the least time is next, also when another has waited for longer', () => {
  const turns = createOwnerTurns<number>(settings)
  turns.add('a', 1)
  turns.next()
  turns.add('a', 2)
  turns.add('b', 1)
  turns.finish('a', 1000)
  expect(drain(turns)).toEqual(['b1', 'a2'])
})

test('an owner at its limit waits for its own tasks only, and does not count as waiting', () => {
  const turns = createOwnerTurns<number>(settings)
  for (const item of [1, 2]) turns.add('a', item)
  expect(turns.next()).toEqual({ owner: 'a', item: 1 })
  expect([turns.next(), turns.isWaiting()]).toEqual([null, false])
  turns.add('b', 1)
  expect([turns.isWaiting(), turns.isWaiting('a'), turns.isWaiting('b')]).toEqual([true, true, false])
  expect(turns.next()).toEqual({ owner: 'b', item: 1 })
  turns.finish('a', 10)
  expect(turns.next()).toEqual({ owner: 'a', item: 2 })
})

test('the time of an owner is used up, keeps a least time, and comes back', () => {
  vi.useFakeTimers()
  const turns = createOwnerTurns<number>(settings)
  turns.add('a', 1)
  turns.next()
  turns.finish('a', 2000)
  expect([turns.allowedMs('a'), turns.allowedMs('b')]).toEqual([3000, 5000])
  turns.finish('a', 60_000)
  expect(turns.allowedMs('a')).toBe(500)
  vi.advanceTimersByTime(20_000)
  expect(turns.allowedMs('a')).toBe(2000)
  vi.advanceTimersByTime(30_000)
  expect(turns.allowedMs('a')).toBe(5000)
  vi.useRealTimers()
})
