// Turns of long work on the event loop.
import { setImmediate as nextIteration } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { shareThread } from './turn.ts'

let nowMs = 0
beforeEach(async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  await nextIteration()
})
afterEach(() => vi.restoreAllMocks())

/** Records the owners of pieces by the iteration of the event loop in which they run. */
function record() {
  const iterations: string[][] = [[]]
  let isOver = false
  const watch = async () => {
    for (; !isOver; iterations.push([])) await nextIteration()
  }
  const watching = watch()
  return {
    call: async (owner: string, pieces: number, ms: number) => {
      for (let piece = 0; piece < pieces; piece++)
        await shareThread(owner, () => {
          nowMs += ms
          iterations.at(-1)?.push(owner)
        })
    },
    end: async () => {
      isOver = true
      await watching
      return iterations.filter((owners) => owners.length > 0)
    },
  }
}

test('concurrent calls run one long piece per iteration, and owners take turns', async () => {
  const { call, end } = record()
  const busy = Array.from({ length: 50 }, () => call('busy', 2, 25))
  const other = call('other', 2, 25)
  await Promise.all([...busy, other])
  const iterations = await end()
  expect(iterations.every((owners) => owners.length === 1)).toBe(true)
  expect(iterations.flat().slice(0, 5)).toEqual(['busy', 'busy', 'other', 'busy', 'other'])
  expect(iterations).toHaveLength(102)
})

test('short pieces run at once, and those of an owner together when it has a turn', async () => {
  const { call, end } = record()
  await call('short', 100, 0.01)
  const long = Array.from({ length: 3 }, () => call('long', 1, 25))
  await Promise.all([...long, call('short', 10, 0.01)])
  expect((await end()).map((owners) => [...new Set(owners), owners.length])).toEqual([
    ['short', 'long', 101],
    ['long', 1],
    ['short', 10],
    ['long', 1],
  ])
})

test('the error of a piece is that of its call, and later pieces run', async () => {
  const fail = () => {
    nowMs += 25
    throw new Error('broken')
  }
  const calls = await Promise.allSettled([shareThread('a', fail), shareThread('a', fail), shareThread('b', () => 'done')])
  expect(calls.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).toEqual(['broken', 'broken', 'done'])
})
