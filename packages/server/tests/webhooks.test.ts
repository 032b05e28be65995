// Webhooks end to end. Covers subscriptions with every field and operation, signatures, retries, dead letters, replays, disabling and the log.
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
const receivers: Receiver[] = []

const receive = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given)
  receivers.push(receiver)
  return receiver
}
const subscribe = (url: string, more: Record<string, unknown> = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/webhooks', { body: { url, events: ['*'], ...more } })
const deliveriesOf = async (id: string, query = ''): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/webhooks/${id}/deliveries${query}`)).data
const remove = (id: string) => harness.expectApi(200, 'DELETE', `/webhooks/${id}`)

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_WEBHOOK_RETRY_SECONDS: '0.05,0.1,0.1' })
  for (const handle of ['one', 'two']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
})

describe('delivery', () => {
  test('mail between agents arrives as signed events with the whole message', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url, { events: ['email.received', 'email.delivered'] })
    const sent = await harness.send('one', 'two@agents.localhost', { subject: 'Event me', text: 'The text', html: '<p>The text</p>' })
    await receiver.waitFor(2)
    const payloads = receiver.payloads()
    expect(payloads.map((payload) => payload.type).sort()).toEqual(['email.delivered', 'email.received'])
    const inbound = payloads.find((payload) => payload.type === 'email.received')
    expect(inbound).toMatchObject({
      id: expect.stringMatching(/^evt_[0-7][0-9a-z]{25}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        id: expect.stringMatching(/^msg_/),
        agent_handle: 'two',
        direction: 'inbound',
        status: 'received',
        subject: 'Event me',
        html: '<p>The text</p>',
        truncated: false,
      },
    })
    expect(Object.keys(inbound)).toEqual(['id', 'type', 'timestamp', 'data'])
    expect(payloads.find((payload) => payload.type === 'email.delivered').data).toMatchObject({ id: sent.id, status: 'delivered' })
    for (const { headers, body } of receiver.received) {
      expect(headers['content-type']).toBe('application/json')
      const text = body.toString()
      const given = headers as Record<string, string>
      expect(new StandardWebhook(webhook.secret).verify(text, given)).toEqual(JSON.parse(text))
      expect(new SvixWebhook(webhook.secret).verify(text, given)).toEqual(JSON.parse(text))
      expect(() => new StandardWebhook(webhook.secret).verify(text.replace('Event', 'Evil!'), given)).toThrow()
      expect(headers['webhook-id']).toBe(JSON.parse(text).id)
    }
    const log = await waitFor('two deliveries in the log', async () => {
      const rows = await deliveriesOf(webhook.id, '?status=delivered')
      return rows.length === 2 && rows
    })
    expect(log[0]).toMatchObject({
      webhook_id: webhook.id,
      status: 'delivered',
      attempt_count: 1,
      last_status_code: 200,
      last_error_code: null,
      next_attempt_at: null,
    })
    await remove(webhook.id)
  })

  test('a failing endpoint is tried again with the same webhook-id and a fresh timestamp, until it takes the event', async () => {
    let refusals = 2
    const receiver = await receive(() => (refusals-- > 0 ? { status: 500, body: 'not now' } : { status: 204 }))
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    await harness.send('one', 'x@example.com')
    const posts = await receiver.waitFor(3)
    expect(new Set(posts.map((post) => post.headers['webhook-id'])).size).toBe(1)
    const [row] = await waitFor('the delivery', async () => {
      const rows = await deliveriesOf(webhook.id, '?status=delivered')
      return rows.length === 1 && rows
    })
    const detail = await harness.expectApi(200, 'GET', `/webhooks/deliveries/${row.id}`)
    expect(detail.attempts.map((one: Json) => [one.attempt, one.status_code, one.error_code, one.response_snippet])).toEqual([
      [1, 500, 'http_5xx', 'not now'],
      [2, 500, 'http_5xx', 'not now'],
      [3, 204, null, ''],
    ])
    expect(detail.event).toEqual(JSON.parse((posts[0] as { body: Buffer }).body.toString()))
    expect(posts.every((post) => post.body.equals((posts[0] as { body: Buffer }).body))).toBe(true)
    await remove(webhook.id)
  })

  test('when the schedule is used up it is a dead letter, which can be replayed by id and by time range', async () => {
    let status = 404
    const receiver = await receive(() => ({ status }))
    const webhook = await subscribe(receiver.url, { events: ['email.failed', 'email.sent'] })
    const since = new Date().toISOString()
    await harness.send('one', 'x@example.com')
    const dead = await waitFor('a dead letter', async () => (await deliveriesOf(webhook.id, '?status=failed'))[0])
    expect(dead).toMatchObject({
      attempt_count: 4,
      last_status_code: 404,
      last_error_code: 'http_4xx',
      next_attempt_at: null,
      delivered_at: null,
    })
    expect(await deliveriesOf(webhook.id, '?status=delivered')).toEqual([])
    status = 200
    const replayed = await harness.expectApi(200, 'POST', `/webhooks/deliveries/${dead.id}/replay`)
    expect(replayed).toMatchObject({ id: dead.id, status: 'pending' })
    await waitFor('the replay', async () => (await deliveriesOf(webhook.id, '?status=delivered'))[0])
    const ids = receiver.received.map((post) => post.headers['webhook-id'])
    expect(new Set(ids)).toEqual(new Set([dead.event_id]))
    expect(ids.length).toBe(5)
    const range = await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/replay`, { body: { since, status: 'failed' } })
    expect(range).toEqual({ webhook_id: webhook.id, replayed: 0, has_more: false, next_since: null })
    const all = await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/replay`, { body: { since } })
    expect(all.replayed).toBe(1)
    await receiver.waitFor(6)
    const future = await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/replay`, {
      body: { since, until: new Date(Date.parse(since) + 1).toISOString() },
    })
    expect(future.replayed).toBe(0)
    expect(
      (await harness.api('POST', `/webhooks/${webhook.id}/replay`, { body: { since, until: since } })).body.error.details[0].path,
    ).toBe('/until')
    await remove(webhook.id)
  })

  test('a replay while an attempt is under way is sent once that has ended', async () => {
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    let count = 0
    const receiver = await receive(async () => ({ status: (await answers[count++]?.promise) ?? 200 }))
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    await harness.send('one', 'x@example.com')
    await receiver.waitFor(1)
    const [row] = await deliveriesOf(webhook.id)
    expect((await harness.expectApi(200, 'POST', `/webhooks/deliveries/${row.id}/replay`)).status).toBe('pending')
    answers[0]?.resolve(200)
    await receiver.waitFor(2)
    expect(await harness.expectApi(200, 'GET', `/webhooks/deliveries/${row.id}`)).toMatchObject({ status: 'pending', attempt_count: 1 })
    answers[1]?.resolve(200)
    await waitFor('the replay to be over', async () => (await deliveriesOf(webhook.id, '?status=delivered'))[0])
    expect((await harness.expectApi(200, 'GET', `/webhooks/deliveries/${row.id}`)).attempts).toHaveLength(2)
    await remove(webhook.id)
  })

  test('a replay has the same bytes as the first delivery, and after deletion it says that the message is gone', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url, { events: ['email.received'] })
    await harness.deliver({
      from: 'a@example.com',
      to: 'two@agents.localhost',
      subject: 'Bytes',
      text: 'x'.repeat(300_000),
      attachments: [{ filename: 'a.txt', content: 'attached' }],
    })
    const [first] = await receiver.waitFor(1)
    const payload = JSON.parse(String(first?.body))
    expect(payload.data.text.length).toBe(256 * 1024)
    expect(payload.data).toMatchObject({ truncated: true, attachments: [{ filename: 'a.txt', url: null }] })
    await harness.expectApi(200, 'PATCH', `/mailboxes/two/messages/${payload.data.id}`, { body: { is_read: true, labels: ['seen'] } })
    const row = await waitFor('the delivery', async () => (await deliveriesOf(webhook.id, '?status=delivered'))[0])
    await harness.expectApi(200, 'POST', `/webhooks/deliveries/${row.id}/replay`)
    const [, second] = await receiver.waitFor(2)
    expect(second?.body.equals(first?.body as Buffer)).toBe(true)
    await harness.expectApi(200, 'DELETE', `/mailboxes/two/messages/${payload.data.id}`)
    await waitFor('the replay to be over', async () => (await deliveriesOf(webhook.id, '?status=delivered'))[0])
    const gone = await waitFor('an event that tells the deletion', async () => {
      const detail = await harness.expectApi(200, 'GET', `/webhooks/deliveries/${row.id}`)
      return detail.event.data.deleted && detail.event
    })
    expect(gone).toMatchObject({
      id: payload.id,
      timestamp: payload.timestamp,
      data: { id: payload.data.id, deleted: true, agent_handle: 'two' },
    })
    await remove(webhook.id)
  })

  test('only the types and the agent that were asked for', async () => {
    const [all, sentOnly, ofTwo] = [await receive(), await receive(), await receive()]
    const webhooks = [
      await subscribe(all.url),
      await subscribe(sentOnly.url, { events: ['email.sent'] }),
      await subscribe(ofTwo.url, { agent_handle: '@two' }),
    ]
    expect(webhooks[2].agent_handle).toBe('two')
    await harness.send('one', 'two@agents.localhost', { subject: 'Filtered' })
    await all.waitFor(3)
    await sentOnly.waitFor(1)
    await ofTwo.waitFor(1)
    await waitFor('all to be over', async () => (await deliveriesOf(webhooks[0].id, '?status=delivered')).length === 3)
    expect(
      all
        .payloads()
        .map((one) => one.type)
        .sort(),
    ).toEqual(['email.delivered', 'email.received', 'email.sent'])
    expect(sentOnly.payloads().map((one) => one.type)).toEqual(['email.sent'])
    expect(ofTwo.payloads().map((one) => [one.type, one.data.agent_handle])).toEqual([['email.received', 'two']])
    const other = await harness.expectApi(200, 'GET', '/webhooks', { key: harness.otherOrganization.key })
    expect(other.data).toEqual([])
    for (const { id } of webhooks) await remove(id)
  })

  test('a redirect is a failure, and an answer without end is taken by its status', async () => {
    const target = await receive()
    const redirecting = await receive(() => ({ status: 302, headers: { location: target.url } }))
    const webhook = await subscribe(redirecting.url, { events: ['email.sent'] })
    await harness.send('one', 'x@example.com')
    const dead = await waitFor('a dead letter', async () => (await deliveriesOf(webhook.id, '?status=failed'))[0])
    expect(dead.last_error_code).toBe('http_3xx')
    expect(target.received).toEqual([])
    await remove(webhook.id)
  })

  test('410 disables at once, and activating brings it back', async () => {
    const receiver = await receive(() => ({ status: 410 }))
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    await harness.send('one', 'x@example.com')
    const disabled = await waitFor('the webhook to be disabled', async () => {
      const row = await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)
      return row.status === 'disabled' && row
    })
    expect(disabled.disabled_reason).toContain('410')
    expect(receiver.received.length).toBe(1)
    const { data } = await harness.expectApi(200, 'GET', '/audit')
    expect(data[0]).toMatchObject({ action: 'webhook.disabled', target_id: webhook.id, actor_type: 'host' })
    const again = await harness.send('one', 'x@example.com')
    await harness.waitForStatus('one', again.id, 'sent')
    expect((await deliveriesOf(webhook.id)).length).toBe(1)
    const active = await harness.expectApi(200, 'PATCH', `/webhooks/${webhook.id}`, { body: { status: 'active' } })
    expect(active).toMatchObject({ status: 'active', disabled_reason: null })
    await remove(webhook.id)
  })

  test('five days of continuous failure disable a webhook, and a success restarts the count', async () => {
    let status = 500
    const receiver = await receive(() => ({ status }))
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    const failingSince = async () => (await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).failing_since as string | null
    const age = () =>
      harness.db.query({
        text: "UPDATE webhooks SET failing_since = failing_since - interval '5 days 1 minute' WHERE id = $1",
        values: [webhook.id],
      })
    // Nothing changes between the attempts of one delivery, which follow each other in milliseconds.
    const fail = async (count: number) => {
      await harness.send('one', 'x@example.com')
      await waitFor('a dead letter', async () => (await deliveriesOf(webhook.id, '?status=failed')).length === count)
    }
    await fail(1)
    await age()
    status = 200
    await harness.send('one', 'x@example.com')
    await waitFor('a success', async () => (await failingSince()) === null)
    expect((await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).status).toBe('active')
    status = 500
    await fail(2)
    await age()
    await harness.send('one', 'x@example.com')
    const disabled = await waitFor('the webhook to be disabled', async () => {
      const row = await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)
      return row.status === 'disabled' && row
    })
    expect(disabled.disabled_reason).toContain('five days')
    await remove(webhook.id)
  })

  test('Retry-After puts off the next attempt', async () => {
    const receiver = await receive(() => ({ status: 503, headers: { 'retry-after': '3600' } }))
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    await harness.send('one', 'x@example.com')
    const row = await waitFor('an attempt', async () => (await deliveriesOf(webhook.id)).find((one) => one.attempt_count === 1))
    const waitMs = Date.parse(row.next_attempt_at) - Date.now()
    expect(waitMs).toBeGreaterThan(3500_000)
    expect(waitMs).toBeLessThan(3601_000)
    await remove(webhook.id)
  })

  test('a paused webhook creates and sends no deliveries, and missed events can be replayed', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url, { events: ['email.sent'], status: 'paused' })
    const since = new Date().toISOString()
    const sent = await harness.send('one', 'x@example.com')
    await harness.waitForStatus('one', sent.id, 'sent')
    expect(await deliveriesOf(webhook.id)).toEqual([])
    await harness.expectApi(200, 'PATCH', `/webhooks/${webhook.id}`, { body: { status: 'active' } })
    const range = await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/replay`, { body: { since, status: 'missed' } })
    expect(range.replayed).toBe(1)
    await receiver.waitFor(1)
    expect(receiver.payloads()[0].data.id).toBe(sent.id)
    await remove(webhook.id)
  })

  test('many posts to one endpoint share connections, and each of many endpoints gets every event', async () => {
    const receiver = await receive()
    const webhooks = await Promise.all(Array.from({ length: 10 }, (_, i) => subscribe(`${receiver.url}/${i}`, { events: ['email.sent'] })))
    for (let i = 0; i < 10; i++) await harness.send('one', 'x@example.com')
    await receiver.waitFor(100)
    const pairs = new Set(receiver.received.map((post) => `${post.path} ${post.headers['webhook-id']}`))
    expect(pairs.size).toBe(100)
    expect(receiver.connections()).toBeLessThan(100)
    for (const { id } of webhooks) await remove(id)
  })
})

describe('the secret', () => {
  test('is shown at creation and rotation only, and is sealed in the database', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url)
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).not.toHaveProperty('secret')
    const { rows } = await harness.db.query<{ secret: Buffer }>({ text: 'SELECT secret FROM webhooks WHERE id = $1', values: [webhook.id] })
    const bytes = Buffer.from(webhook.secret.slice(6), 'base64')
    expect(rows[0]?.secret.includes(bytes)).toBe(false)
    expect(harness.logLines().join('')).not.toContain(webhook.secret)
    await remove(webhook.id)
  })

  test('after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
    const receiver = await receive()
    const webhook = await subscribe(receiver.url, { events: ['email.sent'] })
    const rotated = await harness.expectApi(200, 'POST', `/webhooks/${webhook.id}/rotate-secret`)
    expect(rotated.secret).not.toBe(webhook.secret)
    expect(Date.parse(rotated.old_secret_expires_at) - Date.parse(rotated.updated_at)).toBeGreaterThan(23 * 3_600_000)
    await harness.send('one', 'x@example.com')
    const [first] = await receiver.waitFor(1)
    const headers = first?.headers as Record<string, string>
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
    for (const secret of [webhook.secret, rotated.secret])
      expect(new StandardWebhook(secret).verify(String(first?.body), headers)).toBeTruthy()
    await harness.db.query({ text: 'UPDATE webhooks SET old_secrets_until = ARRAY[now()] WHERE id = $1', values: [webhook.id] })
    expect((await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).old_secret_expires_at).toBeNull()
    await harness.send('one', 'x@example.com')
    const [, second] = await receiver.waitFor(2)
    const later = second?.headers as Record<string, string>
    expect(new StandardWebhook(rotated.secret).verify(String(second?.body), later)).toBeTruthy()
    expect(() => new StandardWebhook(webhook.secret).verify(String(second?.body), later)).toThrow()
    await remove(webhook.id)
  })
})

describe('subscriptions', () => {
  test('are created, listed, changed and deleted, with every field', async () => {
    const webhook = await subscribe('http://127.0.0.1:59999/hook', {
      events: ['email.sent', 'email.bounced'],
      agent_handle: 'one',
      description: 'Mine',
    })
    const { secret: _, ...shown } = webhook
    expect(shown).toEqual({
      id: expect.stringMatching(/^whk_/),
      url: 'http://127.0.0.1:59999/hook',
      events: ['email.sent', 'email.bounced'],
      agent_handle: 'one',
      agent_handles: ['one'],
      header_names: [],
      format: 'callsign',
      description: 'Mine',
      status: 'active',
      disabled_reason: null,
      failing_since: null,
      old_secret_expires_at: null,
      client_id: null,
      created_at: expect.any(String),
      updated_at: webhook.created_at,
    })
    expect(await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).toEqual(shown)
    const list = await harness.expectApi(200, 'GET', '/webhooks?limit=1')
    expect(list).toMatchObject({ object: 'list', data: [shown], has_more: false, next_cursor: null })
    const body = { url: 'https://example.com/new', events: ['*', 'email.sent'], agent_handle: null, description: null, status: 'paused' }
    const changed = await harness.expectApi(200, 'PATCH', `/webhooks/${webhook.id}`, { body })
    expect(changed).toMatchObject({ ...body, events: ['*'] })
    expect(await harness.expectApi(200, 'PATCH', `/webhooks/${webhook.id}`, { body: { description: 'Only' } })).toMatchObject({
      ...body,
      events: ['*'],
      description: 'Only',
    })
    for (let i = 0; i < 2; i++) expect(await remove(webhook.id)).toEqual({ id: webhook.id, deleted: true })
    for (const [method, suffix] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const) {
      const answer = await harness.api(method, `/webhooks/${webhook.id}${suffix}`, method === 'PATCH' ? { body: { description: 'a' } } : {})
      expect([method, suffix, answer.status]).toEqual([method, suffix, 404])
    }
    expect((await harness.expectApi(200, 'GET', '/audit')).data.slice(0, 4).map((entry: Json) => entry.action)).toEqual([
      'webhook.deleted',
      'webhook.updated',
      'webhook.updated',
      'webhook.created',
    ])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no url', { events: ['*'] }, '/url'],
    ['no events', { url: 'https://example.com' }, '/events'],
    ['an empty list of events', { url: 'https://example.com', events: [] }, '/events'],
    ['an unknown event', { url: 'https://example.com', events: ['email.eaten'] }, '/events/0'],
    ['an event twice', { url: 'https://example.com', events: ['email.sent', 'email.sent'] }, '/events'],
    ['another scheme', { url: 'ftp://example.com/', events: ['*'] }, '/url'],
    ['credentials in the URL', { url: 'https://a:b@example.com/', events: ['*'] }, '/url'],
    ['a private address', { url: 'http://10.0.0.1/', events: ['*'] }, '/url'],
    ['a private address in disguise', { url: 'http://0xa.1/', events: ['*'] }, '/url'],
    ['a mapped private address', { url: 'http://[::ffff:10.0.0.1]/', events: ['*'] }, '/url'],
    ['the metadata service', { url: 'http://169.254.169.254/latest', events: ['*'] }, '/url'],
    ['a port of another protocol', { url: 'http://example.com:25/', events: ['*'] }, '/url'],
    ['a URL that is too long', { url: `https://example.com/${'x'.repeat(2048)}`, events: ['*'] }, '/url'],
    ['a status that only the server sets', { url: 'https://example.com', events: ['*'], status: 'disabled' }, '/status'],
    ['an unknown field', { url: 'https://example.com', events: ['*'], secret: 'whsec_mine' }, '/secret'],
  ])('%s is 400 validation_error naming the field', async (_name, body, path) => {
    const answer = await harness.api('POST', '/webhooks', { body })
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test('an agent that is not there, or of another organization, is 404 as everywhere', async () => {
    const webhook = await subscribe('http://127.0.0.1:59999/')
    await harness.createAgent('theirs', {}, harness.otherOrganization.key)
    for (const agent_handle of ['nobody', 'theirs']) {
      const body = { url: 'https://example.com', events: ['*'], agent_handle }
      expect((await harness.api('POST', '/webhooks', { body })).body.error?.code).toBe('not_found')
      expect((await harness.api('PATCH', `/webhooks/${webhook.id}`, { body: { agent_handle } })).body.error?.code).toBe('not_found')
    }
  })

  test('organization keys only, and nothing of another organization', async () => {
    const webhook = await subscribe('http://127.0.0.1:59999/')
    const key = await harness.agentKey('one')
    for (const [method, path, body] of [
      ['GET', '/webhooks'],
      ['POST', '/webhooks', { url: 'https://example.com', events: ['*'] }],
      ['GET', `/webhooks/${webhook.id}`],
      ['POST', `/webhooks/${webhook.id}/test`],
      ['GET', `/webhooks/${webhook.id}/deliveries`],
    ] as const) {
      expect((await harness.api(method, path, { key, body })).status).toBe(403)
      if (path.includes(webhook.id))
        expect((await harness.api(method, path, { key: harness.otherOrganization.key, body })).status).toBe(404)
    }
    expect((await harness.api('DELETE', `/webhooks/${webhook.id}`, { key: harness.otherOrganization.key })).status).toBe(404)
    await remove(webhook.id)
  })

  test('the same Idempotency-Key makes one webhook', async () => {
    const ask = { body: { url: 'http://127.0.0.1:59999/', events: ['*'] }, headers: { 'idempotency-key': 'one-webhook' } }
    const first = await harness.expectApi(201, 'POST', '/webhooks', ask)
    expect(await harness.expectApi(201, 'POST', '/webhooks', ask)).toEqual(first)
    await remove(first.id)
  })

  test('an agent that goes takes its events with it, and the webhook never sees those of another', async () => {
    const receiver = await receive()
    await harness.createAgent('brief')
    const webhook = await subscribe(receiver.url, { agent_handle: 'brief' })
    await harness.expectApi(204, 'DELETE', '/identities/brief')
    const sent = await harness.send('one', 'x@example.com')
    await harness.waitForStatus('one', sent.id, 'sent')
    expect(await harness.expectApi(200, 'GET', `/webhooks/${webhook.id}`)).toMatchObject({ agent_handle: 'brief', status: 'active' })
    expect(await deliveriesOf(webhook.id)).toEqual([])
    await remove(webhook.id)
  })
})
