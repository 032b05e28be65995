// Wrong hashes. Covers the number allowed over nodes and restarts, their records, and that none reaches a log.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { fakeBlob, fakeWrapping } from './harness/vault-client.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

let key: string
let agentKey: string
let vault: Json
let primary: ReturnType<typeof fakeWrapping>
let organizations = 0
beforeEach(async () => {
  const name = `tries_${++organizations}`
  ;({ key } = await harness.createOrganization(name))
  primary = fakeWrapping()
  vault = await harness.expectApi(201, 'POST', '/vault/initialize', { key, body: primary })
  await harness.createAgent(name, {}, key)
  agentKey = await harness.agentKey(name, { scopes: ['vault:read'] }, key)
})

const guess = () => randomBytes(32).toString('hex')
const unlock = (auth_hash: string, as = key) => harness.api('POST', '/vault/unlock', { key: as, body: { auth_hash } })
const fail = async (times: number, as = key) => {
  for (let i = 0; i < times; i++) expect((await unlock(guess(), as)).status).toBe(401)
}
const statuses = (answers: { status: number }[]) =>
  Object.fromEntries(Object.entries(Object.groupBy(answers, (one) => one.status)).map(([k, v]) => [k, v?.length]))
/** Moves every failure of the organization into the past. */
const age = (minutes: number) =>
  harness.db.query({
    text: `UPDATE vault_unlock_failures SET failed_at = failed_at - make_interval(mins => $2) WHERE organization_id = $1`,
    values: [vault.organization_id, minutes],
  })
const auditOf = async () => {
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100', { key })
  return data.filter((one: Json) => /^vault\.unlock/.test(one.action)).toReversed()
}

describe('ten wrong hashes in 15 minutes', () => {
  test('the eleventh attempt is 429 with Retry-After until the window has passed, even with the right hash', async () => {
    await fail(10)
    for (const auth_hash of [guess(), primary.auth_hash]) {
      const { status, body, headers } = await unlock(auth_hash)
      expect([status, body.error.code]).toEqual([429, 'rate_limited'])
      const seconds = Number(headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(14 * 60)
      expect(seconds).toBeLessThanOrEqual(15 * 60)
    }
    expect((await harness.api('GET', `/vault/unlock?auth_hash=${primary.auth_hash}`, { key })).status).toBe(429)
    await age(14)
    expect(Number((await unlock(primary.auth_hash)).headers.get('retry-after'))).toBeLessThanOrEqual(60)
    await age(1)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })

  test('nine do not lock, and the right hash between them changes nothing', async () => {
    await fail(5)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
    await fail(4)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
    await fail(1)
    expect((await unlock(primary.auth_hash)).status).toBe(429)
  })

  test('an agent that guesses does not lock the organization key', async () => {
    await fail(10, agentKey)
    expect((await unlock(primary.auth_hash, agentKey)).status).toBe(429)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })

  test('another key of the same agent does not start a new window', async () => {
    const more = await harness.agentKey(`tries_${organizations}`, { scopes: ['vault:read'] }, key)
    await fail(5, agentKey)
    await fail(5, more)
    const fresh = await harness.agentKey(`tries_${organizations}`, { scopes: ['vault:read'] }, key)
    expect((await unlock(primary.auth_hash, fresh)).status).toBe(429)
  })

  test('thirty of all agents lock agents out, and the organization key still unlocks', async () => {
    const agents = ['a', 'b', 'c'].map((name) => `tries_${organizations}${name}`)
    for (const name of agents) {
      await harness.createAgent(name, {}, key)
      await fail(10, await harness.agentKey(name, { scopes: ['vault:read'] }, key))
    }
    expect((await unlock(primary.auth_hash, agentKey)).status).toBe(429)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })

  test('thirty of all organization keys lock organization keys out', async () => {
    const keys = [key]
    while (keys.length < 4)
      keys.push((await harness.expectApi(201, 'POST', '/keys', { key, body: { name: 'more', type: 'organization' } })).key)
    for (const as of keys.slice(0, 3)) await fail(10, as)
    expect((await unlock(primary.auth_hash, keys[3])).status).toBe(429)
    expect((await unlock(primary.auth_hash, agentKey)).status).toBe(200)
  })

  test('another vault is not affected', async () => {
    await fail(10)
    const other = await harness.createOrganization('untouched')
    const body = fakeWrapping()
    await harness.expectApi(201, 'POST', '/vault/initialize', { key: other.key, body })
    await harness.expectApi(200, 'POST', '/vault/unlock', { key: other.key, body: { auth_hash: body.auth_hash } })
  })

  test('a burst of fifty guesses gets ten answers', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => unlock(guess())))
    expect(statuses(answers)).toEqual({ 401: 10, 429: 40 })
  })

  test('every operation that takes a hash counts, and is refused', async () => {
    const { auth_hash: new_auth_hash, ...wrapping } = fakeWrapping()
    const tries: [string, string, (hash: string) => Json][] = [
      ['PUT', '/vault/keys/primary', (hash) => ({ ...fakeWrapping(), current_auth_hash: hash })],
      ['PUT', '/vault/keys/primary', (hash) => ({ ...fakeWrapping(), recovery_auth_hash: hash })],
      ['DELETE', `/vault/keys/${vault.keys[0].id}`, (hash) => ({ auth_hash: hash })],
      ['POST', '/vault/rotate', (hash) => ({ ...wrapping, auth_hash: hash, new_auth_hash, expected_key_version: 1, secrets: [] })],
    ]
    const attempt = (i: number, hash: string) => {
      const [method, path, body] = tries[i % tries.length] as (typeof tries)[number]
      return harness.api(method, path, { key, body: body(hash) })
    }
    for (let i = 0; i < 10; i++) expect((await attempt(i, guess())).status).toBe(401)
    for (let i = 0; i < 4; i++) expect((await attempt(i, primary.auth_hash)).status).toBe(429)
    expect((await unlock(primary.auth_hash)).status).toBe(429)
    const operations = (await auditOf()).map((one: Json) => one.details.operation)
    expect(new Set(operations)).toEqual(new Set(['replace_primary_key', 'delete_key', 'rotate']))
    await age(15)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })

  test('an invalid or stale request does not count as an attempt', async () => {
    for (let i = 0; i < 12; i++) {
      expect((await harness.api('POST', '/vault/unlock', { key, body: { auth_hash: 'short' } })).status).toBe(400)
      const { auth_hash: new_auth_hash, ...wrapping } = fakeWrapping()
      const body = { ...wrapping, auth_hash: guess(), new_auth_hash, expected_key_version: 9, secrets: [] }
      expect((await harness.api('POST', '/vault/rotate', { key, body })).status).toBe(409)
    }
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })

  test('attempts are stored in the database, so another node counts them', async () => {
    await fail(10)
    const node = await startApp(readConfig(harness.environment), createLog('silent'))
    try {
      const response = await fetch(`http://127.0.0.1:${node.httpPort}/api/v1/vault/unlock`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ auth_hash: primary.auth_hash }),
      })
      expect(response.status).toBe(429)
    } finally {
      await node.stop()
    }
  })

  test('expired failures are deleted', async () => {
    await fail(3)
    await age(15)
    await fail(1)
    const { rows } = await harness.db.query({
      text: 'SELECT 1 FROM vault_unlock_failures WHERE organization_id = $1',
      values: [vault.organization_id],
    })
    expect(rows).toHaveLength(1)
  })
})

describe('records of attempts', () => {
  test('every unlock is in the audit log, ok or failed, with its key', async () => {
    const me = await harness.expectApi(200, 'GET', '/me', { key })
    await unlock(guess())
    await unlock(primary.auth_hash)
    await harness.api('GET', `/vault/unlock?auth_hash=${primary.auth_hash}`, { key: agentKey })
    const entries = await auditOf()
    expect(entries.map((one: Json) => [one.action, one.details])).toEqual([
      ['vault.unlock_failed', { operation: 'unlock' }],
      ['vault.unlocked', { key_id: vault.keys[0].id, key_type: 'primary' }],
      ['vault.unlocked', { key_id: vault.keys[0].id, key_type: 'primary' }],
    ])
    expect(entries[0]).toMatchObject({ actor_id: me.key.id, target_id: vault.id, request_id: expect.stringMatching(/^req_/) })
    expect(entries[2].actor_id).not.toBe(me.key.id)
  })

  test('the hash itself is nowhere in the database', async () => {
    await unlock(primary.auth_hash)
    await fail(1)
    const { rows: tables } = await harness.db.query<{ name: string }>({
      text: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    })
    const hash = primary.auth_hash
    const forms = [hash, Buffer.from(hash, 'hex').toString('base64'), `\\x${hash}`, Buffer.from(hash).toString('hex')]
    for (const { name } of tables) {
      const { rows } = await harness.db.query<{ text: string }>({ text: `SELECT t::text AS text FROM "${name}" t` })
      const text = rows.map((row) => row.text).join('\n')
      for (const form of forms) expect(text.includes(form), `${name} holds the hash as ${form.slice(0, 4)}…`).toBe(false)
    }
    const { rows } = await harness.db.query<{ count: number }>({
      text: 'SELECT count(DISTINCT auth_salt) AS count FROM vault_keys',
    })
    expect(rows[0]?.count).toBe((await harness.db.query({ text: 'SELECT 1 FROM vault_keys' })).rowCount)
  })

  test('no hash, salt, wrapped key, payload or name is in the log, and requests are logged by their pattern', async () => {
    const canary = 'canary-7f3a'
    const payload = fakeBlob(90)
    const wrong = guess()
    const secret = await harness.expectApi(201, 'POST', '/vault/secrets', {
      key,
      body: { type: 'other', name: canary, description: canary, encrypted_payload: payload },
    })
    await harness.api('PATCH', `/vault/secrets/${secret.id}`, { key, body: { name: `${canary}-2`, revision: 9 } })
    for (const hash of [wrong, primary.auth_hash, primary.auth_hash.toUpperCase(), `${wrong}00`]) {
      await harness.api('GET', `/vault/unlock?auth_hash=${hash}`, { key })
      await unlock(hash)
    }
    await harness.api('GET', `/vault/unlock?auth_hash=${wrong}&auth_hash=${wrong}`, { key })
    await harness.api('GET', `/vault/unlock?auth_hash=${wrong}`, { key: null })
    await harness.api('GET', `/vault/unlocked?auth_hash=${wrong}`, { key })
    await harness.api('DELETE', `/vault/unlock?auth_hash=${wrong}`, { key })
    const fresh = fakeWrapping()
    await harness.api('PUT', '/vault/keys/primary', { key, body: { ...fresh, current_auth_hash: wrong } })
    await harness.api('PUT', '/vault/keys/primary', { key, body: { ...fresh, current_auth_hash: primary.auth_hash } })
    const text = harness.logLines().join('').toLowerCase()
    for (const word of [
      wrong,
      primary.auth_hash,
      fresh.auth_hash,
      canary,
      payload,
      primary.wrapped_org_key,
      primary.kdf_salt,
      fresh.wrapped_org_key,
    ])
      expect(text.includes(word.toLowerCase()), word).toBe(false)
    expect(text).not.toContain('auth_hash=')
    const routes = harness
      .logLines()
      .map((line) => JSON.parse(line))
      .filter((line) => line.msg === 'request')
    expect(routes.filter((line) => line.route === '/api/v1/vault/unlock').length).toBeGreaterThan(8)
    const tried = harness
      .logLines()
      .map((line) => JSON.parse(line))
      .filter((line) => line.msg === 'vault key tried')
    expect(new Set(tried.map((line) => line.outcome))).toEqual(new Set(['ok', 'wrong', 'throttled']))
  })

  test('an error answer does not repeat the hash', async () => {
    const wrong = guess()
    for (const path of [`/vault/unlock?auth_hash=${wrong}`, `/vault/unlock?auth_hash=${wrong}00`, `/vault/unlock?auth_hash=${wrong}&x=1`])
      expect(JSON.stringify((await harness.api('GET', path, { key })).body)).not.toContain(wrong)
  })
})
