// The checks of a vault against its pins, and how pins change.
import { describe, expect, test } from 'vitest'
import {
  checkClaim,
  checkFingerprint,
  createMemoryPins,
  createSharedPins,
  createStoragePins,
  type KeyState,
  type PinDocument,
  parsePins,
  pinPending,
  pinSecrets,
  pinVault,
  type VaultClaim,
} from './pins.ts'

const kdf = { algorithm: 'argon2id' as const, m: 65_536, t: 3, p: 1 }
const state: KeyState = { salt: 'c2FsdA==', kdf, keyVersion: 3, fingerprint: 'f3' }
const claim: VaultClaim = { vaultId: 'vlt_1', organization: 'org_1', salt: state.salt, kdf, keyVersion: 3 }
const pinned = (more: Partial<PinDocument['vaults'][string]> = {}): PinDocument => ({
  version: 1,
  keys: { k1: 'vlt_1' },
  vaults: { vlt_1: { organization: 'org_1', state, secrets: {}, ...more } },
})
const refuses = (code: string) => expect.objectContaining({ code })

describe('a claim', () => {
  test('equal to the pins passes, and so does the first one of a server', () => {
    expect(() => checkClaim(pinned(), 'k1', claim)).not.toThrow()
    expect(() => checkClaim(undefined, 'k1', claim)).not.toThrow()
    expect(() => checkClaim({ version: 1, keys: {}, vaults: {} }, 'k1', claim)).not.toThrow()
  })

  test.each<[string, Partial<VaultClaim>]>([
    ['another organization', { organization: 'org_2' }],
    ['another salt', { salt: 'b3RoZXI=' }],
    ['less memory', { kdf: { ...kdf, m: 32_768 } }],
    ['fewer passes', { kdf: { ...kdf, t: 2 } }],
    ['more lanes', { kdf: { ...kdf, p: 2 } }],
    ['a later key version', { keyVersion: 4 }],
    ['an unknown vault', { vaultId: 'vlt_2' }],
  ])('of %s is vault_changed, for a known and for a new API key', (_what, change) => {
    for (const keyId of ['k1', 'k2', null])
      expect(() => checkClaim(pinned(), keyId, { ...claim, ...change })).toThrow(refuses('vault_changed'))
  })

  test('of an earlier key version is vault_rolled_back', () => {
    expect(() => checkClaim(pinned(), 'k1', { ...claim, keyVersion: 2 })).toThrow(refuses('vault_rolled_back'))
  })

  test('of another pinned vault is vault_changed for a key of this one', () => {
    const both = pinned()
    both.vaults.vlt_2 = { organization: 'org_2', state, secrets: {} }
    const other = { ...claim, vaultId: 'vlt_2', organization: 'org_2' }
    expect(() => checkClaim(both, 'k1', other)).toThrow(refuses('vault_changed'))
    expect(() => checkClaim(both, 'k2', other)).not.toThrow()
  })

  test('that a pending change announced passes, and nothing else of it', () => {
    const pending = { ...state, salt: 'bmV3', keyVersion: 4, fingerprint: 'f4' }
    const document = pinned({ pending })
    expect(() => checkClaim(document, 'k1', { ...claim, salt: 'bmV3', keyVersion: 4 })).not.toThrow()
    expect(() => checkClaim(document, 'k1', claim)).not.toThrow()
    expect(() => checkClaim(document, 'k1', { ...claim, salt: 'b2xk', keyVersion: 4 })).toThrow(refuses('vault_changed'))
    expect(() => checkFingerprint(document.vaults.vlt_1, 4, 'f4')).not.toThrow()
    expect(() => checkFingerprint(document.vaults.vlt_1, 4, 'f3')).toThrow(refuses('vault_changed'))
  })
})

test('a fingerprint belongs to its key version', () => {
  const pins = pinned().vaults.vlt_1
  expect(() => checkFingerprint(undefined, 9, 'any')).not.toThrow()
  expect(() => checkFingerprint(pins, 3, 'f3')).not.toThrow()
  expect(() => checkFingerprint(pins, 3, 'f4')).toThrow(refuses('vault_changed'))
  expect(() => checkFingerprint(pins, 4, 'f3')).toThrow(refuses('vault_changed'))
  expect(() => checkFingerprint(pins, 2, 'f3')).toThrow(refuses('vault_rolled_back'))
})

describe('pins of secrets', () => {
  const secretsAfter = (old: object, seen: object) =>
    pinSecrets(pinned({ secrets: old as never }), 'vlt_1', seen as never).vaults.vlt_1?.secrets

  test('never fall, and a bound secret stays bound', () => {
    expect(secretsAfter({ a: { rev: 5, bound: true } }, { a: { rev: 2, bound: false } })).toEqual({ a: { rev: 5, bound: true } })
    expect(secretsAfter({ a: { rev: 2, bound: false } }, { a: { rev: 5, bound: true } })).toEqual({ a: { rev: 5, bound: true } })
    expect(secretsAfter({}, { a: { rev: 1, bound: false } })).toEqual({ a: { rev: 1, bound: false } })
  })

  test('keep a deletion and the other secrets', () => {
    const old = { a: { rev: 5, bound: true }, b: { rev: 1, bound: true } }
    const deleted = { a: { rev: 5, bound: true, deleted: true }, b: { rev: 1, bound: true } }
    expect(secretsAfter(old, { a: { rev: 0, bound: false, deleted: true } })).toEqual(deleted)
    expect(secretsAfter(deleted, { a: { rev: 6, bound: true } })).toMatchObject({ a: { rev: 6, deleted: true } })
  })

  test('need the pins of their vault', () => {
    for (const change of [() => pinSecrets(undefined, 'vlt_1', {}), () => pinPending(pinned(), 'vlt_2', state)])
      expect(change).toThrow(refuses('pins_unreadable'))
  })
})

describe('a vault that is pinned again', () => {
  const next = { ...state, keyVersion: 4, fingerprint: 'f4' }
  const old = pinned({ secrets: { a: { rev: 1, bound: true } }, pending: next })

  test('keeps its secrets, and its pending change until that is confirmed', () => {
    expect(pinVault(old, 'k1', claim, state, false).vaults.vlt_1).toEqual(old.vaults.vlt_1)
    const confirmed = pinVault(old, 'k2', claim, next, false)
    expect(confirmed.vaults.vlt_1).toEqual({ organization: 'org_1', state: next, secrets: { a: { rev: 1, bound: true } } })
    expect(confirmed.keys).toEqual({ k1: 'vlt_1', k2: 'vlt_1' })
  })

  test('forgets both when it is accepted as new, and other vaults stay', () => {
    const other = pinVault(old, 'k3', { vaultId: 'vlt_2', organization: 'org_2' }, state, true)
    expect(other.vaults.vlt_1).toEqual(old.vaults.vlt_1)
    expect(pinVault(other, 'k1', claim, state, true).vaults).toEqual({
      vlt_1: { organization: 'org_1', state, secrets: {} },
      vlt_2: { organization: 'org_2', state, secrets: {} },
    })
  })
})

test('unreadable pins are refused and never taken as none', async () => {
  for (const text of [
    '',
    '{}',
    'null',
    '{"version":2,"keys":{},"vaults":{}}',
    '{"version":1,"keys":{},"vaults":{"v":{}}}',
    '{"version":1,"keys":[],"vaults":{}}',
  ])
    expect(() => parsePins(text), text).toThrow(refuses('pins_unreadable'))
  expect(parsePins(JSON.stringify(pinned()))).toEqual(pinned())
  const pins = createMemoryPins()
  await pins.update('a', () => pinned())
  expect([await pins.read('a'), await pins.read('b')]).toEqual([pinned(), undefined])
})

describe('pins that another thread stores', () => {
  test('are changed again when they were changed in between, and are those of localStorage', async () => {
    const stored = new Map<string, string>()
    const storage = createStoragePins({ getItem: (name) => stored.get(name) ?? null, setItem: (name, text) => void stored.set(name, text) })
    let interfere: (() => Promise<void>) | null = null
    const shared = createSharedPins({
      read: async (name) => stored.get(name) ?? null,
      async swap(name, before, after) {
        await interfere?.()
        if ((stored.get(name) ?? null) !== before) return false
        stored.set(name, after)
        return true
      },
    })
    await shared.update('https://a', () => pinned())
    interfere = async () => {
      interfere = null
      await storage.update('https://a', (document) => pinSecrets(document, 'vlt_1', { theirs: { rev: 7, bound: true } }))
    }
    await shared.update('https://a', (document) => pinSecrets(document, 'vlt_1', { ours: { rev: 3, bound: true } }))
    expect((await storage.read('https://a'))?.vaults.vlt_1?.secrets).toMatchObject({ theirs: { rev: 7 }, ours: { rev: 3 } })
    expect(await shared.read('https://b')).toBeUndefined()
    stored.set([...stored.keys()][0] as string, '{}')
    await expect(shared.read('https://a')).rejects.toEqual(refuses('pins_unreadable'))
    await expect(shared.update('https://a', () => pinned())).rejects.toEqual(refuses('pins_unreadable'))
  })
})
