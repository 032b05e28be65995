// Idempotency-Key through the whole server. A repeated request gets its first answer, and its effect happens once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Ask, type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let questionId: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
  await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Question', text: 'a' })
  questionId = (await harness.waitForMail('ann', 'Question')).id
})
afterAll(() => harness.stop())

let keys = 0
const newKey = () => `7b0b7a5c-7e0a-4a5e-9a3e-${String(++keys).padStart(12, '0')}`
const post = (path: string, key: string, body: unknown, ask: Ask = {}): Promise<Answer> =>
  harness.api('POST', path, { ...ask, body, headers: { 'idempotency-key': key } })
const total = async (): Promise<number> => (await harness.expectApi(200, 'GET', '/mail/messages?agent=ann')).total
const mail = { agent: 'ann', to: ['x@example.com'], subject: 'Once', text: 'a' }

describe('every POST that creates or sends', () => {
  test.each<[string, () => string, unknown]>([
    ['reply', () => `/mailboxes/ann/messages/${questionId}/reply`, { text: 'Answer' }],
    ['send', () => '/mail/send', mail],
    ['mailbox-scoped send', () => '/mailboxes/ann/messages', { to: ['x@example.com'], subject: 'Once', text: 'a' }],
    ['forward', () => `/mailboxes/ann/messages/${questionId}/forward`, { to: 'x@example.com' }],
  ])('a replay of %s returns the original 201 with Idempotent-Replayed and has no effect', async (_name, path, body) => {
    const [key, before] = [newKey(), await total()]
    const first = await post(path(), key, body)
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
    for (let i = 0; i < 3; i++) {
      const again = await post(path(), key, body)
      expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body])
    }
    expect(await total()).toBe(before + 1)
  })

  test('identities and keys too', async () => {
    const [first, second] = [
      await post('/identities', 'make', { agent_handle: 'once' }),
      await post('/identities', 'make', { agent_handle: 'once' }),
    ]
    expect([second.status, second.body]).toEqual([201, first.body])
    const made = [
      await post('/keys', 'make', { name: 'a', type: 'organization' }),
      await post('/keys', 'make', { name: 'a', type: 'organization' }),
    ]
    expect(made[1]?.body).toEqual(made[0]?.body)
  })

  test('a hosted recipient gets one copy for any number of requests', async () => {
    const key = newKey()
    const body = { ...mail, to: ['ben@agents.localhost'], subject: 'One copy' }
    const { id } = (await post('/mail/send', key, body)).body
    await harness.waitForStatus('ann', id, 'delivered')
    await Promise.all([1, 2, 3].map(() => post('/mail/send', key, body)))
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ben/messages?subject=One%20copy')
    expect(data).toHaveLength(1)
  })
})

test('without the header every request has its effect', async () => {
  const before = await total()
  await harness.expectApi(201, 'POST', '/mail/send', { body: mail })
  await harness.expectApi(201, 'POST', '/mail/send', { body: mail })
  expect(await total()).toBe(before + 2)
})

test('another body under the same key is 422 idempotency_key_reused', async () => {
  const key = newKey()
  await post('/mail/send', key, mail)
  const { status, body } = await post('/mail/send', key, { ...mail, text: 'b' })
  expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused'])
  // Another order of the same fields is the same body.
  const { agent, ...rest } = mail
  expect((await post('/mail/send', key, { ...rest, agent })).headers.get('idempotent-replayed')).toBe('true')
})

test('concurrent replays have one effect, and the others get the first answer or 409 idempotency_in_progress', async () => {
  for (let round = 0; round < 5; round++) {
    const [key, before] = [newKey(), await total()]
    const answers = await Promise.all(Array.from({ length: 12 }, () => post('/mail/send', key, mail)))
    expect(await total()).toBe(before + 1)
    const made = answers.filter((answer) => answer.status === 201)
    expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1)
    expect(made.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1)
    for (const answer of answers.filter((one) => one.status !== 201)) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'idempotency_in_progress'])
    }
    expect((await post('/mail/send', key, mail)).body).toEqual(made[0]?.body)
  }
})

test('a failed attempt frees the key', async () => {
  const key = newKey()
  const before = await total()
  const failures: [number, unknown][] = [
    [400, { ...mail, to: [] }],
    [400, { ...mail, to: ['nobody'] }],
    [404, { ...mail, agent: 'nobody' }],
    [400, { ...mail, attachments: [{ filename: 'a', url: 'http://127.0.0.1:1/' }] }],
  ]
  for (const [status, body] of failures) expect((await post('/mail/send', key, body)).status).toBe(status)
  const answer = await post('/mail/send', key, mail)
  expect([answer.status, answer.headers.get('idempotent-replayed'), await total()]).toEqual([201, null, before + 1])
  const taken = newKey()
  expect((await post('/identities', taken, { agent_handle: 'ann' })).status).toBe(409)
  expect((await post('/identities', taken, { agent_handle: 'after_failure' })).status).toBe(201)
})

test('the scope is organization, method, path and key, and a change of any is another request', async () => {
  const key = newKey()
  const { id } = (await post('/mail/send', key, mail)).body
  await harness.createAgent('zoe', {}, harness.otherOrganization.key)
  const other = await post('/mail/send', key, { ...mail, agent: 'zoe' }, { key: harness.otherOrganization.key })
  const elsewhere = await post('/mailboxes/ann/messages', key, { to: mail.to, subject: 'a', text: 'a' })
  for (const answer of [other, elsewhere]) {
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect(answer.body.id).not.toBe(id)
  }
})

test('an agent key never sees the answer to another key', async () => {
  const key = newKey()
  const agentKey = await harness.agentKey('ben')
  await post('/mail/send', key, mail)
  const { status, body } = await post('/mail/send', key, mail, { key: agentKey })
  expect([status, body.error.code]).toEqual([403, 'forbidden'])
})

test('a new key or webhook secret is replayed to the key that made the request, and to no other', async () => {
  const { key: second } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'second', type: 'organization' } })
  const hook = { url: 'https://example.com/hook', events: ['*'] }
  const { id: webhook } = (await post('/webhooks', newKey(), hook)).body
  const requests: [path: string, body: unknown, secret: string][] = [
    ['/keys', { name: 'new', type: 'organization' }, 'key'],
    ['/webhooks', hook, 'secret'],
    [`/webhooks/${webhook}/rotate-secret`, undefined, 'secret'],
  ]
  for (const [path, body, secret] of requests) {
    const key = newKey()
    const first = await post(path, key, body)
    expect(first.body[secret], path).toEqual(expect.any(String))
    const again = await post(path, key, body)
    expect([again.headers.get('idempotent-replayed'), again.body[secret]], path).toEqual(['true', first.body[secret]])
    const other = await post(path, key, body, { key: second })
    expect(other.headers.get('idempotent-replayed'), path).toBeNull()
    expect(JSON.stringify(other.body), path).not.toContain(first.body[secret])
  }
})

test('an answer survives a restart of the server and the deletion of its object', async () => {
  const key = newKey()
  const first = await post('/mail/send', key, mail)
  await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${first.body.id}`)
  const second = await startHarness({
    CALLSIGN_DATABASE_URL: harness.environment.CALLSIGN_DATABASE_URL as string,
    CALLSIGN_DATA_DIR: harness.dataDir,
    CALLSIGN_BOOTSTRAP_API_KEY: harness.organizationKey,
  })
  try {
    const again = await second.api('POST', '/mail/send', { key: harness.organizationKey, body: mail, headers: { 'idempotency-key': key } })
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body])
  } finally {
    await second.stop()
  }
})

test('an answer that commits during the lookup of its repetition is returned, not the state it left behind', async () => {
  const key = newKey()
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', {
    body: { to: ['x@example.com'], subject: 'Once', text: 'a' },
  })
  const path = `/mailboxes/ann/drafts/${id}/send`
  const first = await post(path, key, {})
  expect(first.status).toBe(201)
  const columns = 'organization_id, method, path, key, body_hash, status, body, created_at'
  let again: Promise<Answer> | undefined
  // As after a kill, a transaction sends the draft and stores the answer. It commits between the lookup of the answer and that of the draft.
  await harness.db.query({ text: 'CREATE TABLE kept_back AS SELECT * FROM idempotency_keys WHERE key = $1', values: [key] })
  await harness.db.query({ text: 'DELETE FROM idempotency_keys WHERE key = $1', values: [key] })
  await harness.db.transact(async (tx) => {
    await tx.query({ text: 'LOCK TABLE drafts IN ACCESS EXCLUSIVE MODE' })
    again = post(path, key, {})
    await waitFor('the repetition to look for the draft', async () => {
      const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'drafts'::regclass AND NOT granted`
      return (await harness.db.query({ text: waiting })).rowCount > 0
    })
    await tx.query({ text: `INSERT INTO idempotency_keys (${columns}) SELECT ${columns} FROM kept_back` })
  })
  const answer = (await again) as Answer
  expect([answer.status, answer.headers.get('idempotent-replayed'), answer.body]).toEqual([201, 'true', first.body])
  // A refusal under a key that has no answer stays one.
  expect((await post(path, newKey(), {})).body.error.code).toBe('draft_send_in_progress')
})

test('a key of 255 printable ASCII characters is accepted, and 256 are 400', async () => {
  expect((await post('/mail/send', '~'.repeat(255), mail)).status).toBe(201)
  const { status, body } = await post('/mail/send', '~'.repeat(256), mail)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
})

test('the document names the header on every POST that creates or sends', () => {
  for (const [path, methods] of Object.entries(harness.document.paths as Json) as [string, Json][]) {
    if (!/\/(send|reply|forward|identities|keys)$|\}\/messages$/.test(path) || !methods.post) continue
    // Texts cannot be sent, so that operation always refuses.
    if (!Object.keys(methods.post.responses).some((status) => status.startsWith('2'))) continue
    expect(JSON.stringify(methods.post.parameters), path).toContain('IdempotencyKey')
  }
})
