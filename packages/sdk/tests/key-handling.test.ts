// Keys and plaintext in memory, and the parameters of an unlock, against a real server.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign, createMemoryPins, type UnlockedVault } from '../src/index.ts'
import { AesKey } from '../src/vault/crypto/aes.ts'
import { createWire, type Wire } from './wire.ts'

// Collects the inputs of key derivations below the client, before the client imports the function. Files share their modules, so the client is
// imported afresh.
const derivations = vi.hoisted(() => {
  vi.resetModules()
  const messages: Uint8Array[] = []
  const crypto = process.getBuiltinModule('node:crypto')
  const real = crypto.argon2
  crypto.argon2 = ((...input: Parameters<typeof real>) => {
    messages.push((input[1] as { message: Uint8Array }).message)
    return real(...input)
  }) as typeof real
  return messages
})

const vaultKey = 'correct horse battery staple'
const kdfParams = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }
const refuses = (code: string) => expect.objectContaining({ code })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

let key: string
let wire: Wire
let vault: UnlockedVault
let count = 0
/** Every payload that was sealed or opened, and every key that did so. */
let plaintexts: Uint8Array[]
let keys: Set<AesKey>
const client = (pins = createMemoryPins()) =>
  new Callsign({ url: harness.baseUrl, apiKey: key, fetch: wire.fetch, retriesMax: 0, vault: { pins } })

beforeEach(async () => {
  ;({ key } = await harness.createOrganization(`keys ${++count}`))
  wire = createWire()
  ;({ vault } = await client().vault.initialize({ vaultKey, kdfParams, recoveryCodes: 1 }))
  await vault.create({ type: 'login', name: 'prod', payload: { username: 'root', password: 'prod password' } })
  derivations.length = 0
  plaintexts = []
  keys = new Set()
  const { seal, open } = AesKey.prototype
  // A wrapped organization key has 32 bytes and stays in use, so it is not collected.
  vi.spyOn(AesKey.prototype, 'seal').mockImplementation(function (this: AesKey, iv, plaintext) {
    keys.add(this)
    if (plaintext.length !== 32) plaintexts.push(plaintext)
    return seal.call(this, iv, plaintext)
  })
  vi.spyOn(AesKey.prototype, 'open').mockImplementation(async function (this: AesKey, iv, sealed) {
    keys.add(this)
    const plaintext = await open.call(this, iv, sealed)
    if (plaintext && plaintext.length !== 32) plaintexts.push(plaintext)
    return plaintext
  })
  return () => vi.restoreAllMocks()
})

const isZero = (bytes: Uint8Array) => bytes.every((byte) => byte === 0)
const isWiped = (one: AesKey) => {
  try {
    return one.bytes === undefined
  } catch {
    return true
  }
}

test('the bytes of the vault key are zero after an unlock, failed or not, and the master key is wiped', async () => {
  await client().vault.unlock(vaultKey)
  await expect(client().vault.unlock('a wrong key of some length')).rejects.toEqual(refuses('wrong_vault_key'))
  expect(derivations.map((bytes) => [bytes.length > 0, isZero(bytes)])).toEqual([
    [true, true],
    [true, true],
  ])
  // The master key, which unwrapped the organization key. That one is in use still.
  expect([...keys].map(isWiped).toSorted()).toEqual([false, true])
})

test('the bytes of every key are zero after a change, a rotation and a recovery', async () => {
  await vault.changeKey('another vault key of ours')
  const { recoveryCodes } = await vault.rotate('a third vault key of ours', { recoveryCodes: 1 })
  await client().vault.recover(recoveryCodes[0] as string, 'a fourth vault key of ours')
  await expect(client().vault.recover(recoveryCodes[0] as string, 'a fifth vault key of ours')).rejects.toEqual(refuses('wrong_vault_key'))
  expect(derivations.length).toBeGreaterThan(4)
  expect(derivations.map(isZero)).toEqual(derivations.map(() => true))
})

test('decrypted and encrypted payloads are zero after their use', async () => {
  const opened = await client().vault.unlock(vaultKey)
  await opened.get('prod')
  await opened.update('prod', { payload: { password: 'changed' } })
  expect(plaintexts.length).toBeGreaterThan(3)
  expect(plaintexts.map(isZero)).toEqual(plaintexts.map(() => true))
})

test('a rotation wipes the old organization key, and locking wipes the new one', async () => {
  const opened = await client().vault.unlock(vaultKey)
  await opened.rotate('another vault key of ours', { recoveryCodes: 0 })
  expect([...keys].filter((one) => !isWiped(one))).toHaveLength(1)
  opened.lock()
  expect([...keys].map(isWiped)).toEqual([...keys].map(() => true))
  expect(() => opened.list()).toThrow(refuses('vault_locked'))
  await expect(opened.changeKey('a third vault key of ours')).rejects.toEqual(refuses('vault_locked'))
})

test.each([
  { kdf_params: { ...kdfParams, t: 3 } },
  { kdf_params: { ...kdfParams, m: 19_457 } },
  { kdf_params: { ...kdfParams, p: 2 } },
  { kdf_salt: 'AAAAAAAAAAAAAAAAAAAAAA==' },
])('an unlock that answers with %j, other than before it, is refused before anything is unwrapped', async (change) => {
  wire.tamper = (sent, body) => (sent.path === '/vault/unlock' ? { ...body, ...change } : body)
  await expect(client().vault.unlock(vaultKey)).rejects.toEqual(refuses('vault_changed'))
  expect(keys.size).toBe(0)
})
