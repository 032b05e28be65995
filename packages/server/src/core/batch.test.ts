// Concurrent lookups and work share batches, and an answer is never older than its question.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { batchLoader, groupCommit } from './batch.ts'

/** Records its keys, and answers when the test asks it to. */
function recordQueries() {
  const asked: string[][] = []
  const answers: (() => void)[] = []
  const query = (keys: string[]) => {
    asked.push(keys)
    return new Promise<Map<string, string>>((resolve) =>
      answers.push(() => resolve(new Map(keys.filter((key) => key !== 'none').map((key) => [key, `${key} of ${asked.length}`])))),
    )
  }
  return { asked, answers, query }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('loads of one iteration share a query with unique keys, and an absent key is null', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query)
  const loads = ['a', 'b', 'a', 'none'].map(load)
  await turn()
  expect(asked).toEqual([['a', 'b', 'none']])
  answers[0]?.()
  expect(await Promise.all(loads)).toEqual(['a of 1', 'b of 1', 'a of 1', null])
})

test('a load whose key is being queried starts a query of its own', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query)
  const first = load('a')
  await turn()
  const second = load('a')
  await turn()
  expect(asked).toEqual([['a'], ['a']])
  answers[0]?.()
  expect(await first).toBe('a of 2')
  answers[1]?.()
  await second
})

test('loads beyond the queries in flight are batched up to the limit', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query, { batchMax: 2, inFlightMax: 1 })
  const loads = ['a', 'b', 'c', 'd', 'e'].map(load)
  for (let i = 0; i < 3; i++) await turn()
  expect(asked).toEqual([['a', 'b']])
  for (let i = 0; i < 3; i++) {
    answers[i]?.()
    await turn()
    await turn()
  }
  expect(asked).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  await Promise.all(loads)
})

test('two queries run at once by default, of at most 200 keys each', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query)
  const loads = Array.from({ length: 601 }, (_, index) => load(`key ${index}`))
  for (let i = 0; i < 4; i++) await turn()
  expect(asked.map((keys) => keys.length)).toEqual([200, 200])
  answers[0]?.()
  for (let i = 0; i < 4; i++) await turn()
  expect(asked.map((keys) => keys.length)).toEqual([200, 200, 200])
  answers[1]?.()
  answers[2]?.()
  for (let i = 0; i < 4; i++) await turn()
  expect(asked.map((keys) => keys.length)).toEqual([200, 200, 200, 1])
  answers[3]?.()
  expect(await Promise.all(loads)).toHaveLength(601)
})

test('a free loader runs no empty query', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query, { batchMax: 2, inFlightMax: 2 })
  const one = load('a')
  for (let i = 0; i < 3; i++) await turn()
  answers[0]?.()
  await one
  for (let i = 0; i < 3; i++) await turn()
  expect(asked).toEqual([['a']])
})

test('exactly as many keys as a batch holds are one query', async () => {
  const { asked, answers, query } = recordQueries()
  const load = batchLoader(query, { batchMax: 2, inFlightMax: 1 })
  const loads = ['a', 'b'].map(load)
  await turn()
  const later = load('c')
  answers[0]?.()
  for (let i = 0; i < 3; i++) await turn()
  expect(asked).toEqual([['a', 'b'], ['c']])
  answers[1]?.()
  await Promise.all([...loads, later])
})

test('a failed query fails its loads, and the next one runs again', async () => {
  let fails = true
  const load = batchLoader(async (keys) => {
    if (fails) throw new Error('away')
    return new Map(keys.map((key) => [key, key]))
  })
  await expect(Promise.all([load('a'), load('b')])).rejects.toThrow('away')
  fails = false
  expect(await load('a')).toBe('a')
})

test('loaders start together, so that their queries share a round trip', async () => {
  const order: string[] = []
  const loaderOf = (name: string) =>
    batchLoader(async (keys) => {
      order.push(name)
      queueMicrotask(() => order.push('turn over'))
      return new Map(keys.map((key) => [key, key]))
    })
  const [one, two] = [loaderOf('one'), loaderOf('two')] as const
  await Promise.all([one('a'), two('b')])
  expect(order.slice(0, 2)).toEqual(['one', 'two'])
})

test('concurrent work shares a group, and a failing item does not fail the others', async () => {
  const groups: number[][] = []
  const half = groupCommit(
    async (items: number[]) => {
      groups.push(items)
      if (items.includes(3)) throw new Error('odd')
      return items.map((item) => item / 2)
    },
    { groupMax: 3, inFlightMax: 1 },
  )
  const results = await Promise.allSettled([2, 4, 3, 6].map(half))
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error).message))).toEqual([
    1,
    2,
    'odd',
    3,
  ])
  expect(groups).toEqual([[2, 4, 3], [2], [4], [3], [6]])
})

test('a single item that fails is not run again', async () => {
  const groups: number[][] = []
  const fail = groupCommit(
    async (items: number[]) => {
      groups.push(items)
      throw new Error('away')
    },
    { groupMax: 3, inFlightMax: 1 },
  )
  await expect(fail(1)).rejects.toThrow('away')
  expect(groups).toEqual([[1]])
})

test('after a final error no item of the group runs again', async () => {
  const groups: number[][] = []
  const together = groupCommit(
    async (items: number[]) => {
      groups.push(items)
      throw new Error('lost')
    },
    { groupMax: 10, inFlightMax: 1, isFinal: (error) => (error as Error).message === 'lost' },
  )
  const all = await Promise.allSettled([together(1), together(2)])
  expect([groups, all.map(({ status }) => status)]).toEqual([[[1, 2]], ['rejected', 'rejected']])
})

test('as many groups as allowed start at once, each in its own iteration', async () => {
  const { groups, together, end } = startGroups({ groupMax: 1, inFlightMax: 2 })
  const done = [together(1), together(2), together(3), together(4)]
  for (let i = 0; i < 4; i++) await turn()
  expect(groups).toEqual([[1], [2]])
  await end()
  for (let i = 0; i < 4; i++) await turn()
  expect(groups).toEqual([[1], [2], [3], [4]])
  await end()
  expect(await Promise.all(done)).toEqual([1, 2, 3, 4])
})

/** The groups that were started, and a function that adds an item. `end` completes the groups in flight. */
function startGroups(options: Parameters<typeof groupCommit>[1]) {
  const groups: number[][] = []
  const ends: (() => void)[] = []
  const together = groupCommit(async (items: number[]) => {
    groups.push(items)
    await new Promise<void>((resolve) => ends.push(resolve))
    return items
  }, options)
  const endSome = async (count: number) => {
    for (const one of ends.splice(0, count)) one()
    await turn()
  }
  return { groups, together, end: () => endSome(ends.length), endFirst: () => endSome(1) }
}

test('a group starts beside another when enough items wait, and fewer wait for the next', async () => {
  const { groups, together, end } = startGroups({ groupMax: 3, inFlightMax: 2, besideFrom: 3 })
  const done = [together(1)]
  await turn()
  done.push(together(2), together(3))
  await turn()
  expect(groups).toEqual([[1]])
  done.push(together(4))
  await turn()
  expect(groups).toEqual([[1], [2, 3, 4]])
  done.push(together(5))
  // The groups end in one iteration of the event loop, and the next group starts in another.
  await end()
  await turn()
  expect(groups).toEqual([[1], [2, 3, 4], [5]])
  await end()
  expect(await Promise.all(done)).toEqual([1, 2, 3, 4, 5])
})

test('few items do not wait for a blocked group', async () => {
  const groups: number[][] = []
  const second = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const together = groupCommit(
    async (items: number[]) => {
      groups.push(items)
      if (groups.length === 2) second.resolve()
      if (groups.length === 1) await end.promise
      return items
    },
    { groupMax: 3, inFlightMax: 2, besideFrom: 3 },
  )
  const held = together(1)
  await new Promise((resolve) => setImmediate(resolve))
  const fresh = [together(2), together(3)]
  await second.promise
  expect(await Promise.all(fresh)).toEqual([2, 3])
  expect(groups).toEqual([[1], [2, 3]])
  end.resolve()
  expect(await held).toBe(1)
})

describe('with a gathering time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const start = () => startGroups({ groupMax: 4, inFlightMax: 2, besideFrom: 4, gatherMs: 5 })

  test('returning callers share a group with the waiting ones', async () => {
    const { groups, together, end } = start()
    const first = [together(1), together(2)]
    await turn()
    const waited = together(3)
    await end()
    await Promise.all(first)
    const back = [together(4)]
    await turn()
    expect(groups).toEqual([[1, 2]])
    back.push(together(5))
    await turn()
    expect(groups).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
    await end()
    expect(await Promise.all([waited, ...back])).toEqual([3, 4, 5])
  })

  test('callers of a group that ends beside a running one are not waited for', async () => {
    const { groups, together, end, endFirst } = startGroups({ groupMax: 4, inFlightMax: 2, besideFrom: 2, gatherMs: 5 })
    const all = [1, 2, 3, 4].map(together)
    await turn()
    all.push(...[5, 6].map(together))
    await turn()
    await endFirst()
    all.push(...[7, 8].map(together))
    await turn()
    expect(groups).toEqual([
      [1, 2, 3, 4],
      [5, 6],
      [7, 8],
    ])
    await end()
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('the wait for returning callers is limited to gatherMs', async () => {
    const { groups, together, end } = start()
    const first = [together(1), together(2)]
    await turn()
    const waited = together(3)
    await end()
    await Promise.all(first)
    vi.advanceTimersByTime(5)
    await turn()
    expect(groups).toEqual([[1, 2], [3]])
    await end()
    expect(await waited).toBe(3)
  })

  test('a single returning caller does not wait', async () => {
    const { groups, together, end } = start()
    const first = together(1)
    await turn()
    await end()
    await first
    const second = together(2)
    await turn()
    expect(groups).toEqual([[1], [2]])
    await end()
    expect(await second).toBe(2)
  })
})
