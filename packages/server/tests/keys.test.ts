// API keys. Covers their form, creation and single display, listing, immediate revocation, expiry, agent limits, and their audit log.

import { crc32 } from 'node:zlib'
import { defaultAgentScopes } from '@callsign/contract/scopes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('one')
  await harness.createAgent('two')
})
afterAll(() => harness.stop())

const createKey = (body: Record<string, unknown>, ask: Ask = {}) => harness.api('POST', '/keys', { ...ask, body })
const me = async (key: string) => (await harness.api('GET', '/me', { key })).status

/** The CRC-32 checksum in base 62, implemented a second time. */
function base62Crc32(text: string): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let digits = ''
  for (let value = BigInt(crc32(text)); value > 0n; value /= 62n) digits = alphabet[Number(value % 62n)] + digits
  return digits.padStart(6, '0')
}

describe('POST /keys', () => {
  test('created with an Idempotency-Key, the plaintext is in both answers and nowhere in the database', async () => {
    const headers = { 'idempotency-key': 'make-one-key' }
    const first = await createKey({ name: 'Once', type: 'organization' }, { headers })
    const again = await createKey({ name: 'Once', type: 'organization' }, { headers })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
    const { rows } = await harness.db.query<{ body: string }>({
      text: "SELECT body FROM idempotency_keys WHERE key = 'make-one-key'",
    })
    expect(rows).toHaveLength(1)
    const stored = Buffer.from(rows[0]?.body ?? '', 'base64').toString('latin1')
    for (const text of [rows[0]?.body ?? '', stored]) expect(text).not.toContain(first.body.key.slice(25, 68))
  })

  test('a new organization key is answered 201 with its plaintext, and has full access', async () => {
    const { status, body } = await createKey({ name: 'Deploy', type: 'organization' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-7][0-9a-z]{25}$/),
      name: 'Deploy',
      type: 'organization',
      scopes: [],
      agent_handle: null,
      agent_handles: [],
      allowed_ips: [],
      key: expect.any(String),
      last4: body.key.slice(-4),
      connected_app: null,
      expires_at: null,
      last_used_at: null,
      last_used_ip: null,
      last_used_user_agent: null,
      revoked_at: null,
      created_at: expect.any(String),
    })
    await harness.expectApi(200, 'GET', '/identities/one', { key: body.key })
    await harness.expectApi(200, 'GET', '/keys', { key: body.key })
  })

  test('the key is svc_live_, 16 characters of id, 43 of secret and 6 of base62 CRC-32', async () => {
    for (let i = 0; i < 20; i++) {
      const { key } = (await createKey({ name: 'Form', type: 'organization' })).body
      expect(key).toMatch(/^svc_live_[0-9A-Za-z]{16}[0-9A-Za-z_-]{43}[0-9A-Za-z]{6}$/)
      expect(key.slice(-6)).toBe(base62Crc32(key.slice(0, -6)))
    }
  })

  test('only a salted SHA-256 hash is stored', async () => {
    const { key } = (await createKey({ name: 'Hashed', type: 'organization' })).body
    const { rows } = await harness.db.query<{ row: string }>({ text: 'SELECT row_to_json(k)::text AS row FROM api_keys k' })
    const stored = rows.map(({ row }) => row).join('\n')
    expect(stored).not.toContain(key)
    expect(stored).not.toContain(key.slice(25, 68))
    const { rows: dated } = await harness.db.query<{ n: number }>({
      text: 'SELECT count(DISTINCT salt)::int AS n, count(*)::int AS all FROM api_keys',
    })
    expect(dated[0]).toEqual({ n: rows.length, all: rows.length })
  })

  test('an agent key names its agent, the type follows from agent_handle, and a leading @ is optional', async () => {
    const { status, body } = await createKey({ name: 'Agent', type: 'agent', agent_handle: '@one', scopes: ['vault:read'] })
    expect([status, body.type, body.agent_handle, body.scopes]).toEqual([201, 'agent', 'one', [...defaultAgentScopes, 'vault:read']])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no name', { type: 'organization' }, '/name'],
    ['an empty name', { name: '', type: 'organization' }, '/name'],
    ['a name of 101 characters', { name: 'x'.repeat(101), type: 'organization' }, '/name'],
    ['no type', { name: 'a' }, '/type'],
    ['no type beside an agent', { name: 'a', agent_handle: 'one' }, '/type'],
    ['an unknown type', { name: 'a', type: 'root' }, '/type'],
    ['an agent key without agent', { name: 'a', type: 'agent' }, '/agent_handle'],
    ['an organization key with agent', { name: 'a', type: 'organization', agent_handle: 'one' }, '/agent_handle'],
    ['an unknown scope', { name: 'a', type: 'organization', scopes: ['vault:burn'] }, '/scopes/0'],
    [
      'a scope of organization keys on an agent key',
      { name: 'a', type: 'agent', agent_handle: 'one', scopes: ['vault:write'] },
      '/scopes/0',
    ],
    ['an unknown preset', { name: 'a', type: 'organization', preset: 'all' }, '/preset'],
    ['one agent and several', { name: 'a', type: 'agent', agent_handle: 'one', agent_handles: ['one'] }, '/agent_handles'],
    ['no agents', { name: 'a', type: 'agent', agent_handles: [] }, '/agent_handles'],
    ['an organization key with agents', { name: 'a', type: 'organization', agent_handles: ['one'] }, '/agent_handles'],
    ['an address that is none', { name: 'a', type: 'organization', allowed_ips: ['192.0.2.1', 'home'] }, '/allowed_ips/1'],
    ['a range that is too long', { name: 'a', type: 'organization', allowed_ips: ['192.0.2.0/33'] }, '/allowed_ips/0'],
    ['an expiry in the past', { name: 'a', type: 'organization', expires_at: '2020-01-01T00:00:00.000Z' }, '/expires_at'],
    ['an expiry that is no time', { name: 'a', type: 'organization', expires_at: 'tomorrow' }, '/expires_at'],
  ])('%s is 400 validation_error naming the field', async (_name, body, path) => {
    const answer = await createKey(body)
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test("an unknown agent and another organization's are both 404", async () => {
    const unknown = await createKey({ name: 'a', type: 'agent', agent_handle: 'nobody' })
    const foreign = await createKey({ name: 'a', type: 'agent', agent_handle: 'one' }, { key: harness.otherOrganization.key })
    expect([unknown.status, foreign.status, foreign.body.error.message]).toEqual([404, 404, unknown.body.error.message])
  })

  test('the same Idempotency-Key gets the same key again', async () => {
    const headers = { 'idempotency-key': 'make-a-key' }
    const first = await createKey({ name: 'Once', type: 'organization' }, { headers })
    const second = await createKey({ name: 'Once', type: 'organization' }, { headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('GET /keys', () => {
  test('lists newest first, revoked ones included, without any plaintext', async () => {
    const made = (await createKey({ name: 'Listed', type: 'organization' })).body
    await harness.expectApi(200, 'DELETE', `/keys/${made.id}`)
    const { body } = await harness.api('GET', '/keys?limit=100')
    expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null })
    expect(body.data[0]).toEqual({ ...made, key: undefined, revoked_at: expect.any(String) })
    expect(body.data.map((one: Json) => one.id)).toEqual(
      body.data
        .map((one: Json) => one.id)
        .toSorted()
        .reverse(),
    )
    expect(JSON.stringify(body)).not.toContain('svc_live_')
  })

  test('a use sets last_used_at', async () => {
    const { key, id } = (await createKey({ name: 'Used', type: 'organization' })).body
    expect(await me(key)).toBe(200)
    await waitFor('last_used_at', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/keys')
      return data.find((one: Json) => one.id === id).last_used_at
    })
  })
})

describe('revocation and expiry', () => {
  test('a revoked key is 401 on the very next request, and no other key is affected', async () => {
    for (let i = 0; i < 10; i++) {
      const [gone, kept] = [
        (await createKey({ name: 'Gone', type: 'organization' })).body,
        (await createKey({ name: 'Kept', type: 'organization' })).body,
      ]
      expect(await me(gone.key)).toBe(200)
      const { body } = await harness.api('DELETE', `/keys/${gone.id}`)
      expect(body).toEqual({ id: gone.id, deleted: true, revoked_at: expect.any(String) })
      expect([await me(gone.key), await me(kept.key)]).toEqual([401, 200])
    }
  })

  test('revocation holds under load, and every request started after the answer is refused', async () => {
    const { key, id } = (await createKey({ name: 'Busy', type: 'organization' })).body
    let isRevoked = false
    const late: number[] = []
    const callers = Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 1000 && late.length < 40; n++) {
        const after = isRevoked
        const status = await me(key)
        if (after) late.push(status)
      }
    })
    await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    isRevoked = true
    await Promise.all(callers)
    expect(new Set(late)).toEqual(new Set([401]))
  })

  test('a key may revoke itself', async () => {
    const { key, id } = (await createKey({ name: 'Self', type: 'organization' })).body
    await harness.expectApi(200, 'DELETE', `/keys/${id}`, { key })
    expect(await me(key)).toBe(401)
  })

  test('revoking again is 200 with the first time, and an unknown or foreign key is 404', async () => {
    const { id } = (await createKey({ name: 'Twice', type: 'organization' })).body
    const first = await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    expect(await harness.expectApi(200, 'DELETE', `/keys/${id}`)).toEqual(first)
    expect((await harness.api('DELETE', `/keys/${id}`, { key: harness.otherOrganization.key })).status).toBe(404)
    expect((await harness.api('DELETE', '/keys/key_01h455vb4pex5vsknk084sn02q')).body.error.code).toBe('not_found')
  })

  test('a key is 401 once it has expired', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const { key, ...made } = (await createKey({ name: 'Brief', type: 'organization', expires_at })).body
    expect(made.expires_at).toBe(expires_at)
    expect(await me(key)).toBe(200)
    // As if the hour had passed but for a moment.
    await harness.db.query({ text: `UPDATE api_keys SET expires_at = now() + interval '100 ms' WHERE id = $1`, values: [made.id] })
    await waitFor('the key to expire', async () => (await me(key)) === 401)
  })
})

describe('an agent-scoped key', () => {
  test('organization-level operations are 403 forbidden', async () => {
    const key = await harness.agentKey('one')
    const calls: [string, string, unknown?][] = [
      ['GET', '/keys'],
      ['POST', '/keys', { name: 'a', type: 'organization' }],
      ['DELETE', '/keys/key_01h455vb4pex5vsknk084sn02q'],
      ['GET', '/audit'],
      ['POST', '/identities', { agent_handle: 'three' }],
      ['PATCH', '/identities/one', { display_name: 'a' }],
      ['DELETE', '/identities/one'],
    ]
    for (const [method, path, body] of calls) {
      const answer = await harness.api(method, path, { key, body })
      expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, 403, 'forbidden'])
    }
  })

  test('another agent is 403 whether or not it exists', async () => {
    const key = await harness.agentKey('one')
    for (const name of ['two', 'nobody', 'two@agents.localhost', 'nobody@elsewhere.example']) {
      const sent = { agent: name, to: ['x@example.com'], subject: 'a', text: 'a' }
      expect((await harness.api('GET', `/mailboxes/${name}/messages`, { key })).status).toBe(403)
      expect((await harness.api('GET', `/identities/${name}`, { key })).status).toBe(403)
      expect((await harness.api('GET', `/mail/messages?agent=${name}`, { key })).status).toBe(403)
      expect((await harness.api('POST', '/mail/send', { key, body: sent })).body.error.code).toBe('forbidden')
    }
  })

  test("another mailbox's message id under its own mailbox is 404", async () => {
    const key = await harness.agentKey('one')
    const { id } = await harness.send('two', 'x@example.com')
    for (const [method, suffix, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/raw'],
      ['PATCH', '', { is_read: true }],
      ['POST', '/reply', { text: 'a' }],
    ] as const) {
      expect((await harness.api(method, `/mailboxes/one/messages/${id}${suffix}`, { key, body })).status).toBe(404)
    }
    await harness.getMessage('two', id)
  })

  test('it can inspect and send email for its own agent, and lists contain nothing else', async () => {
    const key = await harness.agentKey('one')
    await harness.send('two', 'x@example.com')
    const body = { agent: '@one', to: ['x@example.com'], subject: 'mine', text: 'a' }
    const sent = await harness.expectApi(201, 'POST', '/mail/send', { key, body })
    await harness.expectApi(200, 'GET', `/mailboxes/one@agents.localhost/messages/${sent.id}`, { key })
    const mail = await harness.expectApi(200, 'GET', '/mail/messages', { key })
    expect(mail.total).toBe(mail.messages.length)
    expect(new Set(mail.messages.map((one: Json) => one.from))).toEqual(new Set(['one@agents.localhost']))
    for (const list of ['/identities', '/mailboxes']) {
      const { data } = await harness.expectApi(200, 'GET', list, { key })
      expect(data.map((one: Json) => one.agent_handle)).toEqual(['one'])
    }
  })
})

describe('PATCH /keys/{id}', () => {
  test('renames a key of the own organization, and nothing else of it', async () => {
    const { body } = await createKey({ name: 'Old', type: 'agent', agent_handle: 'one' })
    const { key: _key, ...made } = body
    expect(await harness.expectApi(200, 'PATCH', `/keys/${body.id}`, { body: { name: 'New' } })).toEqual({ ...made, name: 'New' })
    expect((await harness.expectApi(200, 'GET', '/me', { key: body.key })).key.name).toBe('New')
    const { data } = await harness.expectApi(200, 'GET', '/audit?limit=1')
    expect(data).toMatchObject([{ action: 'key.updated', target_id: body.id, details: { name: 'New' } }])
    const other = { key: harness.otherOrganization.key, body: { name: 'Taken' } }
    expect((await harness.api('PATCH', `/keys/${body.id}`, other)).status).toBe(404)
    expect((await harness.api('PATCH', `/keys/${body.id}`, { body: { name: 'New', scopes: [] } })).status).toBe(400)
    expect((await harness.api('PATCH', `/keys/${body.id}`, { key: body.key, body: { name: 'Mine' } })).status).toBe(403)
  })
})

describe('GET /audit', () => {
  test('creation and revocation of keys are there, newest first, with their actor', async () => {
    const { id } = (await createKey({ name: 'Audited', type: 'organization' })).body
    await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    const { body } = await harness.api('GET', '/audit')
    const { key } = await harness.expectApi(200, 'GET', '/me')
    const actor = { actor_type: 'key', actor_id: key.id, target_id: id, request_id: expect.stringMatching(/^req_/) }
    expect(body.data.slice(0, 2)).toMatchObject([
      { ...actor, action: 'key.revoked' },
      { ...actor, action: 'key.created', details: { name: 'Audited', type: 'organization' } },
    ])
    expect(JSON.stringify(body)).not.toContain('svc_live_')
  })

  test('a repeated revocation is not recorded again, and nothing of another organization is there', async () => {
    const { id } = (await createKey({ name: 'Audited', type: 'organization' })).body
    await Promise.all([1, 2, 3].map(() => harness.expectApi(200, 'DELETE', `/keys/${id}`)))
    const { body } = await harness.api('GET', '/audit?limit=100')
    expect(body.data.filter((entry: Json) => entry.target_id === id && entry.action === 'key.revoked')).toHaveLength(1)
    const other = await harness.expectApi(200, 'GET', '/audit', { key: harness.otherOrganization.key })
    expect(other.data.map((entry: Json) => [entry.action, entry.actor_type])).toEqual([
      ['key.created', 'host'],
      ['organization.created', 'host'],
    ])
  })
})

describe('limits of a key', () => {
  test('it is accepted from its addresses only, and the last use has address and program', async () => {
    const allowed = (await createKey({ name: 'Here', type: 'organization', allowed_ips: ['127.0.0.0/8', '::1'] })).body
    expect(allowed.allowed_ips).toEqual(['127.0.0.0/8', '::1/128'])
    await harness.expectApi(200, 'GET', '/identities', { key: allowed.key, headers: { 'user-agent': 'tests/1' } })
    const elsewhere = (await createKey({ name: 'Elsewhere', type: 'organization', allowed_ips: ['192.0.2.0/24'] })).body
    // The server trusts no proxy here, so the header changes nothing.
    const answer = await harness.api('GET', '/identities', { key: elsewhere.key, headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
    expect(answer.body.error.message).toContain('allowed_ips')
    const used = await waitFor('the use to be recorded', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/keys?limit=100')
      const found = data.find((one: Json) => one.id === allowed.id)
      return found.last_used_at && found
    })
    expect([used.last_used_ip, used.last_used_user_agent]).toEqual(['127.0.0.1', 'tests/1'])
  })

  test('a key of several agents acts for each of them, and for no other', async () => {
    for (const handle of ['left', 'right', 'outside']) await harness.createAgent(handle)
    const made = await createKey({ name: 'Both', type: 'agent', agent_handles: ['left', '@right'] })
    expect([made.body.agent_handle, made.body.agent_handles]).toEqual([null, ['left', 'right']])
    const { key } = made.body
    for (const handle of ['left', 'right']) await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages`, { key })
    await harness.expectApi(403, 'GET', '/mailboxes/outside/messages', { key })
    const { data } = await harness.expectApi(200, 'GET', '/identities', { key })
    expect(data.map((one: Json) => one.agent_handle).sort()).toEqual(['left', 'right'])
    await harness.expectApi(204, 'DELETE', '/identities/left')
    expect((await harness.expectApi(200, 'GET', '/me', { key })).key.agent_handles).toEqual(['right'])
    await harness.expectApi(204, 'DELETE', '/identities/right')
    await harness.expectApi(401, 'GET', '/me', { key })
  })

  test('a key cannot create a key with more access than its own', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const limits = { allowed_ips: ['127.0.0.0/8', '::1'], expires_at: expiresAt }
    const { key } = (await createKey({ name: 'Limited', type: 'organization', scopes: ['keys:write', 'mail:read'], ...limits })).body
    const statusOf = async (more: object) =>
      (await createKey({ name: 'Made', type: 'organization', scopes: ['mail:read'], ...limits, ...more }, { key })).status
    expect(await statusOf({})).toBe(201)
    expect(await statusOf({ scopes: [] })).toBe(403)
    expect(await statusOf({ scopes: ['mail:send'] })).toBe(403)
    expect(await statusOf({ preset: 'read_only' })).toBe(403)
    expect(await statusOf({ allowed_ips: [] })).toBe(403)
    expect(await statusOf({ allowed_ips: ['0.0.0.0/0'] })).toBe(403)
    expect(await statusOf({ expires_at: null })).toBe(403)
    expect(await statusOf({ type: 'agent', agent_handle: 'one', scopes: [] })).toBe(403)
  })

  test('a key gets and subscribes to events only of types whose scope it has', async () => {
    const { key } = (await createKey({ name: 'Hooks', type: 'organization', scopes: ['webhooks:write', 'events:read', 'phone:read'] })).body
    const hook = (events: string[]) => harness.api('POST', '/webhooks', { key, body: { url: 'https://example.com/hook', events } })
    expect((await hook(['sms.received'])).status).toBe(201)
    for (const events of [['email.received'], ['*']]) expect((await hook(events)).status).toBe(403)
    const refused = await harness.api('GET', '/events?types=email.received', { key })
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining('mail:read')])
    await harness.expectApi(200, 'GET', '/events?types=sms.received', { key })
  })
})
