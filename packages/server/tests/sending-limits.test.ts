// Limits for sending: what they refuse and say, and that they are exact with concurrent senders and two processes.
import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCallsignd } from './harness/callsignd.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const limitsOf = (handle: string, limits: Json, key = harness.organizationKey) =>
  harness.expectApi(200, 'PATCH', `/identities/${handle}`, { key, body: { sending_limits: limits } })
const send = (agent: string, to: string[], ask: Json = {}) =>
  harness.api('POST', '/mail/send', { ...ask, body: { agent, to, subject: 'Hello', text: 'Hello' } })

describe('the limits of an identity', () => {
  test('are unset at first, and null returns to the default', async () => {
    const made = await harness.createAgent('unset')
    expect(made.sending_limits).toEqual({
      recipients_per_message: null,
      messages_per_minute: null,
      messages_per_hour: null,
      messages_per_day: null,
      new_recipients_per_day: null,
    })
    expect((await limitsOf('unset', { messages_per_day: 5, recipients_per_message: 2 })).sending_limits).toMatchObject({
      messages_per_day: 5,
      recipients_per_message: 2,
    })
    expect((await limitsOf('unset', { messages_per_day: null })).sending_limits).toMatchObject({
      messages_per_day: null,
      recipients_per_message: 2,
    })
    expect((await harness.api('PATCH', '/identities/unset', { body: { sending_limits: { messages_per_day: 0 } } })).status).toBe(400)
    const { data } = await harness.expectApi(200, 'GET', '/audit')
    expect(data.filter((one: Json) => one.action === 'identity.limits_changed')).toHaveLength(2)
  })

  test('refuse the message above them with the limit, its window and what is left', async () => {
    await harness.createAgent('counted')
    await limitsOf('counted', { messages_per_day: 2 })
    for (const to of ['a@example.com', 'b@example.com']) expect((await send('counted', [to])).status).toBe(201)
    const refused = await send('counted', ['c@example.com'])
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(86_400 + 86_400 / 60)
    const { code, details } = refused.body.error
    expect(code).toBe('sending_limit_reached')
    expect(details[0].limit).toEqual({
      name: 'messages_per_day',
      scope: 'identity',
      max: 2,
      left: 0,
      resets_at: expect.stringMatching(/T\d\d:\d\d:00\.000Z$/),
    })
    expect(Date.parse(details[0].limit.resets_at)).toBeGreaterThan(Date.now())
    await limitsOf('counted', { messages_per_day: 3 })
    expect((await send('counted', ['c@example.com'])).status).toBe(201)
  })

  test('count recipients per message, and new recipients once', async () => {
    await harness.createAgent('wide')
    await limitsOf('wide', { recipients_per_message: 2, new_recipients_per_day: 3 })
    const tooMany = await send('wide', ['a@example.com', 'b@example.com', 'c@example.com'])
    expect(tooMany.body.error.details[0].limit).toEqual({
      name: 'recipients_per_message',
      scope: 'identity',
      max: 2,
      left: 2,
      resets_at: null,
    })
    expect((await send('wide', ['a@example.com', 'b@example.com'])).status).toBe(201)
    expect((await send('wide', ['A@example.com', 'b@example.com'])).status).toBe(201)
    const refused = await send('wide', ['c@example.com', 'd@example.com'])
    expect(refused.body.error.details[0].limit).toMatchObject({ name: 'new_recipients_per_day', left: 1 })
    expect((await send('wide', ['c@example.com'])).status).toBe(201)
    expect((await send('wide', ['d@example.com'])).status).toBe(429)
    expect((await send('wide', ['a@example.com'])).status).toBe(201)
  })

  test('do not count a replay of an Idempotency-Key, nor a refused message', async () => {
    await harness.createAgent('replayed')
    await limitsOf('replayed', { messages_per_day: 1 })
    await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: 'never@example.com' } })
    expect((await send('replayed', ['never@example.com'])).status).toBe(403)
    const headers = { 'idempotency-key': 'limits-1' }
    expect((await send('replayed', ['a@example.com'], { headers })).status).toBe(201)
    expect((await send('replayed', ['a@example.com'], { headers })).status).toBe(201)
    expect((await send('replayed', ['a@example.com'])).status).toBe(429)
  })

  test('count a draft when it is sent, and keep one that is above them', async () => {
    await harness.createAgent('drafting')
    await limitsOf('drafting', { messages_per_day: 1 })
    const create = () =>
      harness.expectApi(201, 'POST', '/mailboxes/drafting/drafts', { body: { to: 'a@example.com', subject: 'Hello', text: 'Hello' } })
    const [first, second] = [await create(), await create()]
    await harness.expectApi(201, 'POST', `/mailboxes/drafting/drafts/${first.id}/send`)
    expect((await harness.api('POST', `/mailboxes/drafting/drafts/${second.id}/send`)).status).toBe(429)
    await harness.expectApi(200, 'GET', `/mailboxes/drafting/drafts/${second.id}`)
  })
})

test('a window slides: messages count until they are one window old', async () => {
  const { id } = await harness.createAgent('sliding')
  await limitsOf('sliding', { messages_per_hour: 3 })
  const age = (interval: string) =>
    harness.db.query({ text: 'UPDATE send_counts SET ends_at = ends_at - $2::interval WHERE subject = $1', values: [id, interval] })
  const to = ['a@example.com']
  expect((await send('sliding', to)).status).toBe(201)
  await age('20 minutes')
  for (let sent = 0; sent < 2; sent++) expect((await send('sliding', to)).status).toBe(201)
  await age('30 minutes')
  const refused = await send('sliding', to)
  expect(refused.status).toBe(429)
  const { left, resets_at } = refused.body.error.details[0].limit
  expect(left).toBe(0)
  expect(Date.parse(resets_at) - Date.now()).toBeLessThanOrEqual(11 * 60_000)
  await age('11 minutes')
  expect((await send('sliding', to)).status).toBe(201)
  expect((await send('sliding', to)).status).toBe(429)
  await age('61 minutes')
  const batch = await harness.api('POST', '/mail/batch', {
    body: { messages: Array.from({ length: 4 }, () => ({ agent: 'sliding', to, subject: 'Hello', text: 'Hello' })) },
  })
  expect(batch.status).toBe(429)
  expect(batch.body.error.details[0].limit.left).toBe(3)
})

test('an organization has limits for all its mail and for each key', async () => {
  const own = await harness.createOrganization('Limits')
  for (const handle of ['lim_a', 'lim_b']) await harness.createAgent(handle, {}, own.key)
  const patch = (body: Json) => harness.expectApi(200, 'PATCH', '/organization', { key: own.key, body })
  const limited = await patch({ sending_limits: { messages_per_day: 4 }, key_sending_limits: { messages_per_day: 2 } })
  expect(limited).toMatchObject({ id: own.id, sending_limits: { messages_per_day: 4 }, key_sending_limits: { messages_per_day: 2 } })
  const agentKey = await harness.agentKey('lim_b', {}, own.key)
  const scopeOf = async (agent: string, key: string) => {
    const { status, body } = await send(agent, ['a@example.com'], { key })
    return status === 201 ? 'sent' : body.error.details[0].limit.scope
  }
  expect([await scopeOf('lim_a', own.key), await scopeOf('lim_b', own.key), await scopeOf('lim_a', own.key)]).toEqual([
    'sent',
    'sent',
    'key',
  ])
  expect([await scopeOf('lim_b', agentKey), await scopeOf('lim_b', agentKey), await scopeOf('lim_b', agentKey)]).toEqual([
    'sent',
    'sent',
    'key',
  ])
  await patch({ key_sending_limits: { messages_per_day: null } })
  expect(await scopeOf('lim_a', own.key)).toBe('organization')
  expect((await harness.api('PATCH', '/organization', { key: agentKey, body: { sending_limits: { messages_per_day: 9 } } })).status).toBe(
    403,
  )
  expect((await harness.api('GET', '/organization', { key: agentKey })).status).toBe(403)
})

test('a limit is exact with 16 concurrent senders', async () => {
  await harness.createAgent('busy')
  await limitsOf('busy', { messages_per_day: 37, messages_per_hour: 1000 })
  const results = await Promise.all(
    Array.from({ length: 16 }, async (_, sender) => {
      const statuses: number[] = []
      for (let index = 0; index < 5; index++)
        statuses.push(
          (await send('busy', [`r${sender}@example.com`], index % 2 ? { headers: { 'idempotency-key': `${sender}-${index}` } } : {}))
            .status,
        )
      return statuses
    }),
  )
  const statuses = results.flat()
  expect(statuses.filter((status) => status === 201)).toHaveLength(37)
  expect(statuses.filter((status) => status === 429)).toHaveLength(80 - 37)
})

test('a limit is exact with two server processes on one database', async () => {
  await harness.createAgent('twice')
  await limitsOf('twice', { messages_per_day: 23, new_recipients_per_day: 9 })
  const other = await startCallsignd({ ...harness.environment, CALLSIGN_SMTP_PORT: '0' })
  try {
    const post = async (base: string, to: string): Promise<number> => {
      const body = JSON.stringify({ agent: 'twice', to: [to], subject: 'Hello', text: 'Hello' })
      const headers = { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' }
      const response = await fetch(`${base}/api/v1/mail/send`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    const bases = [harness.baseUrl, other.baseUrl]
    const fresh = await Promise.all(Array.from({ length: 32 }, (_, index) => post(bases[index % 2] as string, `n${index}@example.com`)))
    expect(fresh.filter((status) => status === 201)).toHaveLength(9)
    const rest = await Promise.all(
      Array.from({ length: 32 }, (_, index) => post(bases[index % 2] as string, `n${fresh.indexOf(201)}@example.com`)),
    )
    expect(rest.filter((status) => status === 201)).toHaveLength(23 - 9)
    expect([...fresh, ...rest].every((status) => status === 201 || status === 429)).toBe(true)
  } finally {
    await other.stop()
  }
})

test('limits of an identity, a key and an organization together are exact with 16 senders on two server processes', async () => {
  const own = await harness.createOrganization('Exact')
  const handles = ['exact_a', 'exact_b']
  for (const handle of handles) await harness.createAgent(handle, {}, own.key)
  await limitsOf('exact_a', { messages_per_hour: 21 }, own.key)
  const body = { sending_limits: { messages_per_day: 67 }, key_sending_limits: { messages_per_minute: 53 } }
  await harness.expectApi(200, 'PATCH', '/organization', { key: own.key, body })
  const keys = [own.key, await harness.agentKey('exact_b', {}, own.key)]
  const other = await startCallsignd({ ...harness.environment, CALLSIGN_SMTP_PORT: '0' })
  try {
    const bases = [harness.baseUrl, other.baseUrl]
    const sent = { exact_a: 0, exact_b: 0, [keys[0] as string]: 0, [keys[1] as string]: 0 } as Record<string, number>
    const sender = async (number: number) => {
      for (let index = 0; index < 10; index++) {
        const key = keys[number % 4 === 3 ? 1 : 0] as string
        const handle = number % 4 < 2 ? 'exact_a' : 'exact_b'
        const response = await fetch(`${bases[(number + index) % 2]}/api/v1/mail/send`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ agent: handle, to: [`s${number}@example.com`], subject: 'Exact', text: 'Exact' }),
        })
        await response.arrayBuffer()
        expect([201, 429]).toContain(response.status)
        if (response.status === 201) for (const subject of [handle, key]) sent[subject] = (sent[subject] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, number) => sender(number)))
    // 160 attempts: 80 of exact_a, of which 21 fit; the agent key has 40 and the organization 67.
    expect(sent.exact_a).toBe(21)
    expect((sent.exact_a ?? 0) + (sent.exact_b ?? 0)).toBe(67)
    for (const key of keys) expect(sent[key]).toBeLessThanOrEqual(53)
    const { rows } = await harness.db.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM messages WHERE organization_id = $1 AND direction = 'outbound'`,
      values: [own.id],
    })
    expect(rows[0]?.count).toBe(67)
  } finally {
    await other.stop()
  }
})

test('every way to send counts for one limit, and is refused by it', async () => {
  await harness.createAgent('ways')
  const mail = { to: ['ways@example.com'], subject: 'Way', text: 'Way' }
  const post = async (path: string, body: Json): Promise<Json> => {
    const headers = {
      authorization: `Bearer ${harness.organizationKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const response = await fetch(`${harness.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, text: await response.text() }
  }
  const statusOf = async (path: string, body: Json): Promise<number> => (await post(path, body)).status
  const tool = { name: 'mail_send', arguments: { agent: 'ways', ...mail } }
  const ways: Record<string, () => Promise<number>> = {
    send: () => statusOf('/api/v1/mail/send', { agent: 'ways', ...mail }),
    mailbox: () => statusOf('/api/v1/mailboxes/ways/messages', mail),
    batch: () => statusOf('/api/v1/mail/batch', { messages: [{ agent: 'ways', ...mail }] }),
    draft: async () => {
      const draft = await harness.expectApi(201, 'POST', '/mailboxes/ways/drafts', { body: { ...mail, to: 'ways@example.com' } })
      return statusOf(`/api/v1/mailboxes/ways/drafts/${draft.id}/send`, {})
    },
    resend: () => statusOf('/compat/resend/emails', { from: 'ways@agents.localhost', ...mail }),
    agentmail: () => statusOf('/compat/agentmail/v0/inboxes/ways%40agents.localhost/messages/send', mail),
    mcp: async () => {
      const { text } = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool })
      return text.includes('sending_limit_reached') ? 429 : text.includes('msg_') ? 201 : 0
    },
  }
  const names = Object.keys(ways)
  await limitsOf('ways', { messages_per_day: names.length })
  for (const name of names) expect([name, Math.floor(((await ways[name]?.()) ?? 0) / 100)]).toEqual([name, 2])
  for (const name of names) expect([name, await ways[name]?.()]).toEqual([name, 429])
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ways/messages?direction=outbound')
  expect(data).toHaveLength(names.length)
})
