// An open vault reads and changes its secrets, grants them, and changes the keys.
import { newId } from '@callsign/contract/ids'
import type { BodyOf } from '@callsign/contract/operation'
import type { createVaultSecret, updateVaultSecret } from '@callsign/contract/vault-secrets'
import { ApiError, VaultError } from '../errors.ts'
import { allItems } from '../pages.ts'
import { type TotpCode, totpCode } from './crypto/totp.ts'
import { acceptMissing, changeVaultKey, type RotateOptions, rotateKeys } from './key-changes.ts'
import type { OpenContext } from './open-context.ts'
import { pinSecrets, type SecretPin } from './pins.ts'
import { exportSecrets, type VaultExport } from './secrets/export.ts'
import { assertNameFree, findSecret } from './secrets/find-secret.ts'
import { type Grant, type GrantedAgent, type Grantee, grantSecret, listAllGrants, listGrants, revokeSecret } from './secrets/grants.ts'
import { checkPayload, isSecretType } from './secrets/payload.ts'
import { readRow, readRows, type SecretRow } from './secrets/replies.ts'
import { type Held, type NewSecret, type Secret, type SecretChange, type SecretSummary, summarize } from './secrets/secret.ts'
import { type OpenedSecret, SecretBox } from './secrets/secret-box.ts'

const rotationAttemptsMax = 3
/** Enough to keep WebCrypto's threads busy. More would only keep more plaintext and garbage in memory. */
const examinedAtOnce = 64

export class UnlockedVault {
  readonly #context: OpenContext
  #box: SecretBox
  #held = new Map<string, Held>()
  #missing: string[] = []
  #isLocked = false

  constructor(context: OpenContext) {
    this.#context = context
    this.#box = boxOf(context)
  }

  get id(): string {
    return this.#context.vaultId
  }

  get keyVersion(): number {
    return this.#context.state.keyVersion
  }

  /** A fingerprint of sixteen digits, equal for every holder of the right organization key. */
  get fingerprint(): string {
    return this.#context.state.fingerprint
  }

  /** Ids seen earlier that the server no longer returns, because they were deleted, revoked or withheld. */
  get missing(): string[] {
    return [...this.#missing]
  }

  /** Lists the secrets that the caller can read, by name. `problem` is set for those that cannot be decrypted. */
  list(): SecretSummary[] {
    this.#assertOpen()
    return [...this.#held.values()].map(summarize).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1))
  }

  /**
   * One secret, decrypted, by id or by its encrypted name, never by an unverified name. Throws
   * `secret_not_found`, `name_ambiguous`, `name_not_verified`, or the secret's own problem.
   */
  async get(reference: string): Promise<Secret> {
    const { row } = this.#find(reference)
    const { payload, ...opened } = await this.#open(row)
    return { ...summarize({ row, opened }), payload } as Secret
  }

  /** Encrypts and stores a secret. Throws `payload_invalid`, `payload_too_large`, or `secret_name_taken`. */
  async create(secret: NewSecret): Promise<SecretSummary> {
    this.#assertOpen()
    if (!isSecretType(secret.type)) throw new VaultError('payload_invalid', `${String(secret.type)} is not a secret type.`)
    checkPayload(secret.type, secret.payload)
    assertNameFree(this.#held, secret.name)
    const id = newId('vaultSecret', Date.now())
    const body: BodyOf<typeof createVaultSecret> = {
      id,
      type: secret.type,
      name: secret.name,
      encrypted_payload: await this.#box.seal(secret.payload, { id, type: secret.type, name: secret.name, rev: 1 }),
      key_version: this.keyVersion,
    }
    if (secret.description !== undefined) body.description = secret.description
    return this.#keep(await this.#context.calls.createVaultSecret(body), id)
  }

  /** Changes a secret. ApiError `vault_secret_conflict` means that it has changed since it was read. Refresh and try again. */
  async update(reference: string, change: SecretChange): Promise<SecretSummary> {
    const { row } = this.#find(reference)
    const opened = await this.#open(row)
    if (!opened.isBound && change.name === undefined) {
      throw new VaultError('name_not_verified', `The name of ${row.id} is unverified. Give the name with the change.`)
    }
    const name = change.name ?? opened.name
    if (name !== opened.name) assertNameFree(this.#held, name)
    const payload = Object.fromEntries(Object.entries({ ...opened.payload, ...change.payload }).filter(([, value]) => value !== null))
    if (change.payload && isSecretType(opened.type)) checkPayload(opened.type, payload)
    const pin = (await this.#pins())[row.id]
    const rev = Math.max(row.revision, opened.rev, pin?.rev ?? 0) + 1
    const body: BodyOf<typeof updateVaultSecret> = {
      name,
      encrypted_payload: await this.#box.seal(payload, { id: row.id, type: opened.type, name, rev }),
      revision: row.revision,
      key_version: this.keyVersion,
    }
    if (change.description !== undefined) body.description = change.description
    return this.#keep(await this.#context.calls.updateVaultSecret(row.id, body), row.id)
  }

  /** Deletes a secret with its grants. */
  async delete(reference: string): Promise<void> {
    const { row } = this.#find(reference)
    await this.#context.calls.deleteVaultSecret(row.id)
    this.#held.delete(row.id)
    await this.#pin({ [row.id]: { rev: 0, bound: false, deleted: true } })
  }

  /** Lets an agent's key read a secret. The server enforces grants. Every holder of the vault key can decrypt the secrets that it returns. */
  async grant(reference: string, to: Grantee): Promise<Grant> {
    return grantSecret(this.#context.calls, this.#find(reference).row.id, to)
  }

  /** Revokes a grant. The agent keeps any value that it has read, so change the secret itself, and see `rotate`. */
  async revoke(reference: string, from: Grantee): Promise<void> {
    await revokeSecret(this.#context.calls, this.#find(reference).row.id, from)
  }

  /** Lists the agents that a secret is granted to. */
  async grants(reference: string): Promise<Grant[]> {
    return listGrants(this.#context.calls, this.#find(reference).row.id)
  }

  /** Lists the agents of every secret, by the id of the secret. Organization keys only. */
  async allGrants(): Promise<Record<string, GrantedAgent[]>> {
    this.#assertOpen()
    return listAllGrants(this.#context.calls)
  }

  /** Returns the one-time password of a login secret, now or at a time. Throws `totp_invalid` if it has none. */
  async totp(reference: string, nowMs?: number): Promise<TotpCode> {
    const { payload } = await this.get(reference)
    if (typeof payload.totp !== 'string') throw new VaultError('totp_invalid', 'The secret does not have a totp member.')
    return totpCode(payload.totp, nowMs)
  }

  /** Reloads the secrets from the server. */
  async refresh(): Promise<void> {
    this.#assertOpen()
    await this.#load(readRows(await allItems<unknown>((cursor) => this.#context.calls.listVaultSecrets({ cursor, limit: 100 }))))
  }

  /** Deletes a recovery key of `vault.keys()`. The primary key can only be replaced. */
  async deleteKey(id: string): Promise<void> {
    this.#assertOpen()
    await this.#context.calls.deleteVaultKey(id, { auth_hash: this.#context.proof.hash })
  }

  /** Sets another vault key. The organization key, secrets, grants and recovery codes stay. */
  async changeKey(newKey: string | Uint8Array): Promise<void> {
    this.#assertOpen()
    await changeVaultKey(this.#context, newKey)
    if (this.#isLocked) this.lock()
  }

  /**
   * Rotates the organization key and re-encrypts every secret atomically. The vault key is set too, to a new or the same one.
   * Old recovery codes become invalid, and only this call returns the new ones. Throws if a secret cannot be read. Fix or delete it first.
   * Throws `secrets_missing` while the server does not return a secret that it returned before, because that one would be lost.
   */
  async rotate(vaultKey: string | Uint8Array, options: RotateOptions = {}): Promise<{ recoveryCodes: string[] }> {
    for (let attempt = 1; ; attempt++) {
      await this.refresh()
      await acceptMissing(this.#context, this.#missing, options)
      const secrets = await Promise.all([...this.#held.values()].map(async ({ row }) => ({ row, opened: await this.#open(row) })))
      try {
        const { recoveryCodes, held } = await rotateKeys(this.#context, vaultKey, secrets, options)
        this.#box = boxOf(this.#context)
        this.#held = new Map(held.map((one) => [one.row.id, one]))
        // The codes exist only here, so later errors must not lose them. If reloading fails, the secrets are kept as they were sent.
        await this.refresh().catch(() => undefined)
        if (this.#isLocked) this.lock()
        return { recoveryCodes }
      } catch (error) {
        // The secret was changed in between, so the server's current state is used.
        const isRace = error instanceof ApiError && error.code === 'vault_rotation_conflict'
        if (!isRace || attempt === rotationAttemptsMax) throw error
      }
    }
  }

  /** Returns every secret decrypted. Throws if one cannot be read. */
  export(): Promise<VaultExport> {
    return exportSecrets(this, this.#context.organization)
  }

  /** Zeroes the key and forgets the ciphertext. The caller has to discard returned strings. */
  lock(): void {
    this.#isLocked = true
    this.#context.organizationKey.wipe()
    this.#context.proof.hash = ''
    this.#held.clear()
  }

  /** Accepts and verifies all secrets from the server. */
  async #load(rows: SecretRow[]): Promise<void> {
    const pins = await this.#pins()
    const held: Held[] = []
    for (let from = 0; from < rows.length; from += examinedAtOnce) {
      held.push(...(await Promise.all(rows.slice(from, from + examinedAtOnce).map((row) => this.#examine(row, pins[row.id])))))
    }
    this.#held = new Map(held.map((one) => [one.row.id, one]))
    this.#missing = Object.entries(pins)
      .filter(([id, pin]) => !pin.deleted && !this.#held.has(id))
      .map(([id]) => id)
    const seen: Record<string, SecretPin> = {}
    for (const { row, opened } of held) {
      const pin = pins[row.id]
      if (opened && (!pin || opened.rev > pin.rev)) seen[row.id] = { rev: opened.rev, bound: opened.isBound }
    }
    await this.#pin(seen)
  }

  async #examine(row: SecretRow, pin: SecretPin | undefined): Promise<Held> {
    try {
      const { payload: _, ...opened } = await this.#box.open(row, pin)
      this.#checkName(row, opened)
      return { row, opened }
    } catch (error) {
      if (!(error instanceof VaultError)) throw error
      return { row, opened: null, problem: error }
    }
  }

  async #open(row: SecretRow): Promise<OpenedSecret> {
    const opened = await this.#box.open(row, (await this.#pins())[row.id])
    this.#checkName(row, opened)
    return opened
  }

  #checkName(row: SecretRow, opened: Omit<OpenedSecret, 'payload'>): void {
    if (!this.#context.strictNames || opened.nameVerified) return
    throw new VaultError('name_not_verified', `The server gives ${row.id} a name that was not encrypted with it.`)
  }

  /** Accepts the server's answer to a change, which must contain the sent data. */
  async #keep(reply: unknown, id: string): Promise<SecretSummary> {
    const row = readRow(reply)
    if (row.id !== id) throw new VaultError('reply_unusable', 'The server answered with another secret than the one that was changed.')
    const held = await this.#examine(row, (await this.#pins())[id])
    if (held.problem) throw held.problem
    this.#held.set(id, held)
    if (held.opened) await this.#pin({ [id]: { rev: held.opened.rev, bound: held.opened.isBound } })
    return summarize(held)
  }

  #find(reference: string): Held {
    this.#assertOpen()
    return findSecret(this.#held, reference)
  }

  #assertOpen(): void {
    if (this.#isLocked) throw new VaultError('vault_locked', 'The vault is locked.')
  }

  async #pins(): Promise<Record<string, SecretPin>> {
    const document = await this.#context.pins.read(this.#context.connection.address)
    return document?.vaults[this.#context.vaultId]?.secrets ?? {}
  }

  async #pin(seen: Record<string, SecretPin>): Promise<void> {
    if (Object.keys(seen).length === 0) return
    const { connection, pins, vaultId } = this.#context
    await pins.update(connection.address, (document) => pinSecrets(document, vaultId, seen))
  }

  /** Opens the result of an unlock request. The only way to create an UnlockedVault. */
  static async open(context: OpenContext, rows: SecretRow[]): Promise<UnlockedVault> {
    const vault = new UnlockedVault(context)
    await vault.#load(rows)
    return vault
  }
}

export const openVault = (context: OpenContext, rows: SecretRow[]): Promise<UnlockedVault> => UnlockedVault.open(context, rows)

const boxOf = ({ organizationKey, organization, vaultId, state, binding }: OpenContext): SecretBox =>
  new SecretBox(organizationKey, { organization, vaultId, keyVersion: state.keyVersion }, binding)
