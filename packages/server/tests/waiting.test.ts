// GET /mailboxes/{address}/wait. Covers the next matching message, gaps between polls, several servers, many waiting clients, and clients and servers
// that disconnect.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { type Harness, type Json, readMetrics, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY: '0' })
  for (const handle of ['one', 'two', 'three']) await harness.createAgent(handle)
})
afterAll(() => harness.stop())

const mail = (to: string, subject: string, text = 'Hello', from = 'Eve <eve@example.org>') =>
  harness.deliver({ from, to: `${to}@agents.localhost`, subject, text })
const wait = (handle: string, query = ''): Promise<Json> => harness.expectApi(200, 'GET', `/mailboxes/${handle}/wait${query}`)

/** Starts a wait for new messages, and resolves while it waits. */
async function begin(handle: string, query = '?timeout=20', ask: { key?: string } = {}) {
  const { cursor } = await wait(handle, '?timeout=0')
  const before = await openRequests()
  const answer = harness.api('GET', `/mailboxes/${handle}/wait${query}&cursor=${cursor}`, ask)
  answer.catch(() => {})
  await waitFor('the wait to be open', async () => (await openRequests()) > before)
  return { answer }
}
const openRequests = async (): Promise<number> => {
  const text = await harness.metrics()
  return Number(/^http_requests_in_flight (\d+)/m.exec(text)?.[1])
}

describe('messages that end a wait', () => {
  test('the next message to arrive comes whole, with its codes and a cursor, and earlier ones do not', async () => {
    await mail('one', 'Before', 'Your login code is 111111.')
    const { answer } = await begin('one', '?timeout=20')
    await mail('one', 'Now', 'Your login code is 482913.')
    const { status, body } = await answer
    expect(status).toBe(200)
    expect(body.message).toMatchObject({ subject: 'Now', from: 'eve@example.org', text: 'Your login code is 482913.' })
    expect(body.message.codes).toMatchObject([{ kind: 'one_time_code', value: '482913', purpose: 'sign_in' }])
    // Links are signed for each answer.
    const { raw_url: _link, ...message } = body.message
    const { raw_url: _other, ...read } = await harness.getMessage('one', body.message.id)
    expect(message).toEqual(read)
  })

  test.each([
    ['from=BANK', 'Plain', 'no code', 'Merlin Bank <no-reply@merlin.example>'],
    ['from=merlin.example', 'Plain', 'no code', 'no-reply@merlin.example'],
    ['subject=your%20CODE', 'Here is your code', 'no', 'a@example.org'],
    ['has_code=true', 'Plain', 'Your code is 551177', 'a@example.org'],
    ['has_code=false', 'Only words', 'Nothing here', 'a@example.org'],
    [
      'code_kind=confirmation_link',
      'Verify your email',
      'Verify your email: https://a.example/verify?token=9f8a7c6b5d4e3f2a',
      'a@example.org',
    ],
    ['code_kind=one_time_code&from=a@example.org', 'Plain', 'Your code is 551177', 'a@example.org'],
    ['to=two%2Bshop@agents.localhost', 'To the tag', 'no', 'a@example.org'],
  ])('?%s passes over others', async (filter, subject, text, from) => {
    const { answer } = await begin('two', `?timeout=20&${filter}`)
    // A message that fails every filter. It has a code exactly when the filter excludes codes.
    await mail('two', 'Decoy', filter.startsWith('has_code=false') ? 'Your code is 909090' : 'Nothing', 'decoy@example.net')
    await harness.deliver({ from, to: filter.startsWith('to=') ? 'two+shop@agents.localhost' : 'two@agents.localhost', subject, text })
    expect((await answer).body.message).toMatchObject({ subject })
  })

  test('a thread filter waits for the answer to a sent message', async () => {
    const sent = await harness.send('one', 'eve@example.org', { subject: 'A question' })
    const { answer } = await begin('one', `?timeout=20&thread_id=${sent.thread_id}`)
    await mail('one', 'Another thread')
    const { message_id } = await harness.getMessage('one', sent.id)
    await harness.deliver({
      from: 'eve@example.org',
      to: 'one@agents.localhost',
      subject: 'Re: A question',
      text: 'Yes',
      inReplyTo: message_id,
    })
    expect((await answer).body.message).toMatchObject({ subject: 'Re: A question', thread_id: sent.thread_id })
  })

  test('mail of other agents, outbound mail and quarantined mail do not end a wait, and released mail does', async () => {
    await harness.expectApi(201, 'POST', '/identities/three/mail-rules', {
      body: { direction: 'inbound', action: 'block', entry: 'blocked.example' },
    })
    const { answer } = await begin('three', '?timeout=20')
    await mail('two', 'For two')
    await harness.send('three', 'eve@example.org', { subject: 'Outbound' })
    await mail('three', 'Held', 'x', 'a@blocked.example')
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/three/messages?status=quarantined')
    await harness.expectApi(200, 'POST', `/mailboxes/three/messages/${data[0].id}/release`)
    expect((await answer).body.message).toMatchObject({ id: data[0].id, status: 'received' })
  })

  test.each([
    ['timeout=61', '/timeout'],
    ['timeout=-1', '/timeout'],
    ['cursor=nonsense', '/cursor'],
    ['cursor=evt_7zzzzzzzzzzzzzzzzzzzzzzzzz', '/cursor'],
    ['after=yesterday', '/after'],
    ['after=2026-01-01T00:00:00Z&cursor=start', '/cursor'],
    ['code_kind=secret', '/code_kind'],
  ])('?%s is 400 naming the parameter', async (query, field) => {
    const { status, body } = await harness.api('GET', `/mailboxes/one/wait?${query}`)
    expect([status, body.error.details?.[0]?.path]).toEqual([400, field])
  })
})

describe('nothing is missed', () => {
  test('polling by cursor gives every message once, in order, in a mailbox that was empty', async () => {
    await harness.createAgent('polls')
    let { message, cursor } = await wait('polls', '?timeout=0')
    expect(message).toBe(null)
    for (const number of [1, 2, 3, 4, 5]) await mail('polls', `Number ${number}`)
    const got: string[] = []
    for (;;) {
      ;({ message, cursor } = await wait('polls', `?timeout=0&cursor=${cursor}`))
      if (!message) break
      got.push(message.subject)
    }
    expect(got).toEqual([1, 2, 3, 4, 5].map((number) => `Number ${number}`))
    await mail('polls', 'Number 6')
    expect((await wait('polls', `?timeout=0&cursor=${cursor}`)).message.subject).toBe('Number 6')
  })

  test('a cursor behind a filter without matches skips the messages already checked', async () => {
    await harness.createAgent('filters')
    const { cursor } = await wait('filters', '?timeout=0')
    await mail('filters', 'Not wanted')
    const next = await wait('filters', `?timeout=0&cursor=${cursor}&subject=wanted-one`)
    expect(next.message).toBe(null)
    expect((await wait('filters', `?timeout=0&cursor=${next.cursor}`)).message).toBe(null)
  })

  test('a message that arrives while a wait times out is behind its cursor or in its answer', async () => {
    await harness.createAgent('racing')
    const sending = (async () => {
      for (let number = 0; number < 25; number++) await mail('racing', `${number}`)
    })()
    let cursor = 'start'
    const got: string[] = []
    await waitFor('all of them', async () => {
      const answer = await wait('racing', `?timeout=${got.length % 2}&cursor=${cursor}`)
      cursor = answer.cursor
      if (answer.message) got.push(answer.message.subject)
      return got.length >= 25
    })
    await sending
    expect(got).toEqual(Array.from({ length: 25 }, (_, number) => `${number}`))
  })

  test('after gives messages since a time, even from before the request', async () => {
    await harness.createAgent('since')
    await mail('since', 'Too early')
    const { created_at } = (await harness.expectApi(200, 'GET', '/mailboxes/since/messages')).data[0]
    const after: string = created_at
    await waitFor('the clock to move on', () => Date.now() > Date.parse(after))
    await mail('since', 'In time')
    expect((await wait('since', `?timeout=20&after=${after}`)).message.subject).toBe('In time')
    expect((await wait('since', `?timeout=0&after=${new Date(Date.now() + 60_000).toISOString()}`)).message).toBe(null)
    expect((await wait('since', '?timeout=0&after=2020-01-01T00:00:00Z')).message.subject).toBe('Too early')
  })

  test('a filter that matches nothing in a long history answers early, with a cursor that leads through it', async () => {
    await harness.createAgent('history')
    await mail('history', 'First')
    const { data } = await harness.expectApi(200, 'GET', '/events?agent=history')
    await harness.db.query({
      text: `INSERT INTO events (id, organization_id, identity_id, type, subject_id, created_at)
        SELECT 'evt_' || left(substr(id, 5), 13) || lpad(n::text, 13, '0'), organization_id, identity_id, type, subject_id, created_at
        FROM events, generate_series(1, 1200) n WHERE id = $1`,
      values: [data[0].id],
    })
    let [cursor, polls] = ['start', 0]
    for (let message = null; polls < 10 && message === null; polls++)
      ({ cursor, message } = await wait('history', `?timeout=0&cursor=${cursor}&subject=missing`))
    expect(polls).toBe(10)
    await mail('history', 'Now missing')
    expect((await wait('history', `?timeout=20&cursor=${cursor}&subject=missing`)).message.subject).toBe('Now missing')
  })
})

describe('servers and clients', () => {
  test('mail that another server took wakes a wait here', async () => {
    const other = await startApp(readConfig({ ...harness.environment, CALLSIGN_SMTP_PORT: 'off' }), createLog('silent'))
    try {
      const { cursor } = await wait('one', '?timeout=0')
      const answer = fetch(`http://127.0.0.1:${other.httpPort}/api/v1/mailboxes/one/wait?timeout=20&cursor=${cursor}`, {
        headers: { authorization: `Bearer ${harness.organizationKey}` },
      })
      const inFlight = async () => Number(/^http_requests_in_flight (\d+)/m.exec(await readMetrics(other.metricsPort))?.[1])
      await waitFor('the wait to be open', async () => (await inFlight()) > 0)
      await mail('one', 'From elsewhere')
      const { message } = (await (await answer).json()) as Json
      expect(message.subject).toBe('From elsewhere')
    } finally {
      await other.stop()
    }
  })

  test('an agent key waits for its own mailbox only, and revocation ends its wait with 401', async () => {
    const { key, id } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'x', type: 'agent', agent_handle: 'one' } })
    expect((await harness.api('GET', '/mailboxes/two/wait', { key })).status).toBe(403)
    expect((await harness.api('GET', '/mailboxes/one/wait', { key: harness.otherOrganization.key })).status).toBe(404)
    const { answer } = await begin('one', '?timeout=60', { key })
    await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    expect((await answer).body.error.code).toBe('unauthorized')
  })

  test('a client that goes is forgotten, and HEAD does not wait', async () => {
    const before = await openRequests()
    const controller = new AbortController()
    const gone = fetch(`${harness.baseUrl}/api/v1/mailboxes/one/wait?timeout=60`, {
      headers: { authorization: `Bearer ${harness.organizationKey}` },
      signal: controller.signal,
    })
    await waitFor('the wait to be open', async () => (await openRequests()) > before)
    controller.abort()
    await expect(gone).rejects.toThrow()
    await waitFor('the request to be over', async () => (await openRequests()) === before)
    const { status } = await fetch(`${harness.baseUrl}/api/v1/mailboxes/one/wait?timeout=60`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${harness.organizationKey}` },
    })
    expect(status).toBe(200)
  })
})

test('a stopping server answers waiting requests with a cursor to continue from', async () => {
  const own = await startHarness()
  await own.createAgent('ann')
  const answer = own.api('GET', '/mailboxes/ann/wait?timeout=60')
  await waitFor('the wait to be open', async () => /^http_requests_in_flight [1-9]/m.test(await own.metrics()))
  await own.stop()
  expect(await answer).toMatchObject({ status: 200, body: { message: null, cursor: 'start' } })
})
