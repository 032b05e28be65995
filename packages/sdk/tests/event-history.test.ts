// Readers of events after a failover: one that lost nothing goes unnoticed, and one that lost events is reported, although positions are given again.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../server/src/core/log.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../server/src/edges/postgres/embedded/supervisor.ts'
import { type DatabaseSwitch, startDatabaseSwitch } from '../../server/tests/harness/database-switch.ts'
import { type Harness, type Json, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { Callsign, type CallsignEvent } from '../src/index.ts'

let folder: string
let primary: EmbeddedPostgres
let address: DatabaseSwitch
let harness: Harness
let servers = 0
const end = new AbortController()

const directoryOf = (number: number): string => join(folder, String(number))
const start = (number: number) =>
  startEmbedded({ dataDir: directoryOf(number), log: createLog('silent'), settings: { fsync: 'off', full_page_writes: 'off' } })

/** Stops the primary and keeps a copy of it. `restore` starts the copy in its place. */
async function copyPrimary(): Promise<{ restore: () => Promise<void> }> {
  await primary.stop()
  const [from, to] = [directoryOf(servers), directoryOf(++servers)]
  const copied = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (copied.status !== 0) throw new Error(copied.stderr)
  return {
    restore: async () => {
      primary = await start(servers)
      address.turnTo(primary.connection)
    },
  }
}

/** Starts the server of a copied directory again. */
async function resume(): Promise<void> {
  primary = await start(servers - 1)
  address.turnTo(primary.connection)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'callsign-history-'))
  chmodSync(folder, 0o711)
  primary = await start(0)
  address = await startDatabaseSwitch(primary.connection)
  const { user, database } = primary.connection
  harness = await startHarness({ CALLSIGN_DATABASE_URL: `postgres://${user}@127.0.0.1:${address.port}/${database}` })
  for (const handle of ['ada', 'bob']) await harness.createAgent(handle)
})
afterAll(async () => {
  end.abort()
  await harness?.stop()
  await address?.stop()
  await primary?.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Reset = { lost: string; after: string }

/** A reader of the SDK with everything that it got. */
async function read(transport: 'sse' | 'websocket') {
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  const events: CallsignEvent[] = []
  const resets: Reset[] = []
  const started = Promise.withResolvers<string>()
  const reading = (async () => {
    const options = { transport, signal: end.signal, onStart: started.resolve, types: 'email.sent' }
    const onReset = (lost: string, after: string) => void resets.push({ lost, after })
    for await (const event of client.events.follow({ ...options, onReset })) events.push(event)
  })()
  reading.catch(started.reject)
  await started.promise
  return { events, resets, has: (id: string) => events.some(({ data }) => data.id === id) }
}

/** Sends a message as soon as the database is there, and resolves with its id. */
const send = (): Promise<string> =>
  waitFor('a message to be sent', async () => {
    const answer = await harness.api('POST', '/mail/send', {
      body: { agent: 'ada', to: ['x@example.com'], subject: 'Hello', text: 'Hello there' },
    })
    return answer.status === 201 && answer.body.id
  })

test('after a failover that lost nothing, readers continue. After one that lost events, they get them reported and miss no new one', async () => {
  const readers = [await read('sse'), await read('websocket')]
  const waiting: Promise<Json> = harness.expectApi(200, 'GET', '/mailboxes/bob@agents.localhost/wait?timeout=60&subject=late')
  const allHave = (ids: string[]) => waitFor('every reader to have these', () => readers.every((one) => ids.every(one.has)))
  await allHave([await send(), await send()])

  const sameHistory = await copyPrimary()
  await sameHistory.restore()
  await allHave([await send(), await send()])
  expect(readers.map(({ resets }) => resets)).toEqual([[], []])

  const earlier = await copyPrimary()
  await resume()
  const lost: string[] = []
  for (let i = 0; i < 5; i++) lost.push(await send())
  await allHave(lost)
  const cursors = readers.map(({ events }) => events.at(-1)?.id as string)
  await primary.stop()
  await earlier.restore()

  // As many as were lost, so that each gets the position of a lost one.
  const after: string[] = []
  for (let i = 0; i < 6; i++) after.push(await send())
  await allHave(after)
  expect(readers.map(({ resets }) => resets.map((one) => one.lost))).toEqual(cursors.map((cursor) => [cursor]))
  const kept = new Set((await harness.expectApi(200, 'GET', '/events?types=email.sent&limit=100')).data.map((one: Json) => one.data.id))
  for (const { events } of readers) {
    const fresh = events.slice(events.findIndex(({ id }) => id === cursors[0]) + 1).map(({ data }) => data.id as string)
    expect(fresh.filter((id) => after.includes(id)).sort()).toEqual(after.toSorted())
    expect(fresh.every((id) => kept.has(id))).toBe(true)
  }

  const [cursor = ''] = cursors
  const refused = await harness.expectApi(410, 'GET', `/events?cursor=${cursor}`)
  expect(refused.error.code).toBe('cursor_lost')
  const [, since] = /since=(\S+) /.exec(refused.error.message) ?? []
  const listed = await harness.expectApi(200, 'GET', `/events?types=email.sent&limit=100&since=${since}`)
  expect(listed.data.map((one: Json) => one.data.id)).toEqual(expect.arrayContaining(after))

  await harness.deliver({ from: 'eve@example.org', to: 'bob@agents.localhost', subject: 'late', text: 'late' })
  expect((await waiting).message.subject).toBe('late')
  const again = await harness.expectApi(200, 'GET', `/mailboxes/bob@agents.localhost/wait?timeout=0&cursor=${cursor}`)
  expect(again.message.subject).toBe('late')
})
