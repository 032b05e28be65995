// Pins record the last known state of a vault, so that a server cannot silently substitute another or an older one.
import { VaultError } from '../errors.ts'
import type { KdfParams } from './crypto/kdf.ts'

/** The keys of a vault at one time. `fingerprint` stands for the organization key. */
export type KeyState = { salt: string; kdf: KdfParams; keyVersion: number; fingerprint: string }

/** The pin of one secret, with its highest revision, and whether it was ever bound to its context. */
export type SecretPin = { rev: number; bound: boolean; deleted?: true }

export type VaultPins = {
  organization: string
  state: KeyState
  /** The expected state after a change of this client that may not have reached the server. */
  pending?: KeyState
  secrets: Record<string, SecretPin>
}

/** All pins of one server. `keys` maps each API key, by its public id, to the vault that it was first used with. */
export type PinDocument = { version: 1; keys: Record<string, string>; vaults: Record<string, VaultPins> }

/** Stores pins by the server's address. `update` must be atomic with respect to other updates. */
export type PinStore = {
  read: (server: string) => Promise<PinDocument | undefined>
  update: (server: string, change: (document: PinDocument | undefined) => PinDocument) => Promise<void>
}

/** Pins for the lifetime of this object. They detect a server that changes its answers, not one that was hostile from the start. */
export function createMemoryPins(): PinStore {
  const documents = new Map<string, PinDocument>()
  return {
    read: async (server) => documents.get(server),
    update: async (server, change) => {
      documents.set(server, change(documents.get(server)))
    },
  }
}

/** The required subset of a browser's Storage. */
export type TextStorage = { getItem: (name: string) => string | null; setItem: (name: string, value: string) => void }

const nameOf = (server: string) => `callsign-vault-pins ${server}`

/** Texts that another thread stores. `swap` stores `after`, unless the text is not `before` any more, and then returns false. */
export type SharedTexts = {
  read: (name: string) => Promise<string | null>
  swap: (name: string, before: string | null, after: string) => Promise<boolean>
}

/** Pins of a worker, which cannot reach the localStorage of its page. */
export function createSharedPins(texts: SharedTexts): PinStore {
  const load = async (server: string) => {
    const text = await texts.read(nameOf(server))
    return { text, document: text === null ? undefined : parsePins(text) }
  }
  return {
    read: async (server) => (await load(server)).document,
    async update(server, change) {
      for (;;) {
        const { text, document } = await load(server)
        if (await texts.swap(nameOf(server), text, JSON.stringify(change(document)))) return
      }
    },
  }
}

/** Pins in a browser's localStorage. */
export function createStoragePins(storage: TextStorage): PinStore {
  const read = (server: string) => {
    const text = storage.getItem(nameOf(server))
    return text === null ? undefined : parsePins(text)
  }
  return {
    read: async (server) => read(server),
    update: async (server, change) => storage.setItem(nameOf(server), JSON.stringify(change(read(server)))),
  }
}

/** Throws `pins_unreadable`, because unreadable pins must not disable the checks. */
export function parsePins(text: string): PinDocument {
  try {
    const value = JSON.parse(text) as PinDocument
    const isWhole = value.version === 1 && isRecord(value.keys) && isRecord(value.vaults)
    if (isWhole && Object.values(value.vaults).every((pins) => isRecord(pins.state) && isRecord(pins.secrets))) return value
  } catch {
    // Said below.
  }
  throw new VaultError(
    'pins_unreadable',
    'The pins of the vault cannot be read. Restore or remove them yourself. Without them, changes are not detected.',
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const isSameKdf = (a: KeyState, b: { salt: string; kdf: KdfParams }): boolean =>
  a.salt === b.salt && a.kdf.m === b.kdf.m && a.kdf.t === b.kdf.t && a.kdf.p === b.kdf.p

/** The server's claim before anything is derived. */
export type VaultClaim = { vaultId: string; organization: string; salt: string; kdf: KdfParams; keyVersion: number }

/**
 * Checks the server's claim against the pins before anything is derived from the vault key. Throws `vault_changed` or `vault_rolled_back`.
 * A server without pins is new, and trusted on first use. On a server with pins, another vault has to be accepted once.
 */
export function checkClaim(document: PinDocument | undefined, keyId: string | null, claim: VaultClaim): void {
  const expected = keyId === null ? undefined : document?.keys[keyId]
  if (expected !== undefined && expected !== claim.vaultId) throw changed('is another vault')
  const pins = document?.vaults[claim.vaultId]
  if (!pins) {
    // A server could otherwise present a vault of its own and receive the hash of the vault key.
    if (Object.keys(document?.vaults ?? {}).length > 0) throw changed('is another vault')
    return
  }
  if (pins.organization !== claim.organization) throw changed('belongs to another organization')
  const states = pins.pending ? [pins.state, pins.pending] : [pins.state]
  if (claim.keyVersion < pins.state.keyVersion) {
    throw new VaultError(
      'vault_rolled_back',
      `The server offers key version ${claim.keyVersion}, but ${pins.state.keyVersion} was seen before.`,
    )
  }
  if (!states.some((state) => isSameKdf(state, claim))) throw changed('has another salt or other key derivation parameters')
  if (!states.some((state) => state.keyVersion === claim.keyVersion)) throw changed(`has key version ${claim.keyVersion}`)
}

/** Checks the organization key against the pins, once it is unwrapped. */
export function checkFingerprint(pins: VaultPins | undefined, keyVersion: number, fingerprint: string): void {
  if (!pins) return
  const states = pins.pending ? [pins.state, pins.pending] : [pins.state]
  if (states.some((state) => state.keyVersion === keyVersion && state.fingerprint === fingerprint)) return
  if (keyVersion < pins.state.keyVersion) {
    throw new VaultError('vault_rolled_back', `The server offers key version ${keyVersion}, but ${pins.state.keyVersion} was seen before.`)
  }
  throw changed('has another organization key')
}

const changed = (how: string) =>
  new VaultError(
    'vault_changed',
    `The vault ${how} than this client has seen before. If its keys were changed elsewhere on purpose, accept it once (acceptNewVault).`,
  )

/** Returns the document with this vault pinned in this state. Known revisions stay, unless `isFresh` discards them. */
export function pinVault(
  document: PinDocument | undefined,
  keyId: string | null,
  claim: { vaultId: string; organization: string },
  state: KeyState,
  isFresh: boolean,
): PinDocument {
  const whole = document ?? { version: 1, keys: {}, vaults: {} }
  const old = isFresh ? undefined : whole.vaults[claim.vaultId]
  const pins: VaultPins = { organization: claim.organization, state, secrets: old?.secrets ?? {} }
  // A pending change of this client may still arrive.
  if (old?.pending && isSameKdf(old.state, state) && old.state.keyVersion === state.keyVersion) pins.pending = old.pending
  return {
    version: 1,
    keys: keyId === null ? whole.keys : { ...whole.keys, [keyId]: claim.vaultId },
    vaults: { ...whole.vaults, [claim.vaultId]: pins },
  }
}

/** Returns the document with updated secrets. Revisions only rise, and a bound secret stays bound. */
export function pinSecrets(document: PinDocument | undefined, vaultId: string, seen: Record<string, SecretPin>): PinDocument {
  const pins = document?.vaults[vaultId]
  if (!document || !pins)
    throw new VaultError('pins_unreadable', 'The pins of the vault were removed while it was open. Lock it and unlock it again.')
  const secrets = { ...pins.secrets }
  for (const [id, pin] of Object.entries(seen)) {
    const old = secrets[id]
    const isDeleted = pin.deleted ?? old?.deleted
    secrets[id] = { rev: Math.max(pin.rev, old?.rev ?? 0), bound: pin.bound || (old?.bound ?? false), ...(isDeleted && { deleted: true }) }
  }
  return { ...document, vaults: { ...document.vaults, [vaultId]: { ...pins, secrets } } }
}

/** The document with a change of keys announced, so that it is recognized even if its response is lost. */
export function pinPending(document: PinDocument | undefined, vaultId: string, pending: KeyState): PinDocument {
  const pins = document?.vaults[vaultId]
  if (!document || !pins)
    throw new VaultError('pins_unreadable', 'The pins of the vault were removed while it was open. Lock it and unlock it again.')
  return { ...document, vaults: { ...document.vaults, [vaultId]: { ...pins, pending } } }
}
