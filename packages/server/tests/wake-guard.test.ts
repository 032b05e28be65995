// The wake guard: a flood of one sender wakes an agent a few times and once more at the end of the window, and no message is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const limit = (handle: string, wake_limit: Json) => harness.expectApi(200, 'PATCH', `/identities/${handle}`, { body: { wake_limit } })
const eventsOf = async (handle: string): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/events?types=email.received&agent=${handle}&limit=100`)).data
const inbox = async (handle: string): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages?direction=inbound&limit=100`)).data
const deliver = (from: string, to: string, subject: string) =>
  harness.deliver({ from, to: `${to}@agents.localhost`, subject, text: 'Wake up' })

/** Ends every window of the wake guard now. */
async function endWindows(): Promise<void> {
  await harness.db.query({ text: 'UPDATE wake_windows SET ends_at = now()' })
  await harness.db.query({ text: `UPDATE jobs SET run_at = now() WHERE kind = 'announce-held-mail'` })
}

test('is off at first, and set with number and window', async () => {
  expect((await harness.createAgent('calm')).wake_limit).toBeNull()
  expect((await limit('calm', { events: 2, window_seconds: 600 })).wake_limit).toEqual({ events: 2, window_seconds: 600 })
  expect((await harness.api('PATCH', '/identities/calm', { body: { wake_limit: { events: 0, window_seconds: 600 } } })).status).toBe(400)
  expect((await limit('calm', null)).wake_limit).toBeNull()
})

test('the messages above the limit share one event at the end of the window', async () => {
  await harness.createAgent('busy')
  await limit('busy', { events: 2, window_seconds: 600 })
  await Promise.all(Array.from({ length: 12 }, (_, index) => deliver('Eve <eve@example.org>', 'busy', `Flood ${index}`)))
  await deliver('ada@example.com', 'busy', 'Another sender')
  expect(await inbox('busy')).toHaveLength(13)
  const before = await eventsOf('busy')
  expect(before).toHaveLength(3)
  expect(before.every(({ data }) => data.coalesced === undefined)).toBe(true)

  await endWindows()
  const all = await waitFor('the event of the window', async () => {
    const events = await eventsOf('busy')
    return events.length > 3 && events
  })
  expect(all).toHaveLength(4)
  const { coalesced, id, subject } = (all.at(-1) as Json).data
  expect(coalesced).toMatchObject({ count: 10, sender: 'eve@example.org', since: expect.any(String) })
  expect(coalesced.message_ids.at(-1)).toBe(id)
  expect(subject).toMatch(/^Flood /)
  const announced = [...before.map(({ data }) => data.id), ...coalesced.message_ids]
  expect(announced.toSorted()).toEqual((await inbox('busy')).map((one) => one.id).toSorted())
})

test('a new window starts after the end, and a message after the limit was removed is announced', async () => {
  await harness.createAgent('again')
  await limit('again', { events: 1, window_seconds: 600 })
  await deliver('eve@example.org', 'again', 'One')
  await endWindows()
  await deliver('eve@example.org', 'again', 'Two')
  expect(await eventsOf('again')).toHaveLength(2)
  await deliver('eve@example.org', 'again', 'Three')
  expect(await eventsOf('again')).toHaveLength(2)
  await limit('again', null)
  await deliver('eve@example.org', 'again', 'Four')
  expect((await eventsOf('again')).map(({ data }) => data.subject)).toEqual(['One', 'Two', 'Four'])
  await endWindows()
  await waitFor('the held message', async () => (await eventsOf('again')).length === 4)
  expect((await eventsOf('again')).at(-1)?.data).toMatchObject({ subject: 'Three', coalesced: { count: 1 } })
})

test('a new tag for each message does not make new senders', async () => {
  await harness.createAgent('tagged')
  await limit('tagged', { events: 2, window_seconds: 600 })
  for (let index = 0; index < 6; index++) await deliver(`Eve <eve+${index}@example.org>`, 'tagged', `Tagged ${index}`)
  expect(await eventsOf('tagged')).toHaveLength(2)
  await endWindows()
  const joined = await waitFor('the joined event', async () => (await eventsOf('tagged'))[2])
  expect(joined.data.coalesced).toMatchObject({ count: 4, sender: 'eve@example.org' })
})
