// The whole vault over HTTP. Covers metadata, initialization, unlock and permissions.
import { randomBytes } from 'node:crypto'
import { newId } from '@callsign/contract/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { authHashOf, deriveMaster, fakeBlob, fakeWrapping, kdfParams, open, openJson, sealJson, wrap } from './harness/vault-client.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const initialize = (key: string, body: Json) => harness.api('POST', '/vault/initialize', { key, body })
const codeOf = (answer: Json) => [answer.status, answer.body.error?.code]

/** An organization with a vault, an agent with vault:read, and one without. */
async function createVault(name: string) {
  const { id, key } = await harness.createOrganization(name)
  const wrapping = fakeWrapping()
  const vault = await harness.expectApi(201, 'POST', '/vault/initialize', { key, body: wrapping })
  const reader = await harness.createAgent(`${name}_reader`, {}, key)
  await harness.createAgent(`${name}_other`, {}, key)
  const readerKey = await harness.agentKey(`${name}_reader`, { scopes: ['vault:read'] }, key)
  const plainKey = await harness.agentKey(`${name}_other`, {}, key)
  return { organizationId: id, key, wrapping, vault, reader, readerKey, plainKey }
}

test('an independent client initializes, stores, unlocks and decrypts', async () => {
  const { key } = await harness.createOrganization('whole')
  const orgKey = randomBytes(32)
  const vaultKey = 'correct horse battery stäple 7'
  await harness.expectApi(201, 'POST', '/vault/initialize', { key, body: wrap(orgKey, vaultKey) })
  const payload = { username: 'ada', password: 'a password of hers' }
  const body = { type: 'login', name: 'Mail', description: 'her mail', encrypted_payload: sealJson(orgKey, payload) }
  await harness.expectApi(201, 'POST', '/vault/secrets', { key, body })

  const { kdf_salt, kdf_params } = await harness.expectApi(200, 'GET', '/vault', { key })
  const master = deriveMaster(vaultKey, Buffer.from(kdf_salt, 'base64'), kdf_params)
  const unlocked = await harness.expectApi(200, 'GET', `/vault/unlock?auth_hash=${authHashOf(master)}`, { key })
  expect(unlocked.kdf_params).toEqual(kdf_params)
  const opened = open(master, unlocked.wrapped_org_key)
  expect(opened).toEqual(orgKey)
  expect(unlocked.secrets).toHaveLength(1)
  expect(openJson(opened, unlocked.secrets[0].encrypted_payload)).toEqual(payload)
})

describe('GET /vault', () => {
  test('says that there is none', async () => {
    const { key } = await harness.createOrganization('none')
    expect(await harness.expectApi(200, 'GET', '/vault', { key })).toEqual({ initialized: false })
  })

  test('gives salt, parameters and version', async () => {
    const { key, organizationId, wrapping, vault } = await createVault('meta')
    const body = await harness.expectApi(200, 'GET', '/vault', { key })
    expect(body).toEqual({
      initialized: true,
      id: expect.stringMatching(/^vlt_/),
      organization_id: organizationId,
      kdf_salt: wrapping.kdf_salt,
      kdf_params: kdfParams,
      key_version: 1,
      secrets_count: 0,
      recovery_keys_remaining: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const { keys, ...rest } = vault
    expect(rest).toEqual(body)
    expect(keys).toEqual([{ id: expect.stringMatching(/^vkey_/), key_type: 'primary', created_at: expect.any(String) }])
  })

  test('an agent with vault:read sees it, with the count of its granted secrets', async () => {
    const { key, reader, readerKey } = await createVault('counts')
    for (const name of ['one', 'two']) {
      const body = { type: 'other', name, encrypted_payload: fakeBlob() }
      const { id } = await harness.expectApi(201, 'POST', '/vault/secrets', { key, body })
      if (name === 'one') await harness.expectApi(201, 'POST', `/vault/secrets/${id}/access`, { key, body: { identity_id: reader.id } })
    }
    expect((await harness.expectApi(200, 'GET', '/vault', { key })).secrets_count).toBe(2)
    const seen = await harness.expectApi(200, 'GET', '/vault', { key: readerKey })
    expect(seen.secrets_count).toBe(1)
    expect(seen).not.toHaveProperty('recovery_keys_remaining')
  })
})

describe('POST /vault/initialize', () => {
  test('takes a client-made id and recovery keys', async () => {
    const { key } = await harness.createOrganization('recovery')
    const id = newId('vault', Date.now())
    const recoveryId = newId('vaultKey', Date.now())
    const { auth_hash, wrapped_org_key } = fakeWrapping()
    const own = fakeWrapping()
    const body = {
      ...fakeWrapping(),
      id,
      recovery_keys: [
        { id: recoveryId, ...own },
        { auth_hash, wrapped_org_key },
      ],
    }
    const vault = await harness.expectApi(201, 'POST', '/vault/initialize', { key, body })
    expect(vault).toMatchObject({ id, recovery_keys_remaining: 2 })
    expect(vault.keys.map((one: Json) => one.key_type)).toEqual(['primary', 'recovery', 'recovery'])
    const { data } = await harness.expectApi(200, 'GET', '/vault/keys', { key })
    expect(data.find((one: Json) => one.id === recoveryId).kdf_salt).toBe(own.kdf_salt)
    expect(data.find((one: Json) => one.key_type === 'recovery' && one.id !== recoveryId).kdf_salt).toBe(body.kdf_salt)
  })

  test('a second one is 409 vault_already_initialized and changes nothing', async () => {
    const { key, wrapping } = await createVault('twice')
    expect(codeOf(await initialize(key, fakeWrapping()))).toEqual([409, 'vault_already_initialized'])
    await harness.expectApi(200, 'POST', '/vault/unlock', { key, body: { auth_hash: wrapping.auth_hash } })
  })

  test('of twenty at once exactly one is 201', async () => {
    const { key } = await harness.createOrganization('race')
    const bodies = Array.from({ length: 20 }, fakeWrapping)
    const answers = await Promise.all(bodies.map((body) => initialize(key, body)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)])
    const winner = bodies[answers.findIndex((answer) => answer.status === 201)]
    expect((await harness.expectApi(200, 'GET', '/vault', { key })).kdf_salt).toBe(winner?.kdf_salt)
    expect((await harness.expectApi(200, 'GET', '/vault/keys', { key })).data).toHaveLength(1)
  })

  test('the same Idempotency-Key gets the first answer', async () => {
    const { key } = await harness.createOrganization('again')
    const body = fakeWrapping()
    const headers = { 'idempotency-key': 'init' }
    const first = await harness.expectApi(201, 'POST', '/vault/initialize', { key, body, headers })
    expect(await harness.expectApi(201, 'POST', '/vault/initialize', { key, body, headers })).toEqual(first)
  })

  test.each([
    ['m below 19456', { m: 19_455 }],
    ['t below 2', { t: 1 }],
    ['p below 1', { p: 0 }],
    ['all of them', { m: 8, t: 1, p: -1 }],
  ])('%s is 400 kdf_params_too_weak', async (_name, weak) => {
    const body = { ...fakeWrapping(), kdf_params: { ...kdfParams, ...weak } }
    const answer = await initialize(harness.otherOrganization.key, body)
    expect(codeOf(answer)).toEqual([400, 'kdf_params_too_weak'])
    expect(answer.body.error.details.map((detail: Json) => detail.path)).toEqual(Object.keys(weak).map((name) => `/kdf_params/${name}`))
  })

  test('weak parameters of a recovery key are refused too', async () => {
    const body = { ...fakeWrapping(), recovery_keys: [{ ...fakeWrapping(), kdf_params: { ...kdfParams, t: 1 } }] }
    const answer = await initialize(harness.otherOrganization.key, body)
    expect(answer.body.error).toMatchObject({ code: 'kdf_params_too_weak', details: [{ path: '/recovery_keys/0/kdf_params/t' }] })
  })

  const bytes = (size: number) => randomBytes(size).toString('base64')
  test.each<[string, () => Json]>([
    ['absurd memory', () => ({ kdf_params: { ...kdfParams, m: 1_048_577 } })],
    ['absurd passes', () => ({ kdf_params: { ...kdfParams, t: 17 } })],
    ['absurd lanes', () => ({ kdf_params: { ...kdfParams, p: 17 } })],
    ['another algorithm', () => ({ kdf_params: { ...kdfParams, algorithm: 'pbkdf2' } })],
    ['half a pass', () => ({ kdf_params: { ...kdfParams, t: 2.5 } })],
    ['a short salt', () => ({ kdf_salt: bytes(15) })],
    ['a long salt', () => ({ kdf_salt: bytes(65) })],
    ['a salt without padding', () => ({ kdf_salt: bytes(16).replaceAll('=', '') })],
    ['a salt with a line break', () => ({ kdf_salt: `${bytes(16)}\n` })],
    ['a salt in the URL alphabet', () => ({ kdf_salt: '-_-_-_-_-_-_-_-_-_-_-Q==' })],
    ['a short hash', () => ({ auth_hash: randomBytes(31).toString('hex') })],
    ['a hash that is no hexadecimal', () => ({ auth_hash: 'g'.repeat(64) })],
    ['a wrapped key that can hold no key', () => ({ wrapped_org_key: fakeBlob(61) })],
    ['a huge wrapped key', () => ({ wrapped_org_key: fakeBlob(1025) })],
    ['a wrapped key without the header', () => ({ wrapped_org_key: Buffer.alloc(62, 7).toString('base64') })],
    ['eleven recovery keys', () => ({ recovery_keys: Array.from({ length: 11 }, fakeWrapping) })],
    ['an id of another kind', () => ({ id: newId('vaultSecret', Date.now()) })],
    ['an unknown field', () => ({ vault_key: 'hunter2' })],
  ])('%s is 400 and makes no vault', async (_name, change) => {
    const { key } = harness.otherOrganization
    expect(codeOf(await initialize(key, { ...fakeWrapping(), ...change() }))).toEqual([400, 'validation_error'])
    expect(await harness.expectApi(200, 'GET', '/vault', { key })).toEqual({ initialized: false })
  })

  test('two keys with one auth_hash are 400, in either case of letters', async () => {
    const wrapping = fakeWrapping()
    const body = { ...wrapping, recovery_keys: [{ ...fakeWrapping(), auth_hash: wrapping.auth_hash.toUpperCase() }] }
    expect(codeOf(await initialize(harness.otherOrganization.key, body))).toEqual([400, 'validation_error'])
  })
})

describe('unlock', () => {
  test('answers GET and POST with the key, the parameters and every secret', async () => {
    const { key, wrapping, vault } = await createVault('both')
    const body = { type: 'api_key', name: 'Stripe', encrypted_payload: fakeBlob(200) }
    const { access, ...secret } = await harness.expectApi(201, 'POST', '/vault/secrets', { key, body })
    expect(access).toEqual([])
    const byPost = await harness.expectApi(200, 'POST', '/vault/unlock', { key, body: { auth_hash: wrapping.auth_hash } })
    expect(byPost).toEqual({
      wrapped_org_key: wrapping.wrapped_org_key,
      kdf_params: kdfParams,
      kdf_salt: wrapping.kdf_salt,
      secrets: [secret],
      vault_id: vault.id,
      key_id: vault.keys[0].id,
      key_type: 'primary',
      key_version: 1,
    })
    expect(await harness.expectApi(200, 'GET', `/vault/unlock?auth_hash=${wrapping.auth_hash}`, { key })).toEqual(byPost)
  })

  test('a hash in upper case is the same hash', async () => {
    const { key, wrapping } = await createVault('upper')
    const auth_hash = wrapping.auth_hash.toUpperCase()
    await harness.expectApi(200, 'GET', `/vault/unlock?auth_hash=${auth_hash}`, { key })
    await harness.expectApi(200, 'POST', '/vault/unlock', { key, body: { auth_hash } })
  })

  test('a mismatched hash is 401 invalid_auth_hash', async () => {
    const { key } = await createVault('wrong')
    const auth_hash = randomBytes(32).toString('hex')
    expect(codeOf(await harness.api('GET', `/vault/unlock?auth_hash=${auth_hash}`, { key }))).toEqual([401, 'invalid_auth_hash'])
    expect(codeOf(await harness.api('POST', '/vault/unlock', { key, body: { auth_hash } }))).toEqual([401, 'invalid_auth_hash'])
  })

  test("another organization's hash is wrong here", async () => {
    const [one, two] = [await createVault('left'), await createVault('right')]
    const body = { auth_hash: one.wrapping.auth_hash }
    expect(codeOf(await harness.api('POST', '/vault/unlock', { key: two.key, body }))).toEqual([401, 'invalid_auth_hash'])
  })

  test.each(['', '?auth_hash=', '?auth_hash=abc', `?auth_hash=${'g'.repeat(64)}`, `?auth_hash=${'a'.repeat(65)}`])(
    'GET /vault/unlock%s is 400',
    async (query) => {
      const answer = await harness.api('GET', `/vault/unlock${query}`)
      expect(codeOf(answer)).toEqual([400, 'validation_error'])
    },
  )

  test('a repeated auth_hash is 400, right or not', async () => {
    const { key, wrapping } = await createVault('repeat')
    const query = `auth_hash=${wrapping.auth_hash}&auth_hash=${wrapping.auth_hash}`
    expect(codeOf(await harness.api('GET', `/vault/unlock?${query}`, { key }))).toEqual([400, 'validation_error'])
  })

  test('without a vault it is 404 vault_not_initialized', async () => {
    const { key } = harness.otherOrganization
    const auth_hash = 'a'.repeat(64)
    expect(codeOf(await harness.api('GET', `/vault/unlock?auth_hash=${auth_hash}`, { key }))).toEqual([404, 'vault_not_initialized'])
    expect(codeOf(await harness.api('POST', '/vault/unlock', { key, body: { auth_hash } }))).toEqual([404, 'vault_not_initialized'])
  })

  test('an agent gets the granted secrets only', async () => {
    const { key, reader, readerKey, wrapping } = await createVault('granted')
    const create = (name: string) =>
      harness.expectApi(201, 'POST', '/vault/secrets', { key, body: { type: 'login', name, encrypted_payload: fakeBlob() } })
    const [granted] = [await create('granted'), await create('withheld')]
    await harness.expectApi(201, 'POST', `/vault/secrets/${granted.id}/access`, { key, body: { agent_handle: '@granted_reader' } })
    const names = async (as: string) =>
      (await harness.expectApi(200, 'POST', '/vault/unlock', { key: as, body: { auth_hash: wrapping.auth_hash } })).secrets.map(
        (one: Json) => one.name,
      )
    expect(await names(readerKey)).toEqual(['granted'])
    expect((await names(key)).sort()).toEqual(['granted', 'withheld'])
    await harness.expectApi(200, 'DELETE', `/vault/secrets/${granted.id}/access/${reader.id}`, { key })
    expect(await names(readerKey)).toEqual([])
  })
})

describe('who may', () => {
  const secret = newId('vaultSecret', Date.now())
  const blob = fakeBlob()
  const reads: [string, string, Json?][] = [
    ['GET', '/vault'],
    ['GET', `/vault/unlock?auth_hash=${'a'.repeat(64)}`],
    ['POST', '/vault/unlock', { auth_hash: 'a'.repeat(64) }],
    ['GET', '/vault/secrets'],
    ['GET', `/vault/secrets?id=${secret}`],
    ['GET', `/vault/secrets/${secret}`],
  ]
  const { auth_hash: new_auth_hash, ...fresh } = fakeWrapping()
  const writes: [string, string, Json?][] = [
    ['POST', '/vault/initialize', fakeWrapping()],
    ['POST', '/vault/secrets', { type: 'login', name: 'a', encrypted_payload: blob }],
    ['PATCH', `/vault/secrets/${secret}`, { name: 'b' }],
    ['PATCH', '/vault/secrets', { id: secret, name: 'b' }],
    ['DELETE', `/vault/secrets/${secret}`],
    ['DELETE', `/vault/secrets?id=${secret}`],
    ['GET', `/vault/secrets/${secret}/access`],
    ['POST', `/vault/secrets/${secret}/access`, { agent_handle: 'allowed_reader' }],
    ['DELETE', `/vault/secrets/${secret}/access/allowed_reader`],
    ['DELETE', `/vault/secrets/${secret}/access?identity_id=allowed_reader`],
    ['GET', '/vault/keys'],
    ['PUT', '/vault/keys/primary', { ...fakeWrapping(), current_auth_hash: 'a'.repeat(64) }],
    ['DELETE', `/vault/keys/${newId('vaultKey', Date.now())}`, { auth_hash: 'a'.repeat(64) }],
    ['POST', '/vault/rotate', { ...fresh, auth_hash: 'a'.repeat(64), new_auth_hash, expected_key_version: 1, secrets: [] }],
  ]

  let vault: Awaited<ReturnType<typeof createVault>>
  beforeAll(async () => {
    vault = await createVault('allowed')
  })

  test.each([...reads, ...writes])('%s %s is 401 without a key and 403 for an agent key without the scope', async (method, path, body) => {
    expect((await harness.api(method, path, { key: null, body })).status).toBe(401)
    expect(codeOf(await harness.api(method, path, { key: vault.plainKey, body }))).toEqual([403, 'forbidden'])
  })

  test.each(writes)('%s %s is 403 for an agent key with vault:read', async (method, path, body) => {
    expect(codeOf(await harness.api(method, path, { key: vault.readerKey, body }))).toEqual([403, 'forbidden'])
  })

  test.each(reads)('%s %s is allowed for an agent key with vault:read', async (method, path, body) => {
    expect((await harness.api(method, path, { key: vault.readerKey, body })).status).not.toBe(403)
  })

  test.each([...reads.slice(1), ...writes.slice(1)])('%s %s is 404 without a vault', async (method, path, body) => {
    const { key } = harness.otherOrganization
    const handle = 'lonely'
    await harness.api('POST', '/identities', { key, body: { agent_handle: handle } })
    const here = JSON.parse(JSON.stringify({ path, body }).replaceAll('allowed_reader', handle))
    expect(codeOf(await harness.api(method, here.path, { key, body: here.body }))).toEqual([404, 'vault_not_initialized'])
  })

  test('no answer is kept by caches', async () => {
    for (const [method, path, body] of [...reads, ...writes]) {
      const { headers } = await harness.api(method, path, { key: vault.plainKey, body })
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect((await harness.api('GET', '/vault', { key: vault.key })).headers.get('cache-control')).toBe('no-store')
  })
})
