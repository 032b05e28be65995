// Changes the keys of an open vault, either the vault key alone or the organization key with every secret.
import type { BodyOf } from '@callsign/contract/operation'
import type { replacePrimaryKey, rotateVault } from '@callsign/contract/vault'
import { keyBytes } from '@callsign/contract/vault-blob'
import { VaultError } from '../errors.ts'
import { AesKey } from './crypto/aes.ts'
import { randomBytes } from './crypto/bytes.ts'
import { fingerprintOf } from './crypto/kdf.ts'
import { newKdf, renewedParams, wrapFor, wrapForCodes } from './crypto/key-wrapping.ts'
import { generateRecoveryCode, newVaultKeyBytes } from './crypto/vault-key.ts'
import type { OpenContext } from './open-context.ts'
import { type KeyState, pinPending, pinSecrets, pinVault } from './pins.ts'
import { readMetadata, type SecretRow } from './secrets/replies.ts'
import type { Held } from './secrets/secret.ts'
import { type OpenedSecret, SecretBox } from './secrets/secret-box.ts'

const recoveryCodesUsual = 4

/** The steps of a rotation, in order. `encrypt` counts secrets, and `derive` counts keys. */
export type RotationProgress = { step: 'encrypt' | 'derive' | 'send'; done: number; total: number }

export type RotateOptions = {
  /** The number of recovery codes to make, or codes of `generateRecoveryCode` that the caller has stored before. Default 4. */
  recoveryCodes?: number | readonly string[]
  onProgress?: (progress: RotationProgress) => void
  /** Rotates although the server no longer returns some secrets. They count as deleted from then on. */
  withoutMissing?: boolean
}

/** Missing secrets stay encrypted under the old key, so a rotation would lose them. Throws `secrets_missing`, or pins them as deleted. */
export async function acceptMissing(context: OpenContext, missing: string[], { withoutMissing }: RotateOptions): Promise<void> {
  if (missing.length === 0) return
  if (withoutMissing !== true) {
    throw new VaultError(
      'secrets_missing',
      `The server no longer returns ${missing.join(', ')}. A rotation would lose them. Look for their deletion in the audit log, or rotate with withoutMissing.`,
    )
  }
  const deleted = Object.fromEntries(missing.map((id) => [id, { rev: 0, bound: false, deleted: true as const }]))
  await context.pins.update(context.connection.address, (document) => pinSecrets(document, context.vaultId, deleted))
}

/** Wraps the same organization key with a new vault key under a new salt. Puts the new state and proof into the context. */
export async function changeVaultKey(context: OpenContext, newKey: string | Uint8Array): Promise<void> {
  const secret = newVaultKeyBytes(newKey)
  const kdf = newKdf(renewedParams(context.state.kdf))
  const primary = await wrapFor(secret, kdf, context.organizationKey)
  const { hash, keyType } = context.proof
  const body: BodyOf<typeof replacePrimaryKey> = {
    ...(keyType === 'primary' ? { current_auth_hash: hash } : { recovery_auth_hash: hash }),
    ...primary,
    kdf_salt: kdf.saltText,
    kdf_params: kdf.params,
    expected_key_version: context.state.keyVersion,
  }
  const state: KeyState = { ...context.state, salt: kdf.saltText, kdf: kdf.params }
  await announce(context, state)
  const reply = await context.calls.replaceVaultPrimaryKey(body)
  await commitKeys(context, state, reply)
  context.proof = { hash: primary.auth_hash, keyType: 'primary' }
}

/**
 * Creates a new organization key, re-encrypts every secret and submits all of it in one request. Returns the new recovery codes, and
 * the secrets as stored by the server. The context then has the new key. The old one is zeroed.
 */
export async function rotateKeys(
  context: OpenContext,
  vaultKey: string | Uint8Array,
  secrets: { row: SecretRow; opened: OpenedSecret }[],
  { recoveryCodes: wanted = recoveryCodesUsual, onProgress = () => {} }: RotateOptions = {},
): Promise<{ recoveryCodes: string[]; held: Held[] }> {
  const secret = newVaultKeyBytes(vaultKey)
  const recoveryCodes = typeof wanted === 'number' ? Array.from({ length: wanted }, generateRecoveryCode) : [...wanted]
  const kdf = newKdf(renewedParams(context.state.kdf))
  const organizationKey = new AesKey(randomBytes(keyBytes))
  const keyVersion = context.state.keyVersion + 1
  const box = new SecretBox(organizationKey, { organization: context.organization, vaultId: context.vaultId, keyVersion }, context.binding)
  let sealedCount = 0
  const sealed = await Promise.all(
    secrets.map(async ({ row, opened: { payload, ...opened } }) => {
      const bound = contextOf(row, opened)
      const encryptedPayload = await box.seal(payload, bound)
      const held: Held = {
        row: { ...row, encryptedPayload, revision: row.revision + 1, keyVersion },
        opened: { ...opened, rev: bound?.rev ?? 0 },
      }
      onProgress({ step: 'encrypt', done: ++sealedCount, total: secrets.length })
      return { sent: { id: row.id, revision: row.revision, encrypted_payload: encryptedPayload }, held }
    }),
  )
  const derived = (done: number) => onProgress({ step: 'derive', done, total: recoveryCodes.length + 1 })
  const primary = await wrapFor(secret, kdf, organizationKey)
  derived(1)
  const body: BodyOf<typeof rotateVault> = {
    auth_hash: context.proof.hash,
    expected_key_version: context.state.keyVersion,
    kdf_salt: kdf.saltText,
    kdf_params: kdf.params,
    new_auth_hash: primary.auth_hash,
    wrapped_org_key: primary.wrapped_org_key,
    recovery_keys: await wrapForCodes(recoveryCodes, organizationKey, kdf.params, (done) => derived(done + 1)),
    secrets: sealed.map(({ sent }) => sent),
  }
  const state: KeyState = { salt: kdf.saltText, kdf: kdf.params, keyVersion, fingerprint: await fingerprintOf(organizationKey) }
  await announce(context, state)
  onProgress({ step: 'send', done: 0, total: 1 })
  const reply = await context.calls.rotateVault(body)
  await commitKeys(context, state, reply)
  context.organizationKey.wipe()
  context.organizationKey = organizationKey
  context.proof = { hash: primary.auth_hash, keyType: 'primary' }
  return { recoveryCodes, held: sealed.map(({ held }) => held) }
}

/** Increments the revision of bound secrets. Unbound ones stay unbound, because their names are not proven. */
const contextOf = (row: SecretRow, opened: Omit<OpenedSecret, 'payload'>) =>
  opened.isBound ? { id: row.id, type: opened.type, name: opened.name, rev: Math.max(row.revision, opened.rev) + 1 } : null

const announce = (context: OpenContext, state: KeyState) =>
  context.pins.update(context.connection.address, (document) => pinPending(document, context.vaultId, state))

/** Pins the new state once the server has confirmed it. */
async function commitKeys(context: OpenContext, state: KeyState, reply: unknown): Promise<void> {
  const metadata = readMetadata(reply)
  if (!metadata || metadata.vaultId !== context.vaultId || metadata.salt !== state.salt || metadata.keyVersion !== state.keyVersion) {
    throw new VaultError('vault_changed', 'The server answered with other keys than the ones that were set.')
  }
  const claim = { vaultId: context.vaultId, organization: context.organization }
  await context.pins.update(context.connection.address, (document) => pinVault(document, context.connection.keyId, claim, state, false))
  context.state = state
}
