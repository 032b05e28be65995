// The recorder of API requests: groups, and the effect of a slow or failing database.
import { operations } from '@callsign/contract'
import type { Operation } from '@callsign/contract/operation'
import { Registry } from 'prom-client'
import { expect, test, vi } from 'vitest'
import { createLog } from '../../../core/log.ts'
import type { RequestEntry, SeenRequest } from './model.ts'
import { createRequestRecorder, toEntry } from './recorder.ts'

const operationOf = (id: string): Operation => operations.find((one) => one.id === id) as Operation
const seen = (id: string, more: Partial<SeenRequest> = {}): SeenRequest => ({
  id,
  organizationId: 'org_1',
  keyId: 'key_1',
  operation: operationOf('getCaller'),
  params: undefined,
  query: undefined,
  body: undefined,
  status: 200,
  errorCode: null,
  durationMs: 1.4,
  ...more,
})

function setUp(write: (entries: RequestEntry[]) => Promise<void>) {
  const registry = new Registry()
  const recorder = createRequestRecorder({ write, registry, log: createLog('silent') })
  const dropped = async () => (await registry.getSingleMetric('callsign_request_log_dropped_total')?.get())?.values[0]?.value
  return { recorder, dropped }
}

test('writes what was noted in one group, in order', async () => {
  const groups: string[][] = []
  const { recorder, dropped } = setUp(async (entries) => void groups.push(entries.map(({ id }) => id)))
  const ids = Array.from({ length: 230 }, (_, index) => `req_${index}`)
  for (const id of ids) recorder.note(seen(id))
  expect(groups).toEqual([])
  await recorder.flush()
  expect([groups, await dropped()]).toEqual([[ids], 0])
})

test('takes 500 entries per interval, at most 250 of them successful reads, and counts those that it drops', async () => {
  const written: string[] = []
  const { recorder, dropped } = setUp(async (entries) => void written.push(...entries.map(({ id }) => id)))
  for (let index = 0; index < 400; index++) recorder.note(seen(`read_${index}`))
  for (let index = 0; index < 300; index++)
    recorder.note(seen(`other_${index}`, index % 2 ? { status: 400 } : { operation: operationOf('sendMail') }))
  await recorder.flush()
  expect([written.length, written.filter((id) => id.startsWith('other')).length]).toEqual([500, 250])
  expect(await dropped()).toBe(200)
  recorder.note(seen('read_later'))
  await recorder.flush()
  expect(written.at(-1)).toBe('read_later')
})

test('writes half a second after the first entry, without a call of flush', async () => {
  vi.useFakeTimers()
  try {
    const groups: string[][] = []
    const { recorder } = setUp(async (entries) => void groups.push(entries.map(({ id }) => id)))
    const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
    recorder.note(seen('req_1'))
    await pass(300)
    recorder.note(seen('req_2'))
    await pass(199)
    expect(groups).toEqual([])
    await pass(1)
    expect(groups).toEqual([['req_1', 'req_2']])
    recorder.note(seen('req_3'))
    await pass(500)
    expect(groups).toEqual([['req_1', 'req_2'], ['req_3']])
  } finally {
    vi.useRealTimers()
  }
})

test('notes without waiting while a write hangs, up to 20,000 entries', async () => {
  const hanging = Promise.withResolvers<void>()
  const written: string[] = []
  const { recorder, dropped } = setUp(async (entries) => {
    await hanging.promise
    written.push(...entries.map(({ id }) => id))
  })
  const flushes: Promise<void>[] = []
  for (let index = 0; index < 20_050; index++) {
    recorder.note(seen(`req_${index}`))
    if (index % 250 === 249) flushes.push(recorder.flush())
  }
  expect(await dropped()).toBe(50)
  hanging.resolve()
  await Promise.all(flushes)
  expect([written.length, written[0], written.at(-1)]).toEqual([20_000, 'req_0', 'req_19999'])
})

test('drops and counts a group that cannot be written, and goes on with the next', async () => {
  const written: string[] = []
  let isDown = true
  const { recorder, dropped } = setUp(async (entries) => {
    if (isDown) throw new Error('down')
    written.push(...entries.map(({ id }) => id))
  })
  recorder.note(seen('req_1'))
  await recorder.flush()
  isDown = false
  recorder.note(seen('req_2'))
  await recorder.flush()
  expect([written, await dropped()]).toEqual([['req_2'], 1])
})

test('keeps ids of the path and known names, and no other value', () => {
  const entry = toEntry(
    seen('req_1', {
      operation: operationOf('listMessages'),
      params: { email_address: 'ann@example.com' },
      query: { limit: '5', from: 'eve@example.com', hidden: 'secret', __proto__: { subject: 'x' } },
    }),
  )
  expect(entry).toMatchObject({ path: '/api/v1/mailboxes/{email_address}/messages', durationMs: 1 })
  expect(entry.fields.toSorted()).toEqual(['from', 'limit'])
  expect(JSON.stringify(entry)).not.toMatch(/example|secret|hidden/)
  const deletion = operationOf('deleteMessage')
  const pathOf = (id: string) => toEntry(seen('req_1', { operation: deletion, params: { email_address: 'ann', message_id: id } })).path
  expect(pathOf('msg_01kq2x9c7hfm4t8e5v3n6w1rzb')).toContain('msg_01kq2x9c7hfm4t8e5v3n6w1rzb')
  for (const other of ['msg_01kq2x9c7hfm4t8e5v3n6w1rz', 'svc_live_01kq2x9c7hfm4t8e5v3n6w1rzb', '__proto__', 'constructor_x'])
    expect(pathOf(other)).toBe('/api/v1/mailboxes/{email_address}/messages/{message_id}')
  expect(toEntry(seen('req_1', { operation: operationOf('sendMail'), body: 'secret' })).fields).toEqual([])
  expect(toEntry(seen('req_1', { operation: operationOf('sendMail'), body: new Error('secret') })).fields).toEqual([])
})
