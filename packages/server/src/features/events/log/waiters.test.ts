// Waiters get their own agent's events. Events between joining and beginning are not missed, and leaving frees a place.
import { expect, test } from 'vitest'
import type { EventBrief } from './model.ts'
import { createWaiters, type Waiter } from './waiters.ts'

const brief = (position: number, identity = 'ident_1', type = 'email.received'): EventBrief => ({
  id: `evt_${position}`,
  type,
  subject_id: `msg_${position}`,
  identity_id: identity,
  position,
  created_at: new Date(0),
})

/** The positions of the next events, or the other answer. */
const positionsOf = async (waiter: Waiter) => {
  const next = await waiter.next()
  return Array.isArray(next) ? next.map(({ position }) => position) : next
}

/** Waiters over these events. `reads` records the queries. */
function waitersOver(events: EventBrief[]) {
  const reads: [number, number][] = []
  const waiters = createWaiters(async (_organizations, types, after, upTo, limit) => {
    reads.push([after, upTo])
    return events.filter((one) => one.position > after && one.position <= upTo && types.includes(one.type)).slice(0, limit)
  })
  const join = (identityId = 'ident_1', limitId = 'key_1', types = ['email.received']) =>
    waiters.join({ organizationId: 'org_1', identityId, accessId: limitId, limitId, types })
  return { waiters, join, reads }
}

test('one read gives each event to the waiters for its agent and type', async () => {
  const { waiters, join, reads } = waitersOver([brief(1), brief(2, 'ident_2'), brief(3, 'ident_1', 'sms.received'), brief(4)])
  const [one, two, texts] = [join(), join('ident_2'), join('ident_1', 'key_1', ['sms.received'])]
  waiters.beginAt(0)
  await waiters.watchers.look(4)
  expect(await positionsOf(one)).toEqual([1, 4])
  expect(await positionsOf(two)).toEqual([2])
  expect(await positionsOf(texts)).toEqual([3])
  expect(reads).toEqual([[0, 4]])
})

test('without a started waiter nothing is read, and a waiter that begins further back misses nothing', async () => {
  const { waiters, join, reads } = waitersOver([brief(5), brief(6), brief(7)])
  const late = join()
  await waiters.watchers.look(5)
  expect(reads).toEqual([])
  join()
  waiters.beginAt(6)
  await waiters.watchers.look(7)
  // It read the place before the other did.
  waiters.beginAt(4)
  await waiters.watchers.look(7)
  expect(new Set((await positionsOf(late)) as number[])).toEqual(new Set([5, 6, 7]))
})

test('events beyond one read are all delivered', async () => {
  const { waiters, join, reads } = waitersOver(Array.from({ length: 2500 }, (_, i) => brief(i + 1)))
  const one = join()
  waiters.beginAt(0)
  await waiters.watchers.look(2500)
  expect((await one.next())?.length).toBe(2500)
  expect(reads.length).toBe(3)
  expect(waiters.handedOut()).toBe(2500)
})

test('events before the end come first, then the end, and a revoked key ends the wait with 401', async () => {
  const { waiters, join } = waitersOver([brief(1)])
  const [one, two] = [join(), join('ident_2', 'key_2')]
  waiters.beginAt(0)
  await waiters.watchers.look(1)
  one.end()
  expect((await one.next())?.length).toBe(1)
  expect(await one.next()).toBe(null)
  const waiting = two.next()
  waiters.watchers.refuse(new Set(['key_2']))
  await expect(waiting).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
})

test('after a reset, every waiter begins again, and nothing of the old positions is delivered', async () => {
  const events = [brief(1)]
  const { waiters, join } = waitersOver(events)
  const [one, two] = [join(), join('ident_2')]
  waiters.beginAt(0)
  await waiters.watchers.look(1)
  const waiting = positionsOf(two)
  waiters.watchers.reset()
  expect([await positionsOf(one), await waiting, waiters.handedOut()]).toEqual(['reset', 'reset', null])
  waiters.beginAt(0)
  events[0] = brief(1, 'ident_2')
  await waiters.watchers.look(1)
  expect(await positionsOf(two)).toEqual([1])
})

test('a key waits at most a thousand times, and leaving twice frees one place', () => {
  const { waiters, join } = waitersOver([])
  const all = Array.from({ length: 1000 }, () => join())
  expect(() => join()).toThrow(expect.objectContaining({ status: 429, code: 'rate_limited' }))
  all[0]?.leave()
  all[0]?.leave()
  join()
  expect(() => join()).toThrow()
  expect([waiters.watchers.count(), [...waiters.watchers.accessIds()]]).toEqual([1000, ['key_1']])
})

test('a read asks once for each organization of the waiters, and none is read after the last has left', async () => {
  const asked: string[][] = []
  const waiters = createWaiters(async (organizationIds) => {
    asked.push(organizationIds)
    return []
  })
  const joined = ['org_1', 'org_2', 'org_1'].map((organizationId, index) =>
    waiters.join({ organizationId, identityId: `ident_${index}`, accessId: 'key_1', limitId: 'key_1', types: ['email.received'] }),
  )
  waiters.beginAt(0)
  await waiters.watchers.look(1)
  expect(asked).toEqual([['org_1', 'org_2']])
  joined[0]?.leave()
  expect(waiters.handedOut()).toBe(1)
  for (const waiter of joined) waiter.leave()
  expect(waiters.handedOut()).toBeNull()
  waiters.beginAt(1)
  expect(waiters.handedOut()).toBeNull()
  await waiters.watchers.look(2)
  expect(asked).toHaveLength(1)
})

test('all keys together may have 20,000 waits, and a refusal says when to retry', () => {
  const { waiters, join } = waitersOver([])
  for (let i = 0; i < 20_000; i++) join('ident_1', `key_${i % 40}`)
  const refusal = (limitId: string) => {
    try {
      return join('ident_1', limitId)
    } catch (error) {
      return error
    }
  }
  expect(refusal('key_new')).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '5' } })
  expect(waiters.watchers.count()).toBe(20_000)
})
