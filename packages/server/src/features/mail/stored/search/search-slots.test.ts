// At most three searches of an organization run at once, and others wait or are refused.
import { expect, test } from 'vitest'
import { inSearchSlot } from './search-slots.ts'

test('an organization has three slots, others have their own, and each end lets the next begin', async () => {
  const ends: (() => void)[] = []
  let started = 0
  const search = () =>
    new Promise<void>((resolve) => {
      started++
      ends.push(resolve)
    })
  const running = Array.from({ length: 53 }, () => inSearchSlot('org_a', search))
  expect(started).toBe(3)
  await expect(inSearchSlot('org_a', search)).rejects.toMatchObject({ code: 'rate_limited' })
  expect(await inSearchSlot('org_b', async () => 'found')).toBe('found')
  await expect(inSearchSlot('org_b', () => Promise.reject(new Error('no database')))).rejects.toThrow('no database')
  for (let ended = 0; ended < 53; ended++) {
    ends[ended]?.()
    await new Promise(setImmediate)
  }
  await Promise.all(running)
  expect(started).toBe(53)
  expect(await inSearchSlot('org_a', async () => 'again')).toBe('again')
})
