// The list and the stream of events. Covers order, filters, resuming without gap or duplicate, slow readers, revoked keys, restarts and two servers.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { createEmit } from '../src/edges/postgres/event-log.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
const open: { close: () => void }[] = []

beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['one', 'two']) await harness.createAgent(handle)
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})
afterAll(() => harness.stop())

type Options = { key?: string; query?: string; lastEventId?: string; baseUrl?: string }

/** A reader of server-sent events that records them. */
async function follow({ key = harness.organizationKey, query = '', lastEventId, baseUrl = harness.baseUrl }: Options = {}) {
  const controller = new AbortController()
  const response = await fetch(`${baseUrl}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    signal: controller.signal,
  })
  const got: { id: string; payload: Json }[] = []
  let startId: string | undefined
  let isOver = false
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const fields = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const id = fields.find((field) => field.startsWith('id: '))?.slice(4)
        const data = fields.find((field) => field.startsWith('data: '))?.slice(6)
        if (id && data) got.push({ id, payload: JSON.parse(data) })
        else if (id) startId = id
      }
    }
  }
  if (response.status === 200)
    read()
      .catch(() => {})
      .finally(() => {
        isOver = true
      })
  const stream = {
    status: response.status,
    headers: response.headers,
    got,
    startId: () => startId,
    isOver: () => isOver,
    ids: () => got.map((one) => one.id),
    waitFor: (count: number) => waitFor(`${count} events on the stream`, () => got.length >= count),
    close: () => controller.abort(),
  }
  open.push(stream)
  return stream
}

const list = async (query = '', key = harness.organizationKey): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/events${query}`, { key })).data
const lastId = async (): Promise<string> => {
  let [cursor, last] = ['', '']
  for (;;) {
    const { data, next_cursor } = await harness.expectApi(200, 'GET', `/events?limit=100${cursor && `&cursor=${cursor}`}`)
    last = data.at(-1)?.id ?? last
    if (!next_cursor) return last
    cursor = next_cursor
  }
}
/** A message to an outside address, and its event. */
const sendOne = async (handle = 'one') => {
  const { id } = await harness.send(handle, 'x@example.com')
  await harness.waitForStatus(handle, id, 'sent')
  return id
}

describe('GET /events', () => {
  test('lists oldest first, in pages, with the payload of webhooks', async () => {
    const sent = [await sendOne(), await sendOne(), await sendOne()]
    const first = await harness.expectApi(200, 'GET', '/events?limit=2&types=email.sent')
    expect(first).toMatchObject({ object: 'list', has_more: true, next_cursor: first.data[1].id })
    const second = await harness.expectApi(200, 'GET', `/events?limit=2&types=email.sent&cursor=${first.next_cursor}`)
    expect(second).toMatchObject({ has_more: false, next_cursor: null })
    const all = [...first.data, ...second.data]
    expect(all.map((event) => event.data.id)).toEqual(sent)
    expect(all[0]).toMatchObject({
      type: 'email.sent',
      data: { status: 'sent', agent_handle: 'one', recipients: [{ address: 'x@example.com' }] },
    })
    expect(await list(`?cursor=${all[2].id}&types=email.sent`)).toEqual([])
  })

  test('an agent key sees its own agent, and naming another is 403', async () => {
    await sendOne('one')
    await sendOne('two')
    const key = await harness.agentKey('two')
    const own = await list('', key)
    expect(new Set(own.map((event) => event.data.agent_handle))).toEqual(new Set(['two']))
    expect(await list('?agent=two')).toEqual(own)
    expect((await harness.api('GET', '/events?agent=one', { key })).status).toBe(403)
    expect((await harness.api('GET', '/events?agent=nobody')).status).toBe(404)
    expect(await list('', harness.otherOrganization.key)).toEqual([])
  })

  test.each([
    ['/events?types=email.eaten', '/types'],
    ['/events?cursor=msg_01h455vb4pex5vsknk084sn02q', '/cursor'],
    ['/events?cursor=evt_7zzzzzzzzzzzzzzzzzzzzzzzzz', '/cursor'],
    ['/events?limit=0', '/limit'],
    ['/events/stream?after=nonsense', '/after'],
    ['/events/stream?types=x', '/types'],
  ])('%s is 400 naming the parameter', async (path, field) => {
    const answer = await harness.api('GET', path)
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, field])
  })

  test('since starts with the events of that time', async () => {
    const sent = await harness.send('one', 'someone@example.com', { subject: 'Since' })
    const before = new Date(Date.parse(sent.created_at) - 1).toISOString()
    await waitFor('the event of the message', async () => {
      const { data } = await harness.expectApi(200, 'GET', `/events?types=email.sent&since=${encodeURIComponent(before)}`)
      return data.some((event: Json) => event.data.id === sent.id)
    })
    const later = new Date(Date.now() + 3_600_000).toISOString()
    expect((await harness.expectApi(200, 'GET', `/events?since=${encodeURIComponent(later)}`)).data).toEqual([])
    expect((await harness.api('GET', '/events?since=yesterday')).status).toBe(400)
  })
})

describe('transactions that commit in another order than they began', () => {
  const begin = async () => {
    const db = connect({ connectionString: harness.environment.CALLSIGN_DATABASE_URL as string }, { poolSize: 1, log: createLog('silent') })
    const {
      key: { id: _ },
      organization_id,
    } = await harness.expectApi(200, 'GET', '/me')
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let emitted = () => {}
    const isEmitted = new Promise<void>((resolve) => {
      emitted = resolve
    })
    const done = db.transact(async (tx) => {
      await createEmit(() => {})(tx, [
        { type: 'tunnel.connected', organizationId: organization_id, identityId: null, subjectId: 'tun_none' },
      ])
      emitted()
      await held
    })
    await isEmitted
    return {
      commit: async () => {
        commit()
        await done
        await db.close()
      },
    }
  }

  test('neither a list nor a stream that has moved on misses the late event', async () => {
    const stream = await follow()
    const early = await begin()
    const late = await begin()
    await late.commit()
    await stream.waitFor(1)
    const cursor = await lastId()
    expect(cursor).toBe(stream.ids()[0])
    await early.commit()
    await stream.waitFor(2)
    const [missed] = await list(`?cursor=${cursor}`)
    // It was created first but arrives later, because its id sorts before the cursor.
    expect(missed.id < cursor).toBe(true)
    expect(stream.ids()).toEqual([cursor, missed.id])
    const again = await follow({ lastEventId: cursor })
    await again.waitFor(1)
    expect(again.ids()).toEqual([missed.id])
  })
})

describe('GET /events/stream', () => {
  test('is text/event-stream, starts at now, and sends events as they arrive', async () => {
    await sendOne()
    const stream = await follow()
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const id = await sendOne()
    await stream.waitFor(1)
    expect(stream.got[0]?.payload).toMatchObject({ id: stream.got[0]?.id, type: 'email.sent', data: { id } })
  })

  test('names its starting point, from which a reader that got no event yet resumes', async () => {
    const { key } = await harness.createOrganization('Starting point')
    const fresh = await follow({ key })
    const beginning = await waitFor('the start of an empty log', () => fresh.startId())
    await harness.createAgent('fresh', {}, key)
    await harness.expectApi(201, 'POST', '/mail/send', { key, body: { agent: 'fresh', to: ['x@example.com'], subject: 'a', text: 'b' } })
    await fresh.waitFor(1)
    const resumed = await follow({ key, lastEventId: beginning })
    await resumed.waitFor(1)
    expect(resumed.ids()).toEqual(fresh.ids())
    expect(resumed.startId()).toBeUndefined()

    await sendOne()
    const stream = await follow({ query: '?types=email.bounced' })
    expect(await waitFor('the start', () => stream.startId())).toBe(await lastId())
  })

  test('resumes after Last-Event-ID or after=, the header first', async () => {
    const start = await lastId()
    for (let i = 0; i < 5; i++) await sendOne()
    const ids = (await list(`?cursor=${start}`)).map((event) => event.id)
    expect(ids.length).toBe(5)
    const [byQuery, byHeader] = [
      await follow({ query: `?after=${start}` }),
      await follow({ query: `?after=${start}`, lastEventId: ids[2] as string }),
    ]
    await byQuery.waitFor(5)
    await byHeader.waitFor(2)
    expect([byQuery.ids(), byHeader.ids()]).toEqual([ids, ids.slice(3)])
  })

  test('filters by agent and types, and limits an agent key to its own', async () => {
    const key = await harness.agentKey('two')
    const [byAgent, byType, own] = [
      await follow({ query: '?agent=two' }),
      await follow({ query: '?types=email.received' }),
      await follow({ key }),
    ]
    const before = await lastId()
    await harness.send('one', 'two@agents.localhost')
    await waitFor('three events', async () => (await list(`?cursor=${before}`)).length === 3)
    await sendOne('two')
    for (const stream of [byAgent, own]) {
      await stream.waitFor(2)
      expect(stream.got.map(({ payload }) => payload.type)).toEqual(['email.received', 'email.sent'])
    }
    await byType.waitFor(1)
    expect(byType.got.map(({ payload }) => payload.type)).toEqual(['email.received'])
    expect((await follow({ key, query: '?agent=one' })).status).toBe(403)
    expect((await follow({ key: 'svc_live_nonsense' })).status).toBe(401)
  })

  test('a revoked key closes its streams, and no other', async () => {
    const made = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Streaming', type: 'organization' } })
    const [gone, kept] = [await follow({ key: made.key }), await follow()]
    await harness.expectApi(200, 'DELETE', `/keys/${made.id}`)
    await waitFor('the stream to end', () => gone.isOver())
    await sendOne()
    await kept.waitFor(1)
    expect(gone.got).toEqual([])
  })

  test('HEAD answers with the headers alone', async () => {
    const response = await fetch(`${harness.baseUrl}/api/v1/events/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${harness.organizationKey}` },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })

  test('a reader that does not read is disconnected, and its unread events remain', async () => {
    const start = await lastId()
    const controller = new AbortController()
    for (let i = 0; i < 60; i++)
      await harness.deliver({ from: 'a@example.com', to: 'two@agents.localhost', subject: `Large ${i}`, text: 'x'.repeat(300_000) })
    const response = await fetch(`${harness.baseUrl}/api/v1/events/stream?after=${start}`, {
      headers: { authorization: `Bearer ${harness.organizationKey}` },
      signal: controller.signal,
    })
    await waitFor('the cut', () => harness.logLines().some((line) => line.includes('its client read too slowly')), 30_000)
    let bytes = 0
    await (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length
    })().catch(() => {})
    expect(bytes).toBeLessThan(60 * 256 * 1024)
    const again = await follow({ query: `?after=${start}` })
    await again.waitFor(60)
    expect(new Set(again.ids()).size).toBe(60)
  })
})

describe('servers that start and stop', () => {
  test('a reader that follows two servers and their restarts gets every event once, in one order', async () => {
    const settings = {
      ...harness.environment,
      CALLSIGN_PORT: '0',
      CALLSIGN_SMTP_PORT: 'off',
      CALLSIGN_BOOTSTRAP_API_KEY: harness.organizationKey,
    }
    const startOther = () => startApp(readConfig(settings), createLog('silent'))
    let other = await startOther()
    const start = await lastId()
    const witness = await follow()
    const got: string[] = []
    let isDone = false
    const sending = (async () => {
      for (let i = 0; i < 40; i++) await harness.send('one', 'x@example.com')
    })()
    // Each round reads a few events from one server and continues at the other. The second is restarted repeatedly.
    const reading = (async () => {
      let last = start
      for (let round = 0; !isDone; round++) {
        const baseUrl = round % 2 === 0 ? harness.baseUrl : `http://127.0.0.1:${other.httpPort}`
        const stream = await follow({ baseUrl, lastEventId: last })
        await waitFor('a few events', () => stream.got.length >= 3 || isDone)
        if (round % 2 === 1) {
          await other.stop()
          await waitFor('the stream to end with its server', () => stream.isOver())
          other = await startOther()
        }
        stream.close()
        got.push(...stream.ids())
        last = got.at(-1) ?? start
      }
    })()
    await sending
    await witness.waitFor(40)
    await waitFor('the reader to have most', () => got.length >= 30)
    isDone = true
    await reading
    await other.stop()
    const all = (await list(`?cursor=${start}&limit=100`)).map((event) => event.id)
    expect(all.length).toBe(40)
    expect(witness.ids()).toEqual(all)
    expect(got).toEqual(all.slice(0, got.length))
  })
})
