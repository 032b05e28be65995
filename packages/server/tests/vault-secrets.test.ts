// Ciphertext secrets and their grants over HTTP, and the constraints of the schema.
import { newId } from '@callsign/contract/ids'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { fakeBlob, fakeWrapping } from './harness/vault-client.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

/** Each test has its own organization, with a vault and two agents. */
let key: string
let organizationId: string
let handle: string
let agent: Json
let agentKey: string
let other: Json
let organizations = 0
beforeEach(async () => {
  const name = `org_${++organizations}`
  ;({ key, id: organizationId } = await harness.createOrganization(name))
  await harness.expectApi(201, 'POST', '/vault/initialize', { key, body: fakeWrapping() })
  handle = `${name}_a`
  agent = await harness.createAgent(handle, {}, key)
  other = await harness.createAgent(`${name}_b`, {}, key)
  agentKey = await harness.agentKey(handle, { scopes: ['vault:read'] }, key)
})

const codeOf = (answer: Json) => [answer.status, answer.body.error?.code]
const newSecret = (more: Json = {}) => ({ type: 'login', name: 'Mail', encrypted_payload: fakeBlob(), ...more })
const create = (more: Json = {}, as = key): Promise<Json> =>
  harness.expectApi(201, 'POST', '/vault/secrets', { key: as, body: newSecret(more) })
const get = (id: string, as = key): Promise<Json> => harness.expectApi(200, 'GET', `/vault/secrets/${id}`, { key: as })
const patch = (id: string, body: Json) => harness.api('PATCH', `/vault/secrets/${id}`, { key, body })
const grant = (id: string, body: Json = { identity_id: agent.id }) => harness.api('POST', `/vault/secrets/${id}/access`, { key, body })
const list = async (query = '', as = key): Promise<Json> => harness.expectApi(200, 'GET', `/vault/secrets${query}`, { key: as })

describe('POST /vault/secrets', () => {
  test('stores the ciphertext unchanged', async () => {
    const body = newSecret({ description: 'of the sales simulatorState' })
    const secret = await harness.expectApi(201, 'POST', '/vault/secrets', { key, body })
    expect(secret).toEqual({
      id: expect.stringMatching(/^vsec_/),
      ...body,
      revision: 1,
      key_version: 1,
      access: [],
      created_at: expect.any(String),
      updated_at: secret.created_at,
    })
    expect(await get(secret.id)).toEqual(secret)
  })

  test.each(['login', 'api_key', 'key_pair', 'ssh_key', 'other'])('takes the type %s', async (type) => {
    expect((await create({ type })).type).toBe(type)
  })

  test('accepts a client-made id once, also after its deletion, and in every organization', async () => {
    const id = newId('vaultSecret', Date.now())
    expect((await create({ id })).id).toBe(id)
    const again = () => harness.api('POST', '/vault/secrets', { key, body: newSecret({ id }) })
    expect(codeOf(await again())).toEqual([409, 'vault_secret_exists'])
    await harness.expectApi(200, 'DELETE', `/vault/secrets/${id}`, { key })
    expect(codeOf(await again())).toEqual([409, 'vault_secret_exists'])
    const elsewhere = await harness.createOrganization('elsewhere')
    await harness.expectApi(201, 'POST', '/vault/initialize', { key: elsewhere.key, body: fakeWrapping() })
    await create({ id, name: 'Theirs' }, elsewhere.key)
  })

  test('a payload may have 64 KiB and not a byte more', async () => {
    const secret = await create({ encrypted_payload: fakeBlob(65_536) })
    expect(Buffer.from((await get(secret.id)).encrypted_payload, 'base64')).toHaveLength(65_536)
    const answer = await harness.api('POST', '/vault/secrets', { key, body: newSecret({ encrypted_payload: fakeBlob(65_537) }) })
    expect(codeOf(answer)).toEqual([400, 'validation_error'])
  })

  test('a stale key_version is 409 vault_key_version_stale', async () => {
    expect((await create({ key_version: 1 })).key_version).toBe(1)
    const answer = await harness.api('POST', '/vault/secrets', { key, body: newSecret({ key_version: 2 }) })
    expect(codeOf(answer)).toEqual([409, 'vault_key_version_stale'])
  })

  test('a full vault is 409', async () => {
    await harness.db.query({
      text: `INSERT INTO vault_secrets (organization_id, id, type, name, encrypted_payload, revision, key_version, created_at, updated_at)
        SELECT $1, 'filler-' || n, 'other', 'filler', repeat('A', 87384), 1, 1, now(), now() FROM generate_series(1, 256) n`,
      values: [organizationId],
    })
    const answer = await harness.api('POST', '/vault/secrets', { key, body: newSecret() })
    expect(codeOf(answer)).toEqual([409, 'conflict'])
  })

  const plaintext = Buffer.from('{"username":"ada","password":"in the clear, by mistake"}').toString('base64')
  test.each([
    ['plaintext', { encrypted_payload: plaintext }],
    ['a blob without ciphertext and tag', { encrypted_payload: fakeBlob(29) }],
    ['another version', { encrypted_payload: Buffer.from([2, 1, ...Array(60).fill(0)]).toString('base64') }],
    ['another algorithm', { encrypted_payload: Buffer.from([1, 2, ...Array(60).fill(0)]).toString('base64') }],
    ['sloppy base64', { encrypted_payload: `${fakeBlob(60)}=` }],
    ['no base64', { encrypted_payload: '!'.repeat(80) }],
    ['an unknown type', { type: 'password' }],
    ['no name', { name: '' }],
    ['a long name', { name: 'x'.repeat(256) }],
    ['a control character in the name', { name: 'a\nb' }],
    ['a long description', { description: 'x'.repeat(2001) }],
    ['an id of another kind', { id: newId('vault', Date.now()) }],
    ['a plaintext field', { payload: { password: 'hunter2' } }],
  ])('%s is 400', async (_name, change) => {
    expect(codeOf(await harness.api('POST', '/vault/secrets', { key, body: newSecret(change) }))).toEqual([400, 'validation_error'])
    expect((await list()).data).toEqual([])
  })

  test('the same Idempotency-Key stores one secret', async () => {
    const ask = { key, body: newSecret(), headers: { 'idempotency-key': 'one' } }
    const first = await harness.expectApi(201, 'POST', '/vault/secrets', ask)
    expect(await harness.expectApi(201, 'POST', '/vault/secrets', ask)).toEqual(first)
    expect((await list()).data).toHaveLength(1)
  })
})

describe('GET /vault/secrets', () => {
  test('lists newest first, in pages, by type', async () => {
    const ids = [(await create()).id, (await create({ type: 'ssh_key' })).id, (await create()).id]
    const first = await list('?limit=2')
    expect([first.data.map((one: Json) => one.id), first.has_more]).toEqual([[ids[2], ids[1]], true])
    const second = await list(`?limit=2&cursor=${first.next_cursor}`)
    expect([second.data.map((one: Json) => one.id), second.has_more, second.next_cursor]).toEqual([[ids[0]], false, null])
    expect((await list('?type=ssh_key')).data.map((one: Json) => one.id)).toEqual([ids[1]])
  })

  test('with id in the query, lists that one or answers 404', async () => {
    const secret = await create()
    await create()
    expect((await list(`?id=${secret.id}`)).data).toEqual([secret])
    const missing = await harness.api('GET', `/vault/secrets?id=${newId('vaultSecret', Date.now())}`, { key })
    expect(codeOf(missing)).toEqual([404, 'not_found'])
  })

  test('an organization key sees the readers, and an agent does not', async () => {
    const { id } = await create()
    await grant(id)
    await grant(id, { identity_id: other.id })
    const access = [
      { identity_id: agent.id, agent_handle: agent.agent_handle },
      { identity_id: other.id, agent_handle: other.agent_handle },
    ]
    expect((await list()).data[0].access).toEqual(access)
    expect((await get(id)).access).toEqual(access)
    expect((await list('', agentKey)).data[0]).not.toHaveProperty('access')
    expect(await get(id, agentKey)).not.toHaveProperty('access')
  })

  test("an agent lists its granted secrets, and ungranted, absent and another organization's are the same 404", async () => {
    const granted = await create({ name: 'granted' })
    const withheld = await create({ name: 'withheld' })
    await grant(granted.id)
    expect((await list('', agentKey)).data.map((one: Json) => one.name)).toEqual(['granted'])
    expect((await get(granted.id, agentKey)).encrypted_payload).toBe(granted.encrypted_payload)
    const foreign = await harness.createOrganization('foreign')
    await harness.expectApi(201, 'POST', '/vault/initialize', { key: foreign.key, body: fakeWrapping() })
    const theirs = await create({}, foreign.key)
    const absent = newId('vaultSecret', Date.now())
    const bodies = await Promise.all(
      [withheld.id, theirs.id, absent].map(async (id) => {
        const answer = await harness.api('GET', `/vault/secrets/${id}`, { key: agentKey })
        expect((await harness.api('GET', `/vault/secrets?id=${id}`, { key: agentKey })).status).toBe(404)
        const { request_id: _, ...error } = answer.body.error
        return [answer.status, error]
      }),
    )
    expect(bodies).toEqual(Array(3).fill([404, { code: 'not_found', message: 'No such secret.' }]))
    expect((await harness.api('GET', `/vault/secrets/${theirs.id}`, { key })).status).toBe(404)
  })
})

describe('PATCH /vault/secrets', () => {
  test('changes the given fields and counts the revision', async () => {
    const secret = await create({ description: 'old' })
    const encrypted_payload = fakeBlob(100)
    const changed = (await patch(secret.id, { encrypted_payload, revision: 1, key_version: 1 })).body
    expect(changed).toEqual({ ...secret, encrypted_payload, revision: 2, updated_at: expect.any(String) })
    expect((await patch(secret.id, { name: 'New' })).body).toMatchObject({
      name: 'New',
      description: 'old',
      revision: 3,
      encrypted_payload,
    })
    expect((await patch(secret.id, { description: null })).body).toMatchObject({ description: null, revision: 4 })
    expect(await get(secret.id)).toMatchObject({ name: 'New', description: null, revision: 4 })
  })

  test('on the collection, with the id in the body or the query', async () => {
    const { id } = await create()
    expect(await harness.expectApi(200, 'PATCH', '/vault/secrets', { key, body: { id, name: 'By body' } })).toMatchObject({
      id,
      name: 'By body',
    })
    const byQuery = await harness.expectApi(200, 'PATCH', `/vault/secrets?id=${id}`, { key, body: { name: 'By query' } })
    expect(byQuery).toMatchObject({ id, name: 'By query', revision: 3 })
    expect(codeOf(await harness.api('PATCH', '/vault/secrets', { key, body: { name: 'Which?' } }))).toEqual([400, 'validation_error'])
    const twice = { key, body: { id: newId('vaultSecret', Date.now()), name: 'Which?' } }
    expect(codeOf(await harness.api('PATCH', `/vault/secrets?id=${id}`, twice))).toEqual([400, 'validation_error'])
  })

  test('a stale revision is 409 vault_secret_conflict, a stale key_version 409 vault_key_version_stale', async () => {
    const { id } = await create()
    await patch(id, { name: 'First', revision: 1 })
    expect(codeOf(await patch(id, { name: 'Second', revision: 1 }))).toEqual([409, 'vault_secret_conflict'])
    expect(codeOf(await patch(id, { encrypted_payload: fakeBlob(), key_version: 7 }))).toEqual([409, 'vault_key_version_stale'])
    expect(await get(id)).toMatchObject({ name: 'First', revision: 2 })
  })

  test('of ten changes with one revision exactly one succeeds', async () => {
    const { id } = await create()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => patch(id, { name: `Name ${i}`, revision: 1 })))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(9).fill(409)])
    expect(await get(id)).toMatchObject({ name: answers.find((answer) => answer.status === 200)?.body.name, revision: 2 })
  })

  test('the type is immutable, an empty change is refused, and an unknown id is 404', async () => {
    const { id } = await create()
    expect(codeOf(await patch(id, { type: 'other' }))).toEqual([400, 'validation_error'])
    expect(codeOf(await patch(id, {}))).toEqual([400, 'validation_error'])
    expect(codeOf(await patch(id, { revision: 1 }))).toEqual([400, 'validation_error'])
    expect(codeOf(await patch(newId('vaultSecret', Date.now()), { name: 'x' }))).toEqual([404, 'not_found'])
  })
})

describe('DELETE /vault/secrets', () => {
  test('deletes with the grants, any number of times, and an id that never existed is 404', async () => {
    const { id } = await create()
    await grant(id)
    for (let i = 0; i < 2; i++)
      expect(await harness.expectApi(200, 'DELETE', `/vault/secrets/${id}`, { key })).toEqual({ id, deleted: true })
    expect((await harness.api('GET', `/vault/secrets/${id}`, { key })).status).toBe(404)
    expect((await list('', agentKey)).data).toEqual([])
    expect((await harness.api('DELETE', `/vault/secrets/${newId('vaultSecret', Date.now())}`, { key })).status).toBe(404)
  })

  test('on the collection, with the id in the query or the body', async () => {
    const ids = [(await create()).id, (await create()).id]
    await harness.expectApi(200, 'DELETE', `/vault/secrets?id=${ids[0]}`, { key })
    await harness.expectApi(200, 'DELETE', '/vault/secrets', { key, body: { id: ids[1] } })
    expect((await list()).data).toEqual([])
    expect(codeOf(await harness.api('DELETE', '/vault/secrets', { key }))).toEqual([400, 'validation_error'])
  })

  test("another organization's secret is 404 and stays", async () => {
    const { id } = await create()
    const { key: theirKey } = await harness.createOrganization('thief')
    await harness.expectApi(201, 'POST', '/vault/initialize', { key: theirKey, body: fakeWrapping() })
    for (const [method, body] of [['DELETE'], ['PATCH', { name: 'x' }]] as const)
      expect((await harness.api(method, `/vault/secrets/${id}`, { key: theirKey, body })).status).toBe(404)
    await get(id)
  })
})

describe('access', () => {
  test('grants once, on any number of requests', async () => {
    const { id } = await create()
    const first = (await grant(id)).body
    expect(first).toEqual({
      id: expect.stringMatching(/^vacc_/),
      secret_id: id,
      identity_id: agent.id,
      agent_handle: handle,
      created_by: expect.stringMatching(/^key_/),
      created_at: expect.any(String),
    })
    for (const body of [{ identity_id: agent.id }, { agent_handle: handle }, { agent_handle: `@${handle}` }])
      expect(await grant(id, body)).toMatchObject({ status: 201, body: first })
    const answers = await Promise.all(Array.from({ length: 8 }, () => grant(id, { identity_id: other.id })))
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
  })

  test('lists newest first, in pages', async () => {
    const { id } = await create()
    await grant(id)
    await grant(id, { identity_id: other.id })
    const path = `/vault/secrets/${id}/access`
    const first = await harness.expectApi(200, 'GET', `${path}?limit=1`, { key })
    expect([first.data.map((one: Json) => one.identity_id), first.has_more]).toEqual([[other.id], true])
    const second = await harness.expectApi(200, 'GET', `${path}?limit=1&cursor=${first.next_cursor}`, { key })
    expect([second.data.map((one: Json) => one.identity_id), second.has_more]).toEqual([[agent.id], false])
  })

  test('is revoked by path, query or body, any number of times', async () => {
    const { id } = await create()
    const path = `/vault/secrets/${id}/access`
    const ways: [string, Json?][] = [
      [`${path}/${agent.id}`],
      [`${path}/${handle}`],
      [`${path}?identity_id=${agent.id}`],
      [`${path}?agent_handle=${handle}`],
      [path, { identity_id: agent.id }],
    ]
    for (const [way, body] of ways) {
      await grant(id)
      await get(id, agentKey)
      for (let i = 0; i < 2; i++)
        expect(await harness.expectApi(200, 'DELETE', way, { key, body })).toEqual({
          id: agent.id,
          secret_id: id,
          identity_id: agent.id,
          deleted: true,
        })
      expect((await harness.api('GET', `/vault/secrets/${id}`, { key: agentKey })).status).toBe(404)
    }
  })

  test('names exactly one agent', async () => {
    const { id } = await create()
    for (const body of [{}, { identity_id: agent.id, agent_handle: handle }])
      expect(codeOf(await grant(id, body))).toEqual([400, 'validation_error'])
    expect((await harness.api('DELETE', `/vault/secrets/${id}/access`, { key })).status).toBe(400)
  })

  test("an unknown secret or agent, or another organization's, is 404", async () => {
    const { id } = await create()
    const { key: theirKey } = await harness.createOrganization('neighbour')
    const theirs = await harness.createAgent(`${handle}_theirs`, {}, theirKey)
    for (const body of [
      { identity_id: theirs.id },
      { agent_handle: theirs.agent_handle },
      { identity_id: newId('identity', Date.now()) },
      { agent_handle: 'nobody_here' },
    ])
      expect(codeOf(await grant(id, body))).toEqual([404, 'not_found'])
    expect(codeOf(await grant(newId('vaultSecret', Date.now())))).toEqual([404, 'not_found'])
    expect((await harness.api('GET', `/vault/secrets/${newId('vaultSecret', Date.now())}/access`, { key })).status).toBe(404)
    expect((await get(id)).access).toEqual([])
  })

  test('a grant across organizations cannot be stored', async () => {
    const { id } = await create()
    const { key: theirKey, id: theirOrganization } = await harness.createOrganization('across')
    const theirs = await harness.createAgent(`${handle}_across`, {}, theirKey)
    const insert = (organization: string) =>
      harness.db.query({
        text: `INSERT INTO vault_access (organization_id, id, secret_id, identity_id, created_by, created_at) VALUES ($1, 'a', $2, $3, 'k', now())`,
        values: [organization, id, theirs.id],
      })
    await expect(insert(organizationId)).rejects.toMatchObject({ code: '23503' })
    await expect(insert(theirOrganization)).rejects.toMatchObject({ code: '23503' })
  })

  test('a deleted identity loses its grants', async () => {
    const { id } = await create()
    await grant(id)
    await grant(id, { identity_id: other.id })
    expect((await harness.api('DELETE', `/identities/${handle}`, { key })).status).toBe(204)
    expect((await get(id)).access.map((one: Json) => one.identity_id)).toEqual([other.id])
    expect((await harness.api('GET', `/vault/secrets/${id}`, { key: agentKey })).status).toBe(401)
  })

  test('every change is in the audit log', async () => {
    const { id } = await create()
    await patch(id, { name: 'Renamed', encrypted_payload: fakeBlob() })
    await grant(id)
    await grant(id)
    await harness.api('DELETE', `/vault/secrets/${id}/access/${agent.id}`, { key })
    await harness.api('DELETE', `/vault/secrets/${id}/access/${agent.id}`, { key })
    await harness.api('DELETE', `/vault/secrets/${id}`, { key })
    const { data } = await harness.expectApi(200, 'GET', '/audit', { key })
    const entries = data.filter((one: Json) => one.target_id === id).toReversed()
    expect(entries.map((one: Json) => [one.action, one.details])).toEqual([
      ['vault.secret_created', { type: 'login' }],
      ['vault.secret_updated', { revision: 2, payload: true }],
      ['vault.access_granted', { identity_id: agent.id }],
      ['vault.access_revoked', { identity_id: agent.id }],
      ['vault.secret_deleted', {}],
    ])
  })
})
