// A hostile server, attack by attack (A1 to A16 of docs/vault.md). Real answers of a real server are changed on the way to the client.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '@callsign/contract/ids'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign, createMemoryPins, type PinStore, type UnlockedVault, type VaultOptions } from '../src/index.ts'
import * as second from './second-vault.ts'
import { createWire, type Json, type Wire } from './wire.ts'

// Counts key derivations below the client, which looks the function up at each call.
const derivations = vi.hoisted(() => {
  const counter = { count: 0 }
  const crypto = process.getBuiltinModule('node:crypto')
  const real = crypto.argon2
  crypto.argon2 = ((...input: Parameters<typeof real>) => {
    counter.count++
    return real(...input)
  }) as typeof real
  return counter
})

const vaultKey = 'correct horse battery staple'
/** The minimum parameters, because these tests derive often. */
const kdfParams = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

type Scene = {
  key: string
  wire: Wire
  pins: PinStore
  vault: UnlockedVault
  /** A client of the same user on the wire. With `pins` of its own it has not seen the vault yet. */
  client: (options?: VaultOptions) => Callsign
  prod: string
  staging: string
}

let scene: Scene
let sceneCount = 0
beforeEach(async () => {
  const { key } = await harness.createOrganization(`hostile ${++sceneCount}`)
  const wire = createWire()
  const pins = createMemoryPins()
  const client = (options: VaultOptions = {}) =>
    new Callsign({ url: harness.baseUrl, apiKey: key, fetch: wire.fetch, retriesMax: 0, vault: { pins, ...options } })
  const { vault } = await client().vault.initialize({ vaultKey, kdfParams })
  const prod = await vault.create({ type: 'login', name: 'prod', payload: { username: 'root', password: 'prod password' } })
  const staging = await vault.create({ type: 'login', name: 'staging', payload: { username: 'root', password: 'staging password' } })
  wire.sent.length = 0
  derivations.count = 0
  scene = { key, wire, pins, vault, client, prod: prod.id, staging: staging.id }
})

const fresh = () => scene.client({ pins: createMemoryPins() })
const unlock = (client = scene.client()) => client.vault.unlock(vaultKey)
const refuses = (code: string) => expect.objectContaining({ code })

/** Changes the answer to `GET /vault`. */
const offer = (change: Record<string, unknown>) => {
  scene.wire.tamper = (sent, body) => (sent.path === '/vault' ? { ...body, ...change } : body)
}

/** Changes the rows of an unlock. */
const offerRows = (change: (rows: Json[]) => Json[]) => {
  scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, secrets: change(body.secrets) } : body)
}

const expectNothingDerivedOrSent = () => {
  expect(scene.wire.paths()).toEqual(['GET /vault'])
  expect(derivations.count).toBe(0)
}

/** The answer of the honest server to the right proof. */
async function rawUnlock(): Promise<Json> {
  const { body } = await harness.api('GET', '/vault', { key: scene.key })
  const { authHash } = second.derive(vaultKey, body.kdf_salt, body.kdf_params)
  return harness.expectApi(200, 'POST', '/vault/unlock', { key: scene.key, body: { auth_hash: authHash } })
}

async function organizationKey(): Promise<Uint8Array> {
  const reply = await rawUnlock()
  return second.open(second.derive(vaultKey, reply.kdf_salt, reply.kdf_params).master, reply.wrapped_org_key)
}

const problemOf = (vault: UnlockedVault, id: string) => vault.list().find((one) => one.id === id)?.problem?.code

describe('A1 weak key derivation', () => {
  test.each([
    { m: 8, t: 1, p: 1 },
    { m: 19_455, t: 2, p: 1 },
    { m: 65_536, t: 1, p: 1 },
    { m: 65_536, t: 3, p: 0 },
    { m: 0, t: 0, p: 0 },
  ])('$m KiB, $t, $p', async (params) => {
    offer({ kdf_params: { algorithm: 'argon2id', ...params } })
    for (const client of [scene.client(), fresh()]) {
      scene.wire.sent.length = 0
      await expect(unlock(client)).rejects.toEqual(refuses('kdf_params_too_weak'))
      expectNothingDerivedOrSent()
    }
  })

  test.each([
    { algorithm: 'argon2i', m: 65_536, t: 3, p: 1 },
    { algorithm: 'pbkdf2', m: 65_536, t: 3, p: 1 },
    { algorithm: 'argon2id', m: '65536', t: 3, p: 1 },
    { algorithm: 'argon2id', m: 65_536.5, t: 3, p: 1 },
    null,
  ])('%j', async (params) => {
    offer({ kdf_params: params })
    await expect(unlock(fresh())).rejects.toEqual(refuses('kdf_params_unusable'))
    expectNothingDerivedOrSent()
  })

  test('weaker than before, though above the floor', async () => {
    offer({ kdf_params: { algorithm: 'argon2id', m: 19_457, t: 2, p: 1 } })
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
    expectNothingDerivedOrSent()
  })

  test('accepting a changed vault does not lower the floor', async () => {
    offer({ kdf_params: { algorithm: 'argon2id', m: 8, t: 1, p: 1 } })
    await expect(scene.client().vault.unlock(vaultKey, { acceptNewVault: true })).rejects.toEqual(refuses('kdf_params_too_weak'))
    expectNothingDerivedOrSent()
  })
})

describe('A2 costly key derivation', () => {
  test.each([
    { m: 4_194_304, t: 3, p: 1 },
    { m: 65_536, t: 1_000_000, p: 1 },
    { m: 65_536, t: 3, p: 255 },
  ])('$m KiB, $t, $p', async (params) => {
    offer({ kdf_params: { algorithm: 'argon2id', ...params } })
    await expect(unlock(fresh())).rejects.toEqual(refuses('kdf_params_too_costly'))
    expectNothingDerivedOrSent()
  })
})

describe('A3 another salt', () => {
  test('a short one', async () => {
    offer({ kdf_salt: Buffer.alloc(8).toString('base64') })
    await expect(unlock(fresh())).rejects.toEqual(refuses('kdf_params_too_weak'))
    expectNothingDerivedOrSent()
  })

  test('a good one that is not the vault’s', async () => {
    offer({ kdf_salt: Buffer.alloc(16, 1).toString('base64') })
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
    expectNothingDerivedOrSent()
  })

  test('another vault altogether', async () => {
    offer({ id: 'vlt_01hzy3k2m4n5p6q7r8s9tavbwd' })
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
    expectNothingDerivedOrSent()
  })

  test('one before the unlock and another after it', async () => {
    scene.wire.tamper = (sent, body) =>
      sent.path === '/vault/unlock' ? { ...body, kdf_salt: Buffer.alloc(16, 1).toString('base64') } : body
    await expect(unlock(fresh())).rejects.toEqual(refuses('vault_changed'))
  })
})

describe('A4 swapped ciphertexts', () => {
  test('neither opens', async () => {
    offerRows(([a, b]) => [
      { ...a, encrypted_payload: b.encrypted_payload },
      { ...b, encrypted_payload: a.encrypted_payload },
    ])
    const vault = await unlock(fresh())
    for (const id of [scene.prod, scene.staging]) {
      expect(problemOf(vault, id)).toBe('context_mismatch')
      await expect(vault.get(id)).rejects.toEqual(refuses('context_mismatch'))
    }
    await expect(vault.get('prod')).rejects.toEqual(refuses('context_mismatch'))
  })
})

describe('A5 swapped names, changed types', () => {
  const swapNames = () => offerRows((rows) => rows.map((row) => ({ ...row, name: row.name === 'prod' ? 'staging' : 'prod' })))

  test('a name finds the secret encrypted under it, and reports that the server disagrees', async () => {
    swapNames()
    const vault = await unlock(fresh())
    expect(await vault.get('prod')).toMatchObject({
      id: scene.prod,
      name: 'prod',
      nameVerified: false,
      payload: { password: 'prod password' },
    })
    expect(await vault.get('staging')).toMatchObject({ id: scene.staging, payload: { password: 'staging password' } })
  })

  test('a strict client refuses both', async () => {
    swapNames()
    const vault = await unlock(scene.client({ strictNames: true }))
    await expect(vault.get('prod')).rejects.toEqual(refuses('name_not_verified'))
  })

  test('another type', async () => {
    offerRows((rows) => rows.map((row) => ({ ...row, type: 'other' })))
    const vault = await unlock(fresh())
    await expect(vault.get(scene.prod)).rejects.toEqual(refuses('context_mismatch'))
  })

  test('an update does not make the server’s name true', async () => {
    swapNames()
    const vault = await unlock(fresh())
    scene.wire.tamper = undefined
    await vault.update('prod', { payload: { password: 'new prod password' } })
    expect(await (await unlock(fresh())).get('prod')).toMatchObject({ id: scene.prod, nameVerified: true })
  })
})

describe('A6 rolled back', () => {
  test('an old value of a secret', async () => {
    const old = (await rawUnlock()).secrets.find((row: Json) => row.id === scene.prod)
    await scene.vault.update('prod', { payload: { password: 'changed' } })
    offerRows((rows) => rows.map((row) => (row.id === scene.prod ? { ...row, encrypted_payload: old.encrypted_payload } : row)))
    const vault = await unlock()
    expect(problemOf(vault, scene.prod)).toBe('secret_rolled_back')
    await expect(vault.get('prod')).rejects.toEqual(refuses('secret_rolled_back'))
    expect((await vault.get('staging')).payload.password).toBe('staging password')
  })

  test('a deleted secret that comes back', async () => {
    const old = (await rawUnlock()).secrets.find((row: Json) => row.id === scene.prod)
    await scene.vault.delete('prod')
    offerRows((rows) => [...rows, old])
    await expect((await unlock()).get(scene.prod)).rejects.toEqual(refuses('secret_rolled_back'))
  })

  test('the same from a list read again', async () => {
    const old = (await rawUnlock()).secrets.find((row: Json) => row.id === scene.prod)
    await scene.vault.update('prod', { payload: { password: 'changed' } })
    const vault = await unlock()
    scene.wire.tamper = (sent, body) =>
      sent.path === '/vault/secrets'
        ? {
            ...body,
            data: body.data.map((row: Json) => (row.id === scene.prod ? { ...row, encrypted_payload: old.encrypted_payload } : row)),
          }
        : body
    await vault.refresh()
    await expect(vault.get('prod')).rejects.toEqual(refuses('secret_rolled_back'))
  })
})

test('A7 a rotation stops while a secret is withheld, and continues without it only on request', async () => {
  const withhold = (rows: Json[]) => rows.filter((row) => row.id !== scene.prod)
  scene.wire.tamper = (sent, body) => (sent.path === '/vault/secrets' ? { ...body, data: withhold(body.data) } : body)
  await expect(scene.vault.rotate(vaultKey)).rejects.toEqual(refuses('secrets_missing'))
  expect(scene.wire.paths()).toEqual(['GET /vault/secrets'])
  scene.wire.tamper = undefined
  await harness.expectApi(200, 'DELETE', `/vault/secrets/${scene.prod}`, { key: scene.key })
  await expect(scene.vault.rotate(vaultKey)).rejects.toEqual(refuses('secrets_missing'))
  await scene.vault.rotate(vaultKey, { withoutMissing: true })
  expect(scene.vault.missing).toEqual([])
  await scene.vault.rotate(vaultKey)
  expect((await scene.vault.get('staging')).payload.password).toBe('staging password')
})

test.each([2 ** 31 - 1, 2 ** 53 - 2, Number.MAX_SAFE_INTEGER])(
  'a revision of %i from the server is refused before anything is sealed or sent',
  async (revision) => {
    offerRows((rows) => rows.map((row) => ({ ...row, revision })))
    const vault = await unlock()
    scene.wire.tamper = (sent, body) =>
      sent.path === '/vault/secrets' ? { ...body, data: body.data.map((row: Json) => ({ ...row, revision })) } : body
    await expect(vault.update('prod', { payload: { password: 'x' } })).rejects.toEqual(refuses('revision_unusable'))
    await expect(vault.rotate(vaultKey)).rejects.toEqual(refuses('revision_unusable'))
    expect(scene.wire.paths()).toEqual(['GET /vault', 'POST /vault/unlock', 'GET /vault/secrets'])
    scene.wire.tamper = undefined
    expect((await (await unlock()).get('prod')).payload.password).toBe('prod password')
  },
)

test('A7 a withheld secret is listed as missing', async () => {
  expect((await unlock()).missing).toEqual([])
  offerRows((rows) => rows.filter((row) => row.id !== scene.prod))
  const vault = await unlock()
  expect(vault.missing).toEqual([scene.prod])
  await expect(vault.get('prod')).rejects.toEqual(refuses('secret_not_found'))
})

describe('A8 from another organization with the same vault key', () => {
  /** The answers of the server for the other organization. */
  async function otherVault() {
    const { key } = await harness.createOrganization(`other ${sceneCount}`)
    const { vault } = await new Callsign({ url: harness.baseUrl, apiKey: key, vault: { pins: createMemoryPins() } }).vault.initialize({
      vaultKey,
      kdfParams,
    })
    await vault.create({ type: 'login', name: 'prod', payload: { username: 'root', password: 'password of others' } })
    const metadata = await harness.expectApi(200, 'GET', '/vault', { key })
    const { authHash } = second.derive(vaultKey, metadata.kdf_salt, metadata.kdf_params)
    return { metadata, reply: await harness.expectApi(200, 'POST', '/vault/unlock', { key, body: { auth_hash: authHash } }) }
  }

  test('its wrapped key does not open under our salt', async () => {
    const { reply } = await otherVault()
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, wrapped_org_key: reply.wrapped_org_key } : body)
    await expect(unlock(fresh())).rejects.toEqual(refuses('wrapped_key_rejected'))
  })

  test('its whole vault in place of ours is rejected by a client with pins, and none of its secrets opens as ours', async () => {
    const { metadata, reply } = await otherVault()
    const ours = (await harness.api('GET', '/vault', { key: scene.key })).body
    const disguised = { ...reply, vault_id: ours.id, secrets: reply.secrets.map((row: Json) => ({ ...row, id: scene.prod })) }
    scene.wire.tamper = (sent, body) => {
      if (sent.path === '/vault') return { ...body, kdf_salt: metadata.kdf_salt }
      return sent.path === '/vault/unlock' ? Response.json(disguised) : body
    }
    derivations.count = 0
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
    expectNothingDerivedOrSent()
    const vault = await unlock(fresh())
    expect(problemOf(vault, scene.prod)).toBe('context_mismatch')
  })
})

describe('A9 another organization key', () => {
  test('one that the server created', async () => {
    const forged = second.seal(new Uint8Array(32), new Uint8Array(12), new Uint8Array(32))
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, wrapped_org_key: forged } : body)
    await expect(unlock()).rejects.toEqual(refuses('wrapped_key_rejected'))
  })

  test('an older one of ours, after a rotation', async () => {
    const oldMetadata = (await harness.api('GET', '/vault', { key: scene.key })).body
    const oldReply = await rawUnlock()
    await scene.vault.rotate(vaultKey)
    scene.wire.sent.length = 0
    derivations.count = 0
    scene.wire.tamper = (sent) => Response.json(sent.path === '/vault' ? oldMetadata : oldReply)
    await expect(unlock()).rejects.toEqual(refuses('vault_rolled_back'))
    expectNothingDerivedOrSent()
    // The same with the new version number on it.
    scene.wire.tamper = (sent) => Response.json({ ...(sent.path === '/vault' ? oldMetadata : oldReply), key_version: 2 })
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
  })

  test('one that opens but is not the pinned one', async () => {
    const ours = (await harness.api('GET', '/vault', { key: scene.key })).body
    const { master } = second.derive(vaultKey, ours.kdf_salt, ours.kdf_params)
    const other = second.seal(master, new Uint8Array(12).fill(3), new Uint8Array(32).fill(4))
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, wrapped_org_key: other } : body)
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
  })
})

test('A10 nothing that leaves the client holds a key or a value, and no key of others is taken in', async () => {
  await harness.createAgent(`reader${sceneCount}`, {}, scene.key)
  scene.wire.tamper = (_sent, body) =>
    body && typeof body === 'object' ? { ...body, public_key: 'AAAA', recovery_public_key: 'AAAA' } : body
  const vault = await unlock()
  await vault.create({ type: 'other', name: 'a name', payload: { data: 'canary value' } })
  await vault.update('prod', { payload: { password: 'canary password' } })
  await vault.grant('prod', { agentHandle: `reader${sceneCount}` })
  const oldKey = Buffer.from(await organizationKey())
  const newKey = 'another vault key of ours'
  const { recoveryCodes } = await vault.rotate(newKey)
  scene.wire.tamper = undefined
  const { body } = await harness.api('GET', '/vault', { key: scene.key })
  const master = Buffer.from(second.derive(newKey, body.kdf_salt, body.kdf_params).master)
  const everything = scene.wire.sent.map((one) => `${one.path}${one.query} ${one.body}`).join('\n')
  expect(scene.wire.sent.length).toBeGreaterThan(6)
  const forms = [oldKey, master].flatMap((bytes) => [
    bytes.toString('hex'),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
  ])
  for (const canary of [...forms, 'canary value', 'canary password', 'prod password', vaultKey, newKey, ...recoveryCodes]) {
    expect(everything).not.toContain(canary)
  }
  expect(scene.wire.sent.filter(({ path }) => path.endsWith('/access')).map(({ body }) => JSON.parse(body))).toEqual([
    { agent_handle: `reader${sceneCount}` },
  ])
  // The proof goes in a body, never in an address.
  expect(scene.wire.sent.every(({ query }) => !query.includes('hash'))).toBe(true)
})

describe('A11 to A13 other formats, short tags, sloppy base64', () => {
  const blobOf = (row: Json) => Buffer.from(row.encrypted_payload, 'base64')
  const changes: [what: string, change: (row: Json) => string, code: string][] = [
    ['A11 version 0', (row) => Buffer.concat([Buffer.of(0, 1), blobOf(row).subarray(2)]).toString('base64'), 'blob_version_unknown'],
    ['A11 algorithm 2', (row) => Buffer.concat([Buffer.of(1, 2), blobOf(row).subarray(2)]).toString('base64'), 'blob_version_unknown'],
    ['A11 no header at all', (row) => blobOf(row).subarray(2).toString('base64'), 'blob_version_unknown'],
    ['A11 plain JSON', () => Buffer.from('{"username":"root","password":"of the server"}').toString('base64'), 'blob_version_unknown'],
    ['A12 a tag of 4 bytes', (row) => blobOf(row).subarray(0, -12).toString('base64'), 'blob_rejected'],
    ['A12 a tag of 12 bytes', (row) => blobOf(row).subarray(0, -4).toString('base64'), 'blob_rejected'],
    ['A12 no ciphertext', (row) => blobOf(row).subarray(0, 29).toString('base64'), 'blob_malformed'],
    ['A13 a newline', (row) => `${row.encrypted_payload}\n`, 'blob_malformed'],
    ['A13 rubbish before', (row) => `!!!!${row.encrypted_payload}`, 'blob_malformed'],
    ['A13 a second value behind padding', (row) => `AQE=${row.encrypted_payload}`, 'blob_malformed'],
    ['A13 the URL alphabet', () => 'AQ__'.repeat(20), 'blob_malformed'],
    ['A13 nothing', () => '', 'blob_malformed'],
  ]
  test.each(changes)('%s', async (_what, change, code) => {
    offerRows((rows) => rows.map((row) => (row.id === scene.prod ? { ...row, encrypted_payload: change(row) } : row)))
    const vault = await unlock()
    expect(problemOf(vault, scene.prod)).toBe(code)
    await expect(vault.get('prod')).rejects.toEqual(refuses(code))
  })

  test.each(['', '!!!!', 'AQE=', 'A'.repeat(5000)])('the wrapped key as %j', async (wrapped) => {
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, wrapped_org_key: wrapped } : body)
    await expect(unlock(fresh())).rejects.toEqual(refuses('wrapped_key_rejected'))
  })
})

test('A14 a wrapped key that does not open ends the unlock without a second attempt or a report to the server', async () => {
  scene.wire.tamper = (sent, body) =>
    sent.path === '/vault/unlock'
      ? { ...body, wrapped_org_key: second.seal(new Uint8Array(32), new Uint8Array(12), new Uint8Array(32)) }
      : body
  await expect(unlock()).rejects.toEqual(refuses('wrapped_key_rejected'))
  expect(scene.wire.paths()).toEqual(['GET /vault', 'POST /vault/unlock'])
  expect(derivations.count).toBe(1)
})

test('A15 the client does not run code that it receives', () => {
  const folder = join(import.meta.dirname, '..', 'src')
  const sources = globSync('**/*.ts', { cwd: folder }).filter((path) => !path.endsWith('.test.ts'))
  const code = sources.map((path) => readFileSync(join(folder, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')).join('\n')
  expect(sources.length).toBeGreaterThan(20)
  expect([...code.matchAll(/(?<!typeof |^type \w+ = )\bimport\(([^)]*)\)/gm)].map((match) => match[1])).toEqual(["'hash-wasm'"])
  expect(code).not.toMatch(/\beval\b|\bnew Function\b|innerHTML|importScripts|document\.write/)
})

describe('A16 binding stripped', () => {
  const strip = async () => {
    const key = await organizationKey()
    const unbound = second.seal(key, new Uint8Array(12).fill(5), new TextEncoder().encode('{"username":"root","password":"old"}'))
    offerRows((rows) => rows.map((row) => (row.id === scene.prod ? { ...row, encrypted_payload: unbound } : row)))
  }

  test('a secret seen as bound must stay bound', async () => {
    await strip()
    await expect((await unlock()).get(scene.prod)).rejects.toEqual(refuses('context_missing'))
  })

  test('a client with the binding `always` rejects unbound secrets', async () => {
    await strip()
    const vault = await unlock(scene.client({ pins: createMemoryPins(), binding: 'always' }))
    await expect(vault.get(scene.prod)).rejects.toEqual(refuses('context_missing'))
  })

  test('a client that has not seen it accepts it by id only, and reports that the name is not verified', async () => {
    await strip()
    const vault = await unlock(fresh())
    expect(await vault.get(scene.prod)).toMatchObject({ isBound: false, nameVerified: false })
    await expect(vault.get('prod')).rejects.toEqual(refuses('name_not_verified'))
    await expect(vault.update(scene.prod, { payload: { password: 'x' } })).rejects.toEqual(refuses('name_not_verified'))
  })
})

describe('further attacks', () => {
  test('a redirect of the unlock is not followed', async () => {
    scene.wire.tamper = (sent, body) =>
      sent.path === '/vault/unlock' ? new Response(null, { status: 307, headers: { location: 'http://127.0.0.1:9/' } }) : body
    await expect(unlock()).rejects.toEqual(refuses('reply_unusable'))
    expect(scene.wire.paths()).toEqual(['GET /vault', 'POST /vault/unlock'])
  })

  test('405 to the unlock does not move the hash into a URL', async () => {
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? Response.json({ error: {} }, { status: 405 }) : body)
    await expect(unlock()).rejects.toMatchObject({ status: 405 })
    expect(scene.wire.paths()).toEqual(['GET /vault', 'POST /vault/unlock'])
  })

  test('an endless answer is cut', async () => {
    const endless = () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20)) }))
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? endless() : body)
    await expect(unlock()).rejects.toEqual(refuses('reply_too_large'))
  })

  test.each([
    { secrets: null },
    { secrets: [{}] },
    { secrets: [{ id: '__proto__' }] },
    { key_version: -1 },
    { key_version: '1' },
    { key_type: 'master' },
    { vault_id: 7 },
  ])('an unlock with %j', async (change) => {
    scene.wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, ...change } : body)
    await expect(unlock()).rejects.toEqual(refuses('reply_unusable'))
  })

  test('the same secret twice', async () => {
    offerRows((rows) => [...rows, rows[0]])
    await expect(unlock()).rejects.toEqual(refuses('reply_unusable'))
  })

  test('an unknown vault on a server with pins is rejected before anything is derived, also for a new API key', async () => {
    const { key } = await harness.expectApi(201, 'POST', '/keys', { key: scene.key, body: { name: 'second', type: 'organization' } })
    const second = new Callsign({ url: harness.baseUrl, apiKey: key, fetch: scene.wire.fetch, vault: { pins: scene.pins } })
    offer({ id: newId('vault', Date.now()), organization_id: 'org_01h455vb4pex5vsknk084sn02q' })
    for (const client of [scene.client(), second]) {
      scene.wire.sent.length = 0
      await expect(client.vault.unlock(vaultKey)).rejects.toEqual(refuses('vault_changed'))
      expectNothingDerivedOrSent()
      await expect(client.vault.recover('0000-'.repeat(8).slice(0, -1), 'another vault key of ours')).rejects.toEqual(
        refuses('vault_changed'),
      )
      expect(derivations.count).toBe(0)
    }
  })

  test('a vault of another organization on the same server is accepted once, and both stay pinned', async () => {
    const { key } = await harness.createOrganization(`second ${sceneCount}`)
    const second = new Callsign({ url: harness.baseUrl, apiKey: key, vault: { pins: createMemoryPins() } })
    await second.vault.initialize({ vaultKey: 'the vault key of the second', kdfParams })
    const here = new Callsign({ url: harness.baseUrl, apiKey: key, vault: { pins: scene.pins } })
    await expect(here.vault.unlock('the vault key of the second')).rejects.toEqual(refuses('vault_changed'))
    await here.vault.unlock('the vault key of the second', { acceptNewVault: true })
    await here.vault.unlock('the vault key of the second')
    offer({ kdf_salt: createHash('sha256').update('x').digest().subarray(0, 16).toString('base64') })
    await expect(unlock()).rejects.toEqual(refuses('vault_changed'))
  })

  test('a second API key finds the pins of the vault, too', async () => {
    const { key } = await harness.expectApi(201, 'POST', '/keys', { key: scene.key, body: { name: 'second', type: 'organization' } })
    const client = new Callsign({ url: harness.baseUrl, apiKey: key, fetch: scene.wire.fetch, vault: { pins: scene.pins } })
    offer({ kdf_salt: createHash('sha256').update('x').digest().subarray(0, 16).toString('base64') })
    await expect(client.vault.unlock(vaultKey)).rejects.toEqual(refuses('vault_changed'))
    expectNothingDerivedOrSent()
  })
})
