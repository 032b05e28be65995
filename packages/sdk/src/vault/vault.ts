// A closed vault. Reports its state, creates it, unlocks it, and restores access with a recovery code.
import { newId } from '@callsign/contract/ids'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type { initializeVault, listVaultKeys, replacePrimaryKey } from '@callsign/contract/vault'
import { keyBytes } from '@callsign/contract/vault-blob'
import type { Connection } from '../connection/request.ts'
import { ApiError, VaultError } from '../errors.ts'
import { VaultCalls } from '../resources/vault.ts'
import { AesKey } from './crypto/aes.ts'
import { unwrapKey } from './crypto/blob.ts'
import { type Bytes, randomBytes } from './crypto/bytes.ts'
import { authHash, type CheckedKdf, checkKdf, deriveMaster, fingerprintOf, type KdfParams } from './crypto/kdf.ts'
import { newKdf, renewedParams, wrapFor, wrapForCodes } from './crypto/key-wrapping.ts'
import { generateRecoveryCode, generateVaultKey, newVaultKeyBytes, recoveryCodeBytes, vaultKeyBytes } from './crypto/vault-key.ts'
import { createDefaultPins } from './pin-file.ts'
import { checkClaim, checkFingerprint, type KeyState, type PinStore, pinPending, pinVault } from './pins.ts'
import { readMetadata, readRecoveryKdfs, readUnlock, type UnlockReply, type VaultMetadata } from './secrets/replies.ts'
import type { Binding } from './secrets/secret-box.ts'
import { openVault, type UnlockedVault } from './unlocked-vault.ts'

export type VaultOptions = {
  /** The store of pins. By default the file of the command line in Node, Deno and Bun, and memory in browsers, where `createStoragePins` keeps them. */
  pins?: PinStore
  binding?: Binding
  /** True rejects a secret if the server's name differs from the encrypted one. */
  strictNames?: boolean
}

export type UnlockOptions = {
  /** Discards the pins of this vault and trusts the server's current answer. Use it after keys were changed elsewhere on purpose. */
  acceptNewVault?: boolean
}

export type VaultStatus = {
  initialized: boolean
  id: string | null
  kdfParams: KdfParams | null
  keyVersion: number | null
  secretsCount: number
  recoveryKeysRemaining: number | null
  /** The fingerprint of the organization key as last seen by this client. null before the first unlock. */
  fingerprint: string | null
  /** True after a change of keys by this client whose result it does not know, because it stopped before the response. */
  isKeyChangePending: boolean
}

export type VaultKey = ReplyOf<typeof listVaultKeys>['data'][number]

export type NewVault = {
  vault: UnlockedVault
  /** The given or generated vault key. A generated one is returned only here. */
  vaultKey: string | Uint8Array
  /** Each opens the vault once, to set a new vault key. They are returned only here. */
  recoveryCodes: string[]
}

/** Number of recovery codes of a new vault. */
const recoveryCodesUsual = 4

export class Vault {
  readonly #connection: Connection
  readonly #calls: VaultCalls
  readonly #pins: PinStore
  readonly #binding: Binding
  readonly #strictNames: boolean

  constructor(connection: Connection, options: VaultOptions = {}) {
    this.#connection = connection
    this.#calls = new VaultCalls(connection)
    this.#pins = options.pins ?? createDefaultPins()
    this.#binding = options.binding ?? 'if-seen'
    this.#strictNames = options.strictNames ?? false
  }

  /** The server's description of the vault, with parameters checked against floor and ceiling. */
  async status(): Promise<VaultStatus> {
    const metadata = await this.#readMetadata()
    const pins = metadata && (await this.#pins.read(this.#connection.address))?.vaults[metadata.vaultId]
    return {
      initialized: metadata !== null,
      id: metadata?.vaultId ?? null,
      kdfParams: metadata?.kdf ?? null,
      keyVersion: metadata?.keyVersion ?? null,
      secretsCount: metadata?.secretsCount ?? 0,
      recoveryKeysRemaining: metadata?.recoveryKeysRemaining ?? null,
      fingerprint: pins?.state.fingerprint ?? null,
      isKeyChangePending: pins?.pending !== undefined,
    }
  }

  /** Lists the primary key and the unused recovery keys, without any key material. Organization keys only. */
  async keys(): Promise<VaultKey[]> {
    return (await this.#calls.listVaultKeys()).data
  }

  /**
   * Creates the organization's vault. Without a given vault key, one is generated. Throws `vault_key_unsuitable`, or the server's
   * `vault_already_initialized`.
   */
  async initialize(input: { vaultKey?: string | Uint8Array; recoveryCodes?: number; kdfParams?: KdfParams } = {}): Promise<NewVault> {
    const vaultKey = input.vaultKey ?? generateVaultKey()
    const keyInput = newVaultKeyBytes(vaultKey)
    const recoveryCodes = Array.from({ length: input.recoveryCodes ?? recoveryCodesUsual }, generateRecoveryCode)
    const kdf = newKdf(input.kdfParams)
    const vaultId = newId('vault', Date.now())
    const organizationKey = new AesKey(randomBytes(keyBytes))
    const primary = await wrapFor(keyInput, kdf, organizationKey)
    const body: BodyOf<typeof initializeVault> = {
      id: vaultId,
      kdf_salt: kdf.saltText,
      kdf_params: kdf.params,
      ...primary,
      recovery_keys: await wrapForCodes(recoveryCodes, organizationKey, kdf.params),
    }
    const reply = await this.#calls.initializeVault(body)
    const metadata = readMetadata(reply)
    if (!metadata || metadata.vaultId !== vaultId || metadata.salt !== kdf.saltText) {
      throw new VaultError('vault_changed', 'The server answered with another vault than the created one.')
    }
    const unlocked: UnlockReply = {
      vaultId,
      keyType: 'primary',
      keyVersion: metadata.keyVersion,
      wrappedKey: primary.wrapped_org_key,
      salt: kdf.saltText,
      kdfParams: kdf.params,
      rows: [],
    }
    const vault = await this.#open(metadata, unlocked, organizationKey, primary.auth_hash, { acceptNewVault: true })
    return { vault, vaultKey, recoveryCodes }
  }

  /**
   * Unlocks the vault. Derives and proves the key, unwraps, and verifies every secret that the caller can read. Nothing is derived before parameters, salt
   * and pins have passed. Throws a VaultError, or ApiError 429 after too many wrong keys.
   */
  async unlock(vaultKey: string | Uint8Array, options: UnlockOptions = {}): Promise<UnlockedVault> {
    const secret = vaultKeyBytes(vaultKey)
    try {
      const metadata = await this.#checkedMetadata(options)
      const opened = await this.#prove(secret, metadata.checked)
      return await this.#open(metadata, opened.reply, opened.organizationKey, opened.hash, options)
    } finally {
      secret.fill(0)
    }
  }

  /**
   * Sets a new vault key with a recovery code, which is consumed, and unlocks. Organization keys only. Throws `wrong_vault_key` when no
   * recovery key of the vault fits the code.
   */
  async recover(code: string, newVaultKey: string | Uint8Array, options: UnlockOptions = {}): Promise<UnlockedVault> {
    const keyInput = newVaultKeyBytes(newVaultKey)
    const secret = recoveryCodeBytes(code)
    const metadata = await this.#checkedMetadata(options)
    const kdfs = readRecoveryKdfs(await this.#calls.listVaultKeys())
    const opened = await this.#proveAny(secret, kdfs).finally(() => secret.fill(0))
    if (opened.reply.vaultId !== metadata.vaultId) throw new VaultError('vault_changed', 'The server answered with another vault.')
    const fingerprint = await fingerprintOf(opened.organizationKey)
    const pins = options.acceptNewVault ? undefined : (await this.#pins.read(this.#connection.address))?.vaults[metadata.vaultId]
    checkFingerprint(pins, opened.reply.keyVersion, fingerprint)
    const kdf = newKdf(renewedParams(metadata.kdf))
    const primary = await wrapFor(keyInput, kdf, opened.organizationKey)
    const body: BodyOf<typeof replacePrimaryKey> = {
      recovery_auth_hash: opened.hash,
      ...primary,
      kdf_salt: kdf.saltText,
      kdf_params: kdf.params,
      expected_key_version: opened.reply.keyVersion,
    }
    const state: KeyState = { salt: kdf.saltText, kdf: kdf.params, keyVersion: opened.reply.keyVersion, fingerprint }
    if (pins) await this.#pins.update(this.#connection.address, (document) => pinPending(document, metadata.vaultId, state))
    await this.#calls.replaceVaultPrimaryKey(body)
    const claim = { ...metadata, salt: kdf.saltText, kdf: kdf.params, checked: kdf, keyVersion: opened.reply.keyVersion }
    const reply: UnlockReply = { ...opened.reply, keyType: 'primary', salt: kdf.saltText, kdfParams: kdf.params }
    return this.#open(claim, reply, opened.organizationKey, primary.auth_hash, options, fingerprint)
  }

  async #readMetadata(): Promise<VaultMetadata | null> {
    return readMetadata(await this.#calls.getVault())
  }

  async #checkedMetadata(options: UnlockOptions): Promise<VaultMetadata> {
    const metadata = await this.#readMetadata()
    if (!metadata) throw new VaultError('vault_not_initialized', 'The organization has no vault yet.')
    if (!options.acceptNewVault) checkClaim(await this.#pins.read(this.#connection.address), this.#connection.keyId, metadata)
    return metadata
  }

  /** Derives the master key, proves it to the server, and unwraps the answer, once. */
  async #prove(secret: Bytes, kdf: CheckedKdf): Promise<{ reply: UnlockReply; organizationKey: AesKey; hash: string }> {
    const master = await deriveMaster(secret, kdf)
    try {
      const hash = await authHash(master)
      const reply = readUnlock(await this.#requestUnlock(hash))
      const used = checkKdf(reply.kdfParams, reply.salt)
      if (used.saltText !== kdf.saltText || JSON.stringify(used.params) !== JSON.stringify(kdf.params)) {
        throw new VaultError('vault_changed', 'The server returned another salt or other parameters after the unlock than before it.')
      }
      return { reply, organizationKey: await unwrapKey(master, reply.wrappedKey), hash }
    } finally {
      master.wipe()
    }
  }

  async #requestUnlock(hash: string): Promise<unknown> {
    try {
      return await this.#calls.unlockVault({ auth_hash: hash })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_auth_hash') throw error
      throw new VaultError('wrong_vault_key', 'This is not the key of the vault.', { cause: error })
    }
  }

  /** Recovery codes created by this client share one salt per vault. Another client may have used several. */
  async #proveAny(secret: Bytes, kdfs: CheckedKdf[]): Promise<{ reply: UnlockReply; organizationKey: AesKey; hash: string }> {
    for (const kdf of kdfs.slice(0, recoveryCodesUsual)) {
      try {
        return await this.#prove(secret, kdf)
      } catch (error) {
        if (!(error instanceof VaultError) || error.code !== 'wrong_vault_key') throw error
      }
    }
    throw new VaultError('wrong_vault_key', 'This is not a recovery code of the vault, or it was used before.')
  }

  async #open(
    metadata: VaultMetadata,
    reply: UnlockReply,
    organizationKey: AesKey,
    hash: string,
    options: UnlockOptions,
    knownFingerprint?: string,
  ): Promise<UnlockedVault> {
    if (reply.vaultId !== metadata.vaultId) throw new VaultError('vault_changed', 'The server answered with another vault.')
    const fingerprint = knownFingerprint ?? (await fingerprintOf(organizationKey))
    const server = this.#connection.address
    const isFresh = options.acceptNewVault === true
    const pins = isFresh ? undefined : (await this.#pins.read(server))?.vaults[metadata.vaultId]
    checkFingerprint(pins, reply.keyVersion, fingerprint)
    // A recovery code is accepted as vault key too. The pins always hold the primary key's salt.
    const state: KeyState = { salt: metadata.salt, kdf: metadata.kdf, keyVersion: reply.keyVersion, fingerprint }
    await this.#pins.update(server, (document) => pinVault(document, this.#connection.keyId, metadata, state, isFresh))
    return openVault(
      {
        connection: this.#connection,
        calls: this.#calls,
        pins: this.#pins,
        binding: this.#binding,
        strictNames: this.#strictNames,
        organization: metadata.organization,
        vaultId: metadata.vaultId,
        state,
        proof: { hash, keyType: reply.keyType },
        organizationKey,
      },
      reply.rows,
    )
  }
}
