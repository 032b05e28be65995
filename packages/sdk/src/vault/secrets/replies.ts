// Validates the server's answers about the vault member by member, because a hostile server may send anything.
import { isId } from '@callsign/contract/ids'
import { VaultError } from '../../errors.ts'
import { type CheckedKdf, checkKdf } from '../crypto/kdf.ts'
import type { VaultClaim } from '../pins.ts'

/** A secret as returned by the server. Everything except `encryptedPayload` is unverified. */
export type SecretRow = {
  id: string
  type: string
  name: string
  description: string | null
  encryptedPayload: string
  revision: number
  keyVersion: number
  updatedAt: string
}

export type VaultMetadata = VaultClaim & { checked: CheckedKdf; secretsCount: number; recoveryKeysRemaining: number | null }

/** The maximum number accepted from a server. The Callsign server stores up to 10,000. */
const rowsMax = 100_000

const unusable = (what: string) => new VaultError('reply_unusable', `The server's answer about the vault does not have a usable ${what}.`)

const asRecord = (value: unknown): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unusable('form')
  return value as Record<string, unknown>
}

function asText(value: unknown, what: string, lengthMax: number): string {
  if (typeof value !== 'string' || value.length > lengthMax) throw unusable(what)
  return value
}

function asCount(value: unknown, what: string, min: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < min) throw unusable(what)
  return value as number
}

/** `GET /vault`, or null if the vault does not exist. Parameters and salt are checked against floor and ceiling here, before any use. */
export function readMetadata(reply: unknown): VaultMetadata | null {
  const fields = asRecord(reply)
  if (fields.initialized === false) return null
  const vaultId = asText(fields.id, 'id', 64)
  if (!isId('vault', vaultId)) throw unusable('id')
  const checked = checkKdf(fields.kdf_params, fields.kdf_salt)
  return {
    vaultId,
    organization: asText(fields.organization_id, 'organization_id', 64),
    salt: checked.saltText,
    kdf: checked.params,
    keyVersion: asCount(fields.key_version, 'key_version', 1),
    checked,
    secretsCount: asCount(fields.secrets_count ?? 0, 'secrets_count', 0),
    recoveryKeysRemaining: typeof fields.recovery_keys_remaining === 'number' ? fields.recovery_keys_remaining : null,
  }
}

export type UnlockReply = {
  vaultId: string
  keyType: 'primary' | 'recovery'
  keyVersion: number
  wrappedKey: unknown
  salt: unknown
  kdfParams: unknown
  rows: SecretRow[]
}

/** `POST /vault/unlock`. */
export function readUnlock(reply: unknown): UnlockReply {
  const fields = asRecord(reply)
  if (fields.key_type !== 'primary' && fields.key_type !== 'recovery') throw unusable('key_type')
  return {
    vaultId: asText(fields.vault_id, 'vault_id', 64),
    keyType: fields.key_type,
    keyVersion: asCount(fields.key_version, 'key_version', 1),
    wrappedKey: fields.wrapped_org_key,
    salt: fields.kdf_salt,
    kdfParams: fields.kdf_params,
    rows: readRows(fields.secrets),
  }
}

/** Secrets of an unlock or a list. A repeated id is rejected. */
export function readRows(value: unknown): SecretRow[] {
  if (!Array.isArray(value) || value.length > rowsMax) throw unusable('secrets')
  const rows = value.map(readRow)
  if (new Set(rows.map((row) => row.id)).size !== rows.length) throw unusable('secrets has a repeated id')
  return rows
}

export function readRow(value: unknown): SecretRow {
  const fields = asRecord(value)
  const id = asText(fields.id, 'secret id', 64)
  if (!isId('vaultSecret', id)) throw unusable('secret id')
  return {
    id,
    type: asText(fields.type, 'secret type', 64),
    name: asText(fields.name, 'secret name', 1000),
    description: fields.description === null ? null : asText(fields.description, 'secret description', 10_000),
    encryptedPayload: asText(fields.encrypted_payload, 'encrypted_payload', 200_000),
    revision: asCount(fields.revision, 'secret revision', 1),
    keyVersion: asCount(fields.key_version, 'secret key_version', 1),
    updatedAt: asText(fields.updated_at, 'secret updated_at', 64),
  }
}

/** Distinct salts and parameters of the recovery keys in `GET /vault/keys`. */
export function readRecoveryKdfs(reply: unknown): CheckedKdf[] {
  const { data } = asRecord(reply)
  if (!Array.isArray(data) || data.length > 100) throw unusable('keys')
  const kdfs = new Map<string, CheckedKdf>()
  for (const key of data.map(asRecord)) {
    if (key.key_type !== 'recovery') continue
    const checked = checkKdf(key.kdf_params, key.kdf_salt)
    kdfs.set(JSON.stringify([checked.saltText, checked.params]), checked)
  }
  return [...kdfs.values()]
}
