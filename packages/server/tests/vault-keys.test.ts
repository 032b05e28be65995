// Vault keys over HTTP. Covers replacing the primary key, recovery codes, and rotation against concurrent writes.
import { randomBytes } from 'node:crypto'
import { newId } from '@callsign/contract/ids'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { authHashOf, deriveMaster, fakeBlob, fakeWrapping, kdfParams, open, openJson, sealJson, wrap } from './harness/vault-client.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

/** Each test has its own organization, with a primary and two recovery keys. */
let key: string
let primary: ReturnType<typeof fakeWrapping>
let recovery: ReturnType<typeof fakeWrapping>[]
let organizations = 0
beforeEach(async () => {
  ;({ key } = await harness.createOrganization(`org ${++organizations}`))
  primary = fakeWrapping()
  recovery = [fakeWrapping(), fakeWrapping()]
  await harness.expectApi(201, 'POST', '/vault/initialize', { key, body: { ...primary, recovery_keys: recovery } })
})

const codeOf = (answer: Json) => [answer.status, answer.body.error?.code]
const unlock = (auth_hash: string) => harness.api('POST', '/vault/unlock', { key, body: { auth_hash } })
const getVault = (): Promise<Json> => harness.expectApi(200, 'GET', '/vault', { key })
const listKeys = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/vault/keys', { key })).data
const replace = (body: Json) => harness.api('PUT', '/vault/keys/primary', { key, body })
const create = (more: Json = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/vault/secrets', { key, body: { type: 'other', name: 'One', encrypted_payload: fakeBlob(), ...more } })
const getAll = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/vault/secrets?limit=100', { key })).data

type Rewritten = { id: string; revision: number; encrypted_payload: string }
const rewritten = (secrets: Json[]): Rewritten[] => secrets.map(({ id, revision }) => ({ id, revision, encrypted_payload: fakeBlob() }))

/** A rotation of all live secrets with new keys. `more` changes its fields. */
async function rotation(more: Json = {}) {
  const { auth_hash: new_auth_hash, ...wrapping } = fakeWrapping()
  const { key_version } = await getVault()
  const secrets = rewritten(await getAll())
  return { auth_hash: primary.auth_hash, expected_key_version: key_version, ...wrapping, new_auth_hash, secrets, ...more }
}
const rotate = (body: Json) => harness.api('POST', '/vault/rotate', { key, body })

describe('GET /vault/keys', () => {
  test("returns each key's derivation parameters, and no wrapped key or hash", async () => {
    const keys = await listKeys()
    expect(keys[0]).toEqual({
      id: expect.stringMatching(/^vkey_/),
      key_type: 'primary',
      kdf_salt: primary.kdf_salt,
      kdf_params: kdfParams,
      created_by: expect.stringMatching(/^key_/),
      created_at: expect.any(String),
      last_used_at: null,
    })
    expect(keys.map((one) => one.key_type)).toEqual(['primary', 'recovery', 'recovery'])
    const text = JSON.stringify(keys)
    for (const { auth_hash, wrapped_org_key } of [primary, ...recovery])
      expect([text.includes(auth_hash), text.includes(wrapped_org_key)]).toEqual([false, false])
  })

  test('says when a key was last used', async () => {
    await unlock(primary.auth_hash)
    expect((await listKeys()).map((one) => one.last_used_at)).toEqual([expect.any(String), null, null])
  })
})

describe('recovery', () => {
  test('a recovery code unlocks with its own wrapping, any number of times', async () => {
    const code = recovery[1] as Json
    for (let i = 0; i < 2; i++)
      expect((await unlock(code.auth_hash)).body).toMatchObject({
        key_type: 'recovery',
        wrapped_org_key: code.wrapped_org_key,
        kdf_salt: code.kdf_salt,
      })
  })

  test('a code is used up by replacing the primary key', async () => {
    const [used, kept] = recovery as [Json, Json]
    const fresh = fakeWrapping()
    const { status, body } = await replace({ ...fresh, recovery_auth_hash: used.auth_hash })
    expect([status, body.kdf_salt, body.recovery_keys_remaining]).toEqual([200, fresh.kdf_salt, 1])
    expect((await unlock(fresh.auth_hash)).body.wrapped_org_key).toBe(fresh.wrapped_org_key)
    expect((await unlock(kept.auth_hash)).status).toBe(200)
    for (const gone of [used.auth_hash, primary.auth_hash]) expect(codeOf(await unlock(gone))).toEqual([401, 'invalid_auth_hash'])
    expect(codeOf(await replace({ ...fakeWrapping(), recovery_auth_hash: used.auth_hash }))).toEqual([401, 'invalid_auth_hash'])
  })

  test('of ten concurrent uses of one code exactly one succeeds', async () => {
    const code = recovery[0] as Json
    const bodies = Array.from({ length: 10 }, () => ({ ...fakeWrapping(), recovery_auth_hash: code.auth_hash }))
    const answers = await Promise.all(bodies.map(replace))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(9).fill(401)])
  })

  test('a code can be deleted with proof of any key, but the primary key cannot', async () => {
    const [first, second] = (await listKeys()).filter((one) => one.key_type === 'recovery')
    const remove = (id: string, auth_hash: string) => harness.api('DELETE', `/vault/keys/${id}`, { key, body: { auth_hash } })
    expect(codeOf(await remove(first.id, randomBytes(32).toString('hex')))).toEqual([401, 'invalid_auth_hash'])
    for (let i = 0; i < 2; i++) expect((await remove(first.id, primary.auth_hash)).body).toEqual({ id: first.id, deleted: true })
    expect((await listKeys()).map((one) => one.id)).toContain(second.id)
    expect(await listKeys()).toHaveLength(2)
    const [top] = await listKeys()
    expect(codeOf(await remove(top.id, primary.auth_hash))).toEqual([409, 'conflict'])
  })
})

describe('PUT /vault/keys/primary', () => {
  test('re-wraps the same organization key and keeps secrets and key_version', async () => {
    const secret = await create()
    const before = await getVault()
    const fresh = fakeWrapping()
    const after = (await replace({ ...fresh, current_auth_hash: primary.auth_hash, expected_key_version: 1 })).body
    expect(after).toMatchObject({ ...before, kdf_salt: fresh.kdf_salt, updated_at: expect.any(String), recovery_keys_remaining: 2 })
    expect(after.keys.map((one: Json) => one.key_type)).toEqual(['primary', 'recovery', 'recovery'])
    expect((await unlock(fresh.auth_hash)).body.secrets[0].encrypted_payload).toBe(secret.encrypted_payload)
    expect((await unlock(primary.auth_hash)).status).toBe(401)
  })

  test('requires exactly one proof of the right kind', async () => {
    const proofs: [Json, number][] = [
      [{ current_auth_hash: randomBytes(32).toString('hex') }, 401],
      [{ current_auth_hash: recovery[0]?.auth_hash }, 401],
      [{ recovery_auth_hash: primary.auth_hash }, 401],
      [{}, 400],
      [{ current_auth_hash: primary.auth_hash, recovery_auth_hash: recovery[0]?.auth_hash }, 400],
    ]
    for (const [proof, status] of proofs) expect((await replace({ ...fakeWrapping(), ...proof })).status).toBe(status)
    expect((await unlock(primary.auth_hash)).status).toBe(200)
    expect(await listKeys()).toHaveLength(3)
  })

  test('refuses weak parameters and a stale expected_key_version', async () => {
    const proof = { current_auth_hash: primary.auth_hash }
    const weak = { ...fakeWrapping(), ...proof, kdf_params: { ...kdfParams, m: 8 } }
    expect(codeOf(await replace(weak))).toEqual([400, 'kdf_params_too_weak'])
    expect(codeOf(await replace({ ...fakeWrapping(), ...proof, expected_key_version: 2 }))).toEqual([409, 'vault_key_version_stale'])
    expect((await unlock(primary.auth_hash)).status).toBe(200)
  })
})

describe('POST /vault/rotate', () => {
  test('a client changes the organization key and re-encrypts the vault', async () => {
    const { key: own } = await harness.createOrganization('rotating')
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
    const old = wrap(oldKey, 'the old vault key 1')
    await harness.expectApi(201, 'POST', '/vault/initialize', { key: own, body: { ...old, recovery_keys: [fakeWrapping()] } })
    const ask = (body?: Json) => ({ key: own, body })
    const secret = await harness.expectApi(
      201,
      'POST',
      '/vault/secrets',
      ask({ type: 'other', name: 'One', encrypted_payload: sealJson(oldKey, { data: 'kept' }) }),
    )
    const { auth_hash: new_auth_hash, ...wrapping } = wrap(newKey, 'the new vault key 2')
    const rotated = await harness.expectApi(
      200,
      'POST',
      '/vault/rotate',
      ask({
        auth_hash: old.auth_hash,
        expected_key_version: 1,
        ...wrapping,
        new_auth_hash,
        secrets: [{ id: secret.id, revision: 1, encrypted_payload: sealJson(newKey, { data: 'kept' }) }],
      }),
    )
    expect(rotated).toMatchObject({ key_version: 2, kdf_salt: wrapping.kdf_salt, recovery_keys_remaining: 0, secrets_count: 1 })
    const { kdf_salt } = await harness.expectApi(200, 'GET', '/vault', ask())
    const master = deriveMaster('the new vault key 2', Buffer.from(kdf_salt, 'base64'))
    const unlocked = await harness.expectApi(200, 'POST', '/vault/unlock', ask({ auth_hash: authHashOf(master) }))
    expect(unlocked.secrets[0]).toMatchObject({ id: secret.id, revision: 2, key_version: 2 })
    expect(openJson(open(master, unlocked.wrapped_org_key), unlocked.secrets[0].encrypted_payload)).toEqual({ data: 'kept' })
    expect((await harness.api('POST', '/vault/unlock', ask({ auth_hash: old.auth_hash }))).status).toBe(401)
  })

  test('old recovery codes are deleted, new ones exist, and grants stay', async () => {
    const secret = await create()
    const agent = await harness.createAgent(`rotated_${organizations}`, {}, key)
    await harness.expectApi(201, 'POST', `/vault/secrets/${secret.id}/access`, { key, body: { identity_id: agent.id } })
    const fresh = fakeWrapping()
    const body = await rotation({ recovery_keys: [fresh] })
    expect((await rotate(body)).body.keys.map((one: Json) => one.key_type)).toEqual(['primary', 'recovery'])
    for (const { auth_hash } of [primary, ...recovery]) expect((await unlock(auth_hash)).status).toBe(401)
    for (const auth_hash of [body.new_auth_hash, fresh.auth_hash]) expect((await unlock(auth_hash)).status).toBe(200)
    expect((await getAll())[0].access).toEqual([{ identity_id: agent.id, agent_handle: agent.agent_handle }])
  })

  test('must cover exactly the live secrets at their revisions, and 409 vault_rotation_conflict names the others', async () => {
    const [missing, stale, fine] = [await create(), await create(), await create()]
    await harness.expectApi(200, 'PATCH', `/vault/secrets/${stale.id}`, { key, body: { name: 'Changed' } })
    const unknown = newId('vaultSecret', Date.now())
    const secrets = rewritten([stale, fine, { id: unknown, revision: 1 }])
    const before = await getAll()
    const answer = await rotate(await rotation({ secrets }))
    expect(codeOf(answer)).toEqual([409, 'vault_rotation_conflict'])
    expect(answer.body.error.details).toEqual([
      { path: `/secrets/${missing.id}`, message: 'missing' },
      { path: `/secrets/${stale.id}`, message: 'stale' },
      { path: `/secrets/${unknown}`, message: 'unknown' },
    ])
    expect(await getAll()).toEqual(before)
    expect((await unlock(primary.auth_hash)).body.key_version).toBe(1)
  })

  test('a wrong proof, a stale version, a repeated secret, weak parameters and bad payloads change nothing', async () => {
    const secret = await create()
    const wrong: [Json, number, string][] = [
      [{ auth_hash: randomBytes(32).toString('hex') }, 401, 'invalid_auth_hash'],
      [{ expected_key_version: 2 }, 409, 'vault_key_version_stale'],
      [{ secrets: rewritten([secret, secret]) }, 400, 'validation_error'],
      [{ kdf_params: { ...kdfParams, t: 1 } }, 400, 'kdf_params_too_weak'],
      [{ secrets: [{ id: secret.id, revision: 1, encrypted_payload: Buffer.alloc(62).toString('base64') }] }, 400, 'validation_error'],
    ]
    for (const [change, status, code] of wrong) expect(codeOf(await rotate(await rotation(change)))).toEqual([status, code])
    expect(await getAll()).toEqual([secret])
    expect(await listKeys()).toHaveLength(3)
  })

  test('of ten concurrent rotations exactly one succeeds, and the others are stale, not wrong', async () => {
    await create()
    const bodies = await Promise.all(Array.from({ length: 10 }, () => rotation()))
    const answers = await Promise.all(bodies.map(rotate))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(9).fill(409)])
    const winner = bodies[answers.findIndex((answer) => answer.status === 200)] as Json
    expect((await unlock(winner.new_auth_hash)).body).toMatchObject({ wrapped_org_key: winner.wrapped_org_key, key_version: 2 })
    expect((await getAll())[0].encrypted_payload).toBe(winner.secrets[0].encrypted_payload)
  })

  /** Locks the vault's row while requests queue behind it, each after the previous one waits. Then releases them in order. */
  async function inOrder(requests: (() => Promise<Json>)[]): Promise<Json[]> {
    const { organization_id } = await getVault()
    const running: Promise<Json>[] = []
    await harness.db.transact(async (tx) => {
      await tx.query({ text: 'SELECT 1 FROM vaults WHERE organization_id = $1 FOR UPDATE', values: [organization_id] })
      for (const request of requests) {
        running.push(request())
        await waitFor('a request to wait for the vault', async () => {
          // Outside the transaction, which would always see the activity of its first query.
          const { rows } = await harness.db.query<{ count: number }>({
            text: `SELECT count(*) AS count FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%vaults%'`,
          })
          return rows[0]?.count === running.length
        })
      }
    })
    return Promise.all(running)
  }

  const write = (body: Json, id?: string) => harness.api(id ? 'PATCH' : 'POST', `/vault/secrets${id ? `/${id}` : ''}`, { key, body })

  test('writes of the old key after a rotation are refused', async () => {
    const secret = await create()
    const body = await rotation()
    const old = fakeBlob()
    const fresh = { type: 'other', name: 'New' }
    const answers = await inOrder([
      () => rotate(body),
      () => write({ encrypted_payload: old, key_version: 1 }, secret.id),
      () => write({ encrypted_payload: old, revision: 1 }, secret.id),
      () => write({ ...fresh, encrypted_payload: old, key_version: 1 }),
    ])
    expect(answers.map(codeOf)).toEqual([
      [200, undefined],
      [409, 'vault_key_version_stale'],
      [409, 'vault_secret_conflict'],
      [409, 'vault_key_version_stale'],
    ])
    expect(await getAll()).toMatchObject([{ key_version: 2, revision: 2, encrypted_payload: body.secrets[0]?.encrypted_payload }])
  })

  test('a rotation after a write is refused, and changes nothing', async () => {
    const [first, second] = [await create(), await create()]
    const writes: (() => Promise<Json>)[] = [
      () => write({ encrypted_payload: fakeBlob(), key_version: 1 }, first.id),
      () => write({ type: 'other', name: 'New', encrypted_payload: fakeBlob(), key_version: 1 }),
      () => harness.api('DELETE', `/vault/secrets/${second.id}`, { key }),
    ]
    for (const one of writes) {
      const body = await rotation()
      const [written, rotated] = await inOrder([one, () => rotate(body)])
      expect([written.status < 300, ...codeOf(rotated)]).toEqual([true, 409, 'vault_rotation_conflict'])
      expect((await getVault()).key_version).toBe(1)
    }
    expect((await getAll()).map((one: Json) => one.key_version)).toEqual([1, 1])
    expect((await rotate(await rotation())).status).toBe(200)
    expect((await getAll()).map((one) => one.key_version)).toEqual([2, 2])
  })

  test('in any order of concurrent writes and rotations, every secret is under the key of the vault', async () => {
    const byVersion = new Map<number, Set<string>>([[1, new Set()]])
    const blobOf = (version: number) => {
      const blob = fakeBlob()
      byVersion.get(version)?.add(blob)
      return blob
    }
    const { id } = await create({ encrypted_payload: blobOf(1) })
    for (let round = 0; round < 12; round++) {
      const { key_version } = await getVault()
      const body = await rotation()
      byVersion.set(key_version + 1, new Set(body.secrets.map((one: Json) => one.encrypted_payload)))
      const writes = Array.from({ length: 4 }, (_, i) =>
        write(
          i < 2
            ? { encrypted_payload: blobOf(key_version), key_version }
            : { type: 'other', name: 'New', encrypted_payload: blobOf(key_version), key_version },
          i < 2 ? id : undefined,
        ),
      )
      const [rotated] = await Promise.all([rotate(body), ...writes])
      if (rotated.status === 200) primary = { ...primary, auth_hash: body.new_auth_hash }
      const after = await getVault()
      for (const one of await getAll())
        expect([one.key_version, byVersion.get(after.key_version)?.has(one.encrypted_payload)]).toEqual([after.key_version, true])
    }
  })

  test('an unlock during rotations never mixes two keys', async () => {
    const secret = await create()
    let version = 1
    const seen: Json[] = []
    const spin = async (until: Promise<unknown>) => {
      let isOver = false
      until.finally(() => {
        isOver = true
      })
      while (!isOver) {
        const answer = await unlock(primary.auth_hash)
        if (answer.status === 200) seen.push(answer.body)
        else break
      }
    }
    const payloads = new Map<number, string>([[1, secret.encrypted_payload]])
    for (let i = 0; i < 5; i++) {
      const body = await rotation()
      payloads.set(++version, body.secrets[0]?.encrypted_payload as string)
      const rotating = rotate(body)
      await Promise.all([rotating, spin(rotating), spin(rotating)])
      expect((await rotating).status).toBe(200)
      primary = { ...primary, auth_hash: body.new_auth_hash }
      seen.push((await unlock(body.new_auth_hash)).body)
      // The losers of the race tried a hash that had just become wrong.
      await harness.db.query({ text: 'DELETE FROM vault_unlock_failures' })
    }
    for (const { key_version, secrets } of seen)
      expect(secrets).toMatchObject([{ key_version, encrypted_payload: payloads.get(key_version) }])
  })

  test('an unlock looks again when a rotation commits between its proof and its read of the secrets', async () => {
    await create()
    const { organization_id } = await getVault()
    let unlocked: Promise<Json> | undefined
    await harness.db.transact(async (tx) => {
      await tx.query({ text: 'LOCK TABLE vault_secrets IN ACCESS EXCLUSIVE MODE' })
      unlocked = unlock(primary.auth_hash)
      await waitFor('the unlock to read the secrets', async () => {
        const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'vault_secrets'::regclass AND NOT granted`
        return (await harness.db.query({ text: waiting })).rowCount > 0
      })
      for (const table of ['vaults', 'vault_secrets'])
        await tx.query({ text: `UPDATE ${table} SET key_version = 2 WHERE organization_id = $1`, values: [organization_id] })
    })
    const { status, body } = (await unlocked) as Json
    expect([status, body.key_version]).toEqual([200, 2])
    const { data } = await harness.expectApi(200, 'GET', '/audit?limit=5', { key })
    expect(data.filter((one: Json) => one.action === 'vault.unlocked')).toHaveLength(2)
  })

  test('a large vault is rotated in one request', async () => {
    const { organization_id } = await getVault()
    await harness.db.query({
      text: `INSERT INTO vault_secrets (organization_id, id, type, name, encrypted_payload, revision, key_version, created_at, updated_at)
        SELECT $1, 'vsec_' || lpad(n::text, 26, '0'), 'other', 'filler', repeat('A', 10668), 1, 1, now(), now()
        FROM generate_series(1, 2000) n`,
      values: [organization_id],
    })
    const secrets = Array.from({ length: 2000 }, (_, i) => ({
      id: `vsec_${String(i + 1).padStart(26, '0')}`,
      revision: 1,
      encrypted_payload: fakeBlob(8000),
    }))
    const body = await rotation({ secrets })
    expect((await rotate(body)).body).toMatchObject({ key_version: 2, secrets_count: 2000 })
    const unlocked = (await unlock(body.new_auth_hash)).body
    expect(unlocked.secrets).toHaveLength(2000)
    expect(unlocked.secrets[1999]).toMatchObject({ revision: 2, key_version: 2, encrypted_payload: secrets[1999]?.encrypted_payload })
  })
})
