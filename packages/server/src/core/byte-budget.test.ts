// Shares of a byte budget.
import { expect, test, vi } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

const owner = (name: string) => ({ name, bytesMax: 60 })

test('an owner is limited before the whole budget is, and released bytes can be taken again', () => {
  const budget = new ByteBudget(100)
  expect(budget.take(60, [owner('a')])).toBe(true)
  expect(budget.take(1, [owner('a')])).toBe(false)
  expect(budget.fits(41, [owner('b')])).toBe(false)
  expect(budget.take(40, [owner('b')])).toBe(true)
  expect(budget.take(1, [owner('c')])).toBe(false)
  budget.give(10, [owner('a')])
  expect(budget.used).toBe(90)
  expect(budget.take(10, [owner('b')])).toBe(true)
})

test('a refusal counts nothing, for any of several owners', () => {
  const budget = new ByteBudget(1000)
  expect(budget.take(60, [owner('key'), { name: 'organization', bytesMax: 100 }])).toBe(true)
  expect(budget.take(50, [owner('other key'), { name: 'organization', bytesMax: 100 }])).toBe(false)
  expect(budget.used).toBe(60)
  expect(budget.take(40, [owner('other key'), { name: 'organization', bytesMax: 100 }])).toBe(true)
})

test('without owners only the whole budget counts', () => {
  const budget = new ByteBudget(100)
  expect(budget.take(100)).toBe(true)
  expect([budget.fits(0), budget.fits(1), budget.take(1)]).toEqual([true, false, false])
  budget.give(40)
  expect([budget.fits(40), budget.used]).toEqual([true, 60])
})

test('a share reports when bytes were given back', async () => {
  const budget = new ByteBudget(10)
  const share = budget.shareOf([owner('a')])
  expect(share.take(10)).toBe(true)
  const given = share.whenGiven(60_000)
  budget.give(10)
  await given
  expect(share.take(10)).toBe(true)
  await share.whenGiven(1)
})

test('bytes that an owner gives back are its own again, in parts and whole', () => {
  const budget = new ByteBudget(1000)
  expect(budget.take(60, [owner('a')])).toBe(true)
  budget.give(20, [owner('a')])
  expect(budget.take(21, [owner('a')])).toBe(false)
  expect(budget.take(20, [owner('a')])).toBe(true)
  budget.give(60, [owner('a')])
  expect(budget.take(61, [owner('a')])).toBe(false)
  expect(budget.take(60, [owner('a')])).toBe(true)
  expect(budget.used).toBe(60)
})

test('a share without owners, and one whose owner is at its limit', () => {
  const budget = new ByteBudget(100)
  const [open, limited] = [budget.shareOf(), budget.shareOf([owner('a')])]
  expect(open.take(30)).toBe(true)
  expect(limited.take(61)).toBe(false)
  expect(limited.take(60)).toBe(true)
  limited.give(60)
  open.give(30)
  expect(budget.used).toBe(0)
  expect(limited.take(60)).toBe(true)
})

test('waiting ends by the time given, or by bytes given back, whose timer is cleared', async () => {
  vi.useFakeTimers()
  try {
    const share = new ByteBudget(10).shareOf()
    share.take(10)
    let ended = 0
    const waits = [share.whenGiven(50), share.whenGiven(60_000)].map((wait) => wait.then(() => ended++))
    await vi.advanceTimersByTimeAsync(49)
    expect(ended).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toBe(1)
    share.give(1)
    await Promise.all(waits)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
