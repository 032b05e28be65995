// The vault client against the real server, from creating a vault to recovering it, as an administrator and as an agent.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign, createFilePins, createMemoryPins, type PinStore, type RotationProgress, type UnlockedVault } from '../src/index.ts'
import { generateRecoveryCode } from '../src/vault/index.ts'
import { createWire } from './wire.ts'

const vaultKey = 'correct horse battery staple'
const kdfParams = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }
const refuses = (code: string) => expect.objectContaining({ code })

let harness: Harness
let folder: string
beforeAll(async () => {
  harness = await startHarness()
  folder = mkdtempSync(join(tmpdir(), 'callsign-pins-'))
})
afterAll(async () => {
  await harness.stop()
  rmSync(folder, { recursive: true, force: true })
})

const clientOf = (apiKey: string, pins: PinStore = createMemoryPins()) => new Callsign({ url: harness.baseUrl, apiKey, vault: { pins } })

async function createVault(name: string) {
  const { key } = await harness.createOrganization(name)
  const client = clientOf(key)
  return { key, client, ...(await client.vault.initialize({ vaultKey, kdfParams })) }
}

test('every type of secret is returned whole, with members that are unknown to this client', async () => {
  const { key, vault } = await createVault('types')
  const secrets = [
    { type: 'login', name: 'mail', description: 'her mail', payload: { username: 'ada', password: 'pässwörd', url: 'https://x.example' } },
    { type: 'api_key', name: 'payments', payload: { api_key: 'sk_1', further: { stays: [1, null] } } },
    { type: 'key_pair', name: 'cloud', payload: { access_key: 'AK', secret_key: 'SK' } },
    { type: 'ssh_key', name: 'host', payload: { private_key: '-----BEGIN…\n', public_key: 'ssh-ed25519 AAAA' } },
    { type: 'other', name: 'a note', payload: { data: '' } },
  ] as const
  for (const secret of secrets) await vault.create(secret)
  const again = await clientOf(key).vault.unlock(vaultKey)
  expect(again.list().map(({ name, nameVerified }) => [name, nameVerified])).toEqual(
    ['a note', 'cloud', 'host', 'mail', 'payments'].map((name) => [name, true]),
  )
  for (const { type, name, payload } of secrets) expect(await again.get(name)).toMatchObject({ type, name, payload, isBound: true })
  expect(again.fingerprint).toBe(vault.fingerprint)
  expect((await again.export()).secrets).toHaveLength(5)
})

test('an update replaces the given members, drops null ones, and keeps the rest', async () => {
  const { vault } = await createVault('update')
  await vault.create({ type: 'login', name: 'x', payload: { username: 'u', password: 'p', notes: 'n', mine: 1 } as never })
  const changed = await vault.update('x', { name: 'y', payload: { password: 'q', notes: null } })
  expect(changed).toMatchObject({ name: 'y', revision: 2, nameVerified: true })
  expect((await vault.get('y')).payload).toEqual({ username: 'u', password: 'q', mine: 1 })
  await expect(vault.get('x')).rejects.toEqual(refuses('secret_not_found'))
  await expect(vault.update('y', { payload: { password: null } })).rejects.toEqual(refuses('payload_invalid'))
})

test('the second of two changes to the same secret is rejected', async () => {
  const { key, vault } = await createVault('race')
  await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
  const other = await clientOf(key).vault.unlock(vaultKey)
  await other.update('x', { payload: { data: '2' } })
  await expect(vault.update('x', { payload: { data: '3' } })).rejects.toMatchObject({ status: 409, code: 'vault_secret_conflict' })
  await vault.refresh()
  await vault.update('x', { payload: { data: '3' } })
  expect((await vault.get('x')).payload).toEqual({ data: '3' })
})

test('names are unique, and ids and wrong input are rejected before anything is sent', async () => {
  const { vault } = await createVault('names')
  await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
  await expect(vault.create({ type: 'other', name: 'x', payload: { data: '2' } })).rejects.toEqual(refuses('secret_name_taken'))
  await expect(vault.create({ type: 'login', name: 'y', payload: { username: 'u' } as never })).rejects.toEqual(refuses('payload_invalid'))
  await expect(vault.create({ type: 'constructor' as never, name: 'y', payload: {} as never })).rejects.toEqual(refuses('payload_invalid'))
  await expect(vault.create({ type: 'other', name: 'y', payload: { data: 'x'.repeat(66_000) } })).rejects.toEqual(
    refuses('payload_too_large'),
  )
  await expect(vault.create({ type: 'other', name: 'y', payload: { data: '', $ctx: 1 } as never })).rejects.toEqual(
    refuses('payload_invalid'),
  )
  await vault.delete('x')
  await expect(vault.get('x')).rejects.toEqual(refuses('secret_not_found'))
})

test('an agent reads granted secrets only, and none after the grant is revoked', async () => {
  const { key, vault } = await createVault('grants')
  await harness.createAgent('vault_reader', {}, key)
  const agentKey = await harness.agentKey('vault_reader', { scopes: ['vault:read'] }, key)
  await vault.create({ type: 'other', name: 'granted', payload: { data: 'g' } })
  await vault.create({ type: 'other', name: 'kept', payload: { data: 'k' } })
  await vault.grant('granted', { agentHandle: 'vault_reader' })
  expect((await vault.grants('granted')).map((grant) => grant.agent_handle)).toEqual(['vault_reader'])
  const agent = clientOf(agentKey)
  const seen = await agent.vault.unlock(vaultKey)
  expect(seen.list().map(({ name }) => name)).toEqual(['granted'])
  expect((await seen.get('granted')).payload).toEqual({ data: 'g' })
  await vault.revoke('granted', { agentHandle: 'vault_reader' })
  const later = await agent.vault.unlock(vaultKey)
  expect(later.list()).toEqual([])
  expect(later.missing).toHaveLength(1)
})

describe('keys', () => {
  test('a generated key opens the vault, and a wrong one does not', async () => {
    const { key } = await harness.createOrganization('generated')
    const made = await clientOf(key).vault.initialize()
    expect(made.recoveryCodes).toHaveLength(4)
    await clientOf(key).vault.unlock(made.vaultKey)
    await expect(clientOf(key).vault.unlock('a wrong key of some length')).rejects.toEqual(refuses('wrong_vault_key'))
    await expect(clientOf(key).vault.initialize({ vaultKey })).rejects.toMatchObject({ status: 409, code: 'vault_already_initialized' })
    expect(await clientOf(key).vault.status()).toMatchObject({
      initialized: true,
      keyVersion: 1,
      recoveryKeysRemaining: 4,
      fingerprint: null,
    })
  })

  test('a missing vault is reported', async () => {
    const { key } = await harness.createOrganization('no vault')
    expect(await clientOf(key).vault.status()).toMatchObject({ initialized: false, id: null })
    await expect(clientOf(key).vault.unlock(vaultKey)).rejects.toEqual(refuses('vault_not_initialized'))
  })

  test('after a change of the vault key the new one opens, the old one does not, and only other clients have to accept the change', async () => {
    const { key, client, vault } = await createVault('change')
    await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
    const elsewhere = clientOf(key)
    await elsewhere.vault.unlock(vaultKey)
    await vault.changeKey('another vault key of ours')
    await vault.changeKey('and yet another vault key')
    expect((await (await client.vault.unlock('and yet another vault key')).get('x')).payload).toEqual({ data: '1' })
    await expect(client.vault.unlock(vaultKey)).rejects.toEqual(refuses('wrong_vault_key'))
    await expect(elsewhere.vault.unlock('and yet another vault key')).rejects.toEqual(refuses('vault_changed'))
    await elsewhere.vault.unlock('and yet another vault key', { acceptNewVault: true })
    await elsewhere.vault.unlock('and yet another vault key')
  })

  test('a rotation sets a new organization key, keeps every secret readable, and replaces the recovery codes', async () => {
    const { client, vault, recoveryCodes } = await createVault('rotate')
    for (let i = 0; i < 25; i++) await vault.create({ type: 'other', name: `secret ${i}`, payload: { data: `value ${i}` } })
    const before = vault.fingerprint
    const rotated = await vault.rotate('another vault key of ours')
    expect(vault.fingerprint).not.toBe(before)
    expect(vault.keyVersion).toBe(2)
    expect((await vault.get('secret 7')).payload).toEqual({ data: 'value 7' })
    await vault.update('secret 7', { payload: { data: 'after' } })
    const again = await client.vault.unlock('another vault key of ours')
    expect(again.list().filter(({ problem }) => problem)).toEqual([])
    expect((await again.get('secret 24')).payload).toEqual({ data: 'value 24' })
    await expect(client.vault.recover(recoveryCodes[0]!, 'a vault key after recovery')).rejects.toEqual(refuses('wrong_vault_key'))
    await client.vault.recover(rotated.recoveryCodes[2]!, 'a vault key after recovery')
  })

  test('a rotation reports its progress, and sets the recovery codes that the caller has stored before', async () => {
    const { client, vault } = await createVault('prepared')
    for (const name of ['a', 'b', 'c']) await vault.create({ type: 'other', name, payload: { data: name } })
    const codes = [generateRecoveryCode(), generateRecoveryCode()]
    const steps: string[] = []
    const onProgress = ({ step, done, total }: RotationProgress) => steps.push(`${step} ${done}/${total}`)
    expect((await vault.rotate(vaultKey, { recoveryCodes: codes, onProgress })).recoveryCodes).toEqual(codes)
    expect(steps).toEqual(['encrypt 1/3', 'encrypt 2/3', 'encrypt 3/3', 'derive 1/3', 'derive 2/3', 'derive 3/3', 'send 0/1'])
    await client.vault.recover(codes[1]!, 'a vault key after recovery')
    expect((await client.vault.status()).recoveryKeysRemaining).toBe(1)
  })

  test('a recovery key is listed, deleted, and then does not open the vault', async () => {
    const { client, vault, recoveryCodes } = await createVault('keys')
    const keys = await client.vault.keys()
    expect(keys.map(({ key_type: type }) => type)).toEqual(['primary', 'recovery', 'recovery', 'recovery', 'recovery'])
    expect(JSON.stringify(keys)).not.toMatch(/wrapped|auth/)
    await expect(vault.deleteKey(keys[0]!.id)).rejects.toEqual(refuses('conflict'))
    for (const { id } of keys.slice(1)) await vault.deleteKey(id)
    expect(await client.vault.keys()).toHaveLength(1)
    for (const code of recoveryCodes)
      await expect(client.vault.recover(code, 'a vault key after recovery')).rejects.toEqual(refuses('wrong_vault_key'))
    vault.lock()
    await expect(vault.deleteKey(keys[0]!.id)).rejects.toEqual(refuses('vault_locked'))
  })

  test('the grants of all secrets are listed at once', async () => {
    const { key, vault } = await createVault('grants')
    const id = (await harness.expectApi(201, 'POST', '/identities', { key, body: { agent_handle: 'grantee' } })).id
    const [granted, kept] = await Promise.all(
      ['granted', 'kept'].map((name) => vault.create({ type: 'other', name, payload: { data: name } })),
    )
    await vault.grant('granted', { agentHandle: 'grantee' })
    expect(await vault.allGrants()).toEqual({ [granted!.id]: [{ identityId: id, agentHandle: 'grantee' }], [kept!.id]: [] })
  })

  test('a recovery code sets a new key once, in any spelling', async () => {
    const { key, client, vault, recoveryCodes } = await createVault('recover')
    await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
    const code = ` ${recoveryCodes[1]!.toLowerCase().replaceAll('-', ' ')}`
    const recovered = await client.vault.recover(code, 'a vault key after recovery')
    expect((await recovered.get('x')).payload).toEqual({ data: '1' })
    await expect(client.vault.recover(code, 'a vault key after recovery')).rejects.toEqual(refuses('wrong_vault_key'))
    await client.vault.unlock('a vault key after recovery')
    expect((await clientOf(key).vault.status()).recoveryKeysRemaining).toBe(3)
  })

  test('a rotation whose answer is lost is recognized at the next unlock', async () => {
    const { key } = await harness.createOrganization('lost answer')
    const wire = createWire()
    const client = new Callsign({
      url: harness.baseUrl,
      apiKey: key,
      fetch: wire.fetch,
      retriesMax: 0,
      vault: { pins: createMemoryPins() },
    })
    const { vault } = await client.vault.initialize({ vaultKey, kdfParams })
    await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
    wire.tamper = (sent, body) => {
      if (sent.path === '/vault/rotate') throw new TypeError('the line went dead')
      return body
    }
    await expect(vault.rotate('another vault key of ours')).rejects.toEqual(refuses('connection_failed'))
    wire.tamper = undefined
    expect((await client.vault.status()).isKeyChangePending).toBe(true)
    const again = await client.vault.unlock('another vault key of ours')
    expect((await client.vault.status()).isKeyChangePending).toBe(false)
    expect(again.keyVersion).toBe(2)
    expect((await again.get('x')).payload).toEqual({ data: '1' })
  })

  test.each<[string, (vault: UnlockedVault) => void]>([
    ['the line goes dead', () => undefined],
    ['the vault is locked', (vault) => vault.lock()],
  ])('the recovery codes of a rotation that was done are given though %s right after it', async (_what, interfere) => {
    const { key } = await harness.createOrganization('interrupted rotation')
    const wire = createWire()
    const client = new Callsign({
      url: harness.baseUrl,
      apiKey: key,
      fetch: wire.fetch,
      retriesMax: 0,
      vault: { pins: createMemoryPins() },
    })
    const { vault } = await client.vault.initialize({ vaultKey, kdfParams })
    await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
    let isRotated = false
    wire.tamper = (sent, body) => {
      if (isRotated) throw new TypeError('the line went dead')
      if (sent.path === '/vault/rotate') {
        isRotated = true
        interfere(vault)
      }
      return body
    }
    const { recoveryCodes } = await vault.rotate('another vault key of ours')
    expect(recoveryCodes).toHaveLength(4)
    wire.tamper = undefined
    const recovered = await client.vault.recover(recoveryCodes[0]!, 'a vault key after recovery')
    expect((await recovered.get('x')).payload).toEqual({ data: '1' })
    if (interfere.length > 0) return expect(() => vault.list()).toThrowError(refuses('vault_locked'))
    expect((await vault.get('x')).payload).toEqual({ data: '1' })
    await vault.update('x', { payload: { data: '2' } })
  })

  test('a rotation includes a concurrent change', async () => {
    const { key } = await harness.createOrganization('rotation race')
    const wire = createWire()
    const client = new Callsign({ url: harness.baseUrl, apiKey: key, fetch: wire.fetch, vault: { pins: createMemoryPins() } })
    const { vault } = await client.vault.initialize({ vaultKey, kdfParams })
    await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
    const other = await clientOf(key).vault.unlock(vaultKey)
    let isFirst = true
    wire.tamper = async (sent, body) => {
      if (sent.path === '/vault/secrets' && isFirst) {
        isFirst = false
        await other.update('x', { payload: { data: '2' } })
      }
      return body
    }
    await vault.rotate(vaultKey)
    expect((await vault.get('x')).payload).toEqual({ data: '2' })
  })
})

test('a locked vault cannot be used', async () => {
  const { vault } = await createVault('lock')
  await vault.create({ type: 'other', name: 'x', payload: { data: '1' } })
  vault.lock()
  await expect(vault.get('x')).rejects.toEqual(refuses('vault_locked'))
  await expect(vault.create({ type: 'other', name: 'y', payload: { data: '1' } })).rejects.toEqual(refuses('vault_locked'))
  await expect(vault.rotate(vaultKey)).rejects.toEqual(refuses('vault_locked'))
  expect(() => vault.list()).toThrowError(refuses('vault_locked'))
})

test('one-time passwords come from a login secret', async () => {
  const { vault } = await createVault('totp')
  await vault.create({ type: 'login', name: 'x', payload: { username: 'u', password: 'p', totp: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' } })
  expect(await vault.totp('x', 59_000)).toEqual({ code: '287082', periodSeconds: 30, secondsLeft: 1 })
  await vault.create({ type: 'login', name: 'y', payload: { username: 'u', password: 'p' } })
  await expect(vault.totp('y')).rejects.toEqual(refuses('totp_invalid'))
})

describe('pins in a file', () => {
  test('outlive the client, are readable by their owner alone, and support several writers', async () => {
    const file = join(folder, 'pins.json')
    const { key, vault } = await createVault('pin file')
    for (const name of ['a', 'b', 'c', 'd']) await vault.create({ type: 'other', name, payload: { data: name } })
    await Promise.all(Array.from({ length: 4 }, () => clientOf(key, createFilePins(file)).vault.unlock(vaultKey)))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await vault.rotate(vaultKey)
    await expect(clientOf(key, createFilePins(file)).vault.unlock(vaultKey)).rejects.toEqual(refuses('vault_changed'))
    const content = readFileSync(file, 'utf8')
    for (const canary of [vaultKey, key]) expect(content).not.toContain(canary)
  })

  test('that cannot be read stop the client', async () => {
    const file = join(folder, 'broken.json')
    writeFileSync(file, '{"http')
    const { key } = await createVault('broken pins')
    await expect(clientOf(key, createFilePins(file)).vault.unlock(vaultKey)).rejects.toEqual(refuses('pins_unreadable'))
    expect(readFileSync(file, 'utf8')).toBe('{"http')
  })
})

describe('pins without an option', () => {
  const clientDir = process.env.CALLSIGN_CLIENT_DIR
  afterEach(() => {
    if (clientDir === undefined) delete process.env.CALLSIGN_CLIENT_DIR
    else process.env.CALLSIGN_CLIENT_DIR = clientDir
  })

  test('are kept in the file of the command line, in a folder for the owner alone', async () => {
    const settings = join(folder, 'new', 'settings')
    process.env.CALLSIGN_CLIENT_DIR = settings
    const { key } = await harness.createOrganization('file by default')
    const client = () => new Callsign({ url: harness.baseUrl, apiKey: key })
    await client().vault.initialize({ vaultKey, kdfParams })
    const file = join(settings, 'vault-pins.json')
    expect([statSync(file).mode & 0o777, statSync(settings).mode & 0o777]).toEqual([0o600, 0o700])
    expect((await client().vault.status()).fingerprint).toMatch(/^[0-9a-f]{16}$/)
    await clientOf(key)
      .vault.unlock(vaultKey)
      .then((vault) => vault.changeKey('a key set on another machine'))
    await expect(client().vault.unlock('a key set on another machine')).rejects.toEqual(refuses('vault_changed'))
  })

  test('that cannot be stored stop the unlock', async () => {
    writeFileSync(join(folder, 'no-folder'), '')
    process.env.CALLSIGN_CLIENT_DIR = join(folder, 'no-folder', 'settings')
    const { key } = await createVault('no place for pins')
    await expect(new Callsign({ url: harness.baseUrl, apiKey: key }).vault.unlock(vaultKey)).rejects.toEqual(refuses('pins_unreadable'))
  })
})
