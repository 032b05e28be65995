// A key that signed in to the console is not a person. Its limits, its log and its guards hold over all its sessions.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from './harness/console-browser.ts'
import { signInMembers } from './harness/members.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let owner: string

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_AGENT_LOOP_SECONDS: '600' })
  owner = (await signInMembers(harness)).get('owner') as string
})
afterAll(() => harness.stop())

/** A console token of a new session of this key. */
async function consoleTokenOf(key: string): Promise<string> {
  const browser = openBrowser(harness)
  await browser.signInByKey(key)
  return browser.token()
}

const send = async (key: string, agent: string, to = 'ada@park.example') =>
  (await harness.api('POST', '/mail/send', { key, body: { agent, to: [to], subject: 'Hello', text: 'Hello' } })).status

test('the sending limit of a key counts what its console sessions send, and none of what members send', async () => {
  await harness.createAgent('counted')
  await harness.expectApi(200, 'PATCH', '/organization', { body: { key_sending_limits: { messages_per_day: 2 } } })
  const key = await harness.agentKey('counted')
  const tokens = [await consoleTokenOf(key), await consoleTokenOf(key)]
  expect([await send(key, 'counted'), await send(tokens[0] as string, 'counted')]).toEqual([201, 201])
  for (const secret of [...tokens, key]) expect(await send(secret, 'counted')).toBe(429)
  expect([await send(owner, 'counted'), await send(owner, 'counted'), await send(owner, 'counted')]).toEqual([201, 201, 201])
  await harness.expectApi(200, 'PATCH', '/organization', { body: { key_sending_limits: { messages_per_day: null } } })
})

test('a draft that a console session of a key schedules counts for the key', async () => {
  await harness.createAgent('scheduling')
  const key = await harness.agentKey('scheduling')
  const [byKey, byMember] = [await consoleTokenOf(key), owner]
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const schedulerOf = async (secret: string) => {
    const body = { to: ['ada@park.example'], subject: 'Later', text: 'Later', send_at }
    const { id } = await harness.expectApi(201, 'POST', '/mailboxes/scheduling/drafts', { key: secret, body })
    const { rows } = await harness.db.query<Json>({ text: 'SELECT scheduled_by_key_id FROM drafts WHERE id = $1', values: [id] })
    return rows[0]?.scheduled_by_key_id
  }
  expect(await schedulerOf(byKey)).toBe((await harness.expectApi(200, 'GET', '/me', { key })).key.id)
  expect(await schedulerOf(byMember)).toBeNull()
})

test('the guard against loops holds answers of a console session of a key, and none of a member', async () => {
  await harness.createAgent('answering')
  const token = await consoleTokenOf(await harness.agentKey('answering'))
  await harness.deliver({ from: 'robot@loop.example', to: 'answering@agents.localhost', subject: 'Ping', text: 'Ping' })
  const { id } = await harness.waitForMail('answering', 'Ping')
  const answer = async (key: string): Promise<number> =>
    (await harness.api('POST', `/mailboxes/answering/messages/${id}/reply`, { key, body: { text: 'Pong' } })).status
  const statuses: number[] = []
  for (let count = 0; count < 22; count++) statuses.push(await answer(token))
  // The window has twenty messages, with those that arrived.
  expect(statuses).toEqual([...Array(19).fill(201), 403, 403, 403])
  expect(await answer(owner)).toBe(201)
})

test('requests of a console session of a key are in the log of API requests, and those of members are not', async () => {
  await harness.createAgent('logged')
  const key = await harness.agentKey('logged')
  const { id } = (await harness.expectApi(200, 'GET', '/me', { key })).key
  const token = await consoleTokenOf(key)
  await harness.expectApi(200, 'GET', '/mailboxes/logged/drafts', { key: owner })
  await harness.expectApi(200, 'GET', '/mailboxes/logged/threads', { key: token })
  await waitFor('the entry of the key', async () => {
    const { data } = await harness.expectApi(200, 'GET', `/requests?key_id=${id}`)
    return data.some((one: Json) => one.path.endsWith('/threads'))
  })
  const { data } = await harness.expectApi(200, 'GET', '/requests?limit=100')
  expect(data.some(({ method, path }: Json) => method === 'GET' && path.endsWith('/drafts'))).toBe(false)
})

test('sessions of a key are bounded, and its oldest one ends', async () => {
  await harness.createAgent('bounded')
  const key = await harness.agentKey('bounded')
  const browsers = Array.from({ length: 12 }, () => openBrowser(harness))
  for (const browser of browsers) await browser.signInByKey(key)
  const signedIn = await Promise.all(browsers.map(async (browser) => (await browser.expect(200, 'GET', 'state')).signed_in))
  expect(signedIn).toEqual([false, false, ...Array(10).fill(true)])
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
  expect(data.filter(({ action }: Json) => action === 'session.ended')).toHaveLength(2)
  expect((await harness.api('GET', '/me', { key: owner })).status).toBe(200)
})

test('streams of all sessions of a key count together, and the stream ends with its session', async () => {
  await harness.createAgent('streaming')
  const key = await harness.agentKey('streaming')
  const browser = openBrowser(harness)
  await browser.signInByKey(key)
  const tokens = [await browser.token(), await consoleTokenOf(key)]
  const open = async (secret: string): Promise<{ status: number; body: ReadableStream<Uint8Array> | null; stop: () => void }> => {
    const abort = new AbortController()
    const response = await fetch(`${harness.baseUrl}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${secret}` },
      signal: abort.signal,
    })
    return { status: response.status, body: response.body, stop: () => abort.abort() }
  }
  const streams = [await open(tokens[0] as string)]
  for (let count = 1; count < 100; count++) streams.push(await open(tokens[count % 2] as string))
  expect(streams.map(({ status }) => status)).toEqual(Array(100).fill(200))
  const refused = await Promise.all([...tokens, key].map(open))
  expect(refused.map(({ status }) => status)).toEqual([429, 429, 429])
  const other = await open(await harness.agentKey('streaming'))
  expect(other.status).toBe(200)

  await browser.expect(204, 'POST', 'sign-out')
  const reader = (streams[0] as { body: ReadableStream<Uint8Array> }).body.getReader()
  await waitFor('the end of the stream', async () => (await reader.read()).done)
  for (const { stop } of [...streams.slice(1), ...refused, other]) stop()
})
