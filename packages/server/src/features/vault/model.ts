// The vault: rows, API views and read permissions. Nothing on the server can decrypt.
import type { SecretType, UnlockedSecret, Vault, VaultAccess, VaultKey, VaultKeyType, VaultSecret } from '@callsign/contract/vault'
import type { Static } from 'typebox'

export type VaultRow = { id: string; organization_id: string; key_version: number; created_at: Date; updated_at: Date }

/** Parameters of master key derivation: Argon2id with `m` KiB, `t` passes and `p` lanes. */
export type KdfParams = { algorithm: 'argon2id'; m: number; t: number; p: number }

/** One wrapping of the organization key. `auth_digest` is SHA-256(auth_salt ‖ auth_hash). */
export type VaultKeyRow = {
  id: string
  type: VaultKeyType
  kdf_salt: Buffer
  kdf_memory_kib: number
  kdf_passes: number
  kdf_lanes: number
  auth_salt: Buffer
  auth_digest: Buffer
  wrapped_org_key: Buffer
  created_by: string
  created_at: Date
  last_used_at: Date | null
}

export type SecretRow = {
  id: string
  type: SecretType
  name: string
  description: string | null
  /** Strict base64. */
  encrypted_payload: string
  revision: number
  key_version: number
  created_at: Date
  updated_at: Date
}

export type AccessRow = {
  id: string
  secret_id: string
  identity_id: string
  agent_handle: string
  created_by: string
  created_at: Date
}

export const kdfParamsOf = (key: VaultKeyRow): KdfParams => ({
  algorithm: 'argon2id',
  m: key.kdf_memory_kib,
  t: key.kdf_passes,
  p: key.kdf_lanes,
})

/** `isAdmin` adds fields for organization keys only. */
export function toVault(vault: VaultRow, keys: VaultKeyRow[], secretsCount: number, isAdmin: boolean): Static<typeof Vault> {
  const primary = keys.find((key) => key.type === 'primary')
  if (!primary) throw new Error(`the vault ${vault.id} has no primary key`)
  return {
    initialized: true,
    id: vault.id,
    organization_id: vault.organization_id,
    kdf_salt: primary.kdf_salt.toString('base64'),
    kdf_params: kdfParamsOf(primary),
    key_version: vault.key_version,
    secrets_count: secretsCount,
    ...(isAdmin ? { recovery_keys_remaining: keys.length - 1 } : {}),
    created_at: vault.created_at.toISOString(),
    updated_at: vault.updated_at.toISOString(),
  }
}

export const toUnlockedSecret = (row: SecretRow): Static<typeof UnlockedSecret> => ({
  id: row.id,
  type: row.type,
  name: row.name,
  description: row.description,
  encrypted_payload: row.encrypted_payload,
  revision: row.revision,
  key_version: row.key_version,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** `grants` is null for an agent key, which does not see the other readers. */
export const toSecret = (row: SecretRow, grants: AccessRow[] | null): Static<typeof VaultSecret> => ({
  ...toUnlockedSecret(row),
  ...(grants ? { access: grants.map(({ identity_id, agent_handle }) => ({ identity_id, agent_handle })) } : {}),
})

export const toAccess = (row: AccessRow): Static<typeof VaultAccess> => ({ ...row, created_at: row.created_at.toISOString() })

export const toVaultKey = (row: VaultKeyRow): Static<typeof VaultKey> => ({
  id: row.id,
  key_type: row.type,
  kdf_salt: row.kdf_salt.toString('base64'),
  kdf_params: kdfParamsOf(row),
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
})

export const toKeyName = (row: VaultKeyRow) => ({ id: row.id, key_type: row.type, created_at: row.created_at.toISOString() })

/** The origin of an attempt. `identityId` is null for organization keys. All keys of an agent count as one, and a key of several agents
 * counts for the first. */
export type Holder = { keyId: string; identityId: string | null }

export type Failure = { key_id: string; identity_id: string | null; failed_at: Date }

export type Revision = { id: string; revision: number }

/** Ids that keep a rotation from happening: live but not sent, sent at another revision, sent but not live. */
export type Mismatch = { missing: string[]; stale: string[]; unknown: string[] }

/** Null when the submitted secrets are exactly the current ones. */
export function findMismatch(live: Revision[], sent: Revision[]): Mismatch | null {
  const sentRevisions = new Map(sent.map(({ id, revision }) => [id, revision]))
  const liveIds = new Set(live.map(({ id }) => id))
  const missing = live.filter(({ id }) => !sentRevisions.has(id)).map(({ id }) => id)
  const stale = live.filter(({ id, revision }) => sentRevisions.has(id) && sentRevisions.get(id) !== revision).map(({ id }) => id)
  const unknown = [...sentRevisions.keys()].filter((id) => !liveIds.has(id))
  return missing.length + stale.length + unknown.length > 0 ? { missing, stale, unknown } : null
}

/** The first text that occurs twice, or null. */
export function findRepeated(texts: string[]): string | null {
  const seen = new Set<string>()
  for (const text of texts) {
    if (seen.has(text)) return text
    seen.add(text)
  }
  return null
}
