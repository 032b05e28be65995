// Events that are read once, and bodies that are built once, for many webhooks.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventRow, Payload } from '../log/model.ts'
import { createEventBodies } from './event-bodies.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const rowOf = (id: string): EventRow => ({
  id,
  organization_id: 'org_1',
  identity_id: null,
  agent_handle: null,
  type: 'email.received',
  subject_id: 'msg_1',
  data: {},
  created_at: new Date(0),
})

/** Bodies of events that exist unless their id starts with "gone". */
function build(textOf = (id: string): string => id) {
  const read: string[][] = []
  const built: string[] = []
  const bodies = createEventBodies(
    {
      async find(ids) {
        read.push(ids)
        return new Map(ids.filter((id) => !id.startsWith('gone')).map((id) => [id, rowOf(id)]))
      },
      async payloadOf({ id }, hasLinks) {
        built.push(`${id} ${hasLinks}`)
        return { id: textOf(id) } as Payload
      },
    },
    { callsign: (payload) => payload, resend: () => 'resend', agentmail: () => 'agentmail' },
  )
  return { bodies, read, built }
}

test('an event is read once within two seconds, and a deleted one is missing', async () => {
  const { bodies, read } = build()
  expect([...(await bodies.find(['a', 'b', 'a', 'gone'])).keys()]).toEqual(['a', 'b'])
  expect([...(await bodies.find(['b', 'c'])).keys()]).toEqual(['b', 'c'])
  vi.advanceTimersByTime(1999)
  await bodies.find(['a'])
  expect(read).toEqual([['a', 'b', 'gone'], ['c']])
  vi.advanceTimersByTime(1)
  await bodies.find(['a'])
  expect(read.at(-1)).toEqual(['a'])
})

test('a body is built once per format and kind of link within two seconds', async () => {
  const { bodies, built } = build()
  const one = rowOf('a')
  const made = await Promise.all([bodies.bodyOf(one, true, 'callsign'), bodies.bodyOf(one, true, 'callsign')])
  expect(made.map(String)).toEqual(['{"id":"a"}', '{"id":"a"}'])
  expect(String(await bodies.bodyOf(one, true, 'resend'))).toBe('"resend"')
  await bodies.bodyOf(one, false, 'callsign')
  expect(built).toEqual(['a true', 'a true', 'a false'])
  vi.advanceTimersByTime(2000)
  await bodies.bodyOf(one, true, 'callsign')
  expect(built).toHaveLength(4)
})

test('large bodies, and more than 8 MB of them, are not kept', async () => {
  const { bodies, built } = build((id) => 'x'.repeat(id.startsWith('large') ? 40_000 : 30_000))
  for (let i = 0; i < 2; i++) await bodies.bodyOf(rowOf('large'), true, 'callsign')
  expect(built).toHaveLength(2)
  for (let i = 0; i < 290; i++) await bodies.bodyOf(rowOf(`event ${i}`), true, 'callsign')
  await bodies.bodyOf(rowOf('event 289'), true, 'callsign')
  expect(built).toHaveLength(292)
  await bodies.bodyOf(rowOf('event 0'), true, 'callsign')
  expect(built).toHaveLength(293)
})

test('a body that failed is built again', async () => {
  let isDown = true
  const { bodies } = build((id) => {
    if (isDown) throw new Error('down')
    return id
  })
  await expect(bodies.bodyOf(rowOf('a'), true, 'callsign')).rejects.toThrow('down')
  isDown = false
  expect(String(await bodies.bodyOf(rowOf('a'), true, 'callsign'))).toBe('{"id":"a"}')
})
