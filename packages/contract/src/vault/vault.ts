// The zero-knowledge vault, with its metadata, initialization, unlocking, keys and rotation. Every secret value is ciphertext.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { clientMadeId, described, id, nullableTimestamp, page, strict, Timestamp } from '../schema.ts'
import { authHashPattern, kdfCeiling, saltBytesMax, saltBytesMin, secretsMax, wrappedKeyBytes, wrappedKeyBytesMax } from './blob.ts'
import { base64, KeyVersion, Payload, SecretId, UnlockedSecret, Version } from './secrets.ts'

export * from './secrets.ts'

export type VaultKeyType = 'primary' | 'recovery'
const VaultKeyType = Type.Unsafe<VaultKeyType>({ type: 'string', enum: ['primary', 'recovery'] })

const KdfSalt = base64(saltBytesMin, saltBytesMax, 'Strict base64 of 16 to 64 random bytes.')
const WrappedKey = base64(
  wrappedKeyBytes,
  wrappedKeyBytesMax,
  'The organization key encrypted with the master key, as strict base64 of a blob.',
)
const AuthHash = Type.String({
  minLength: 64,
  maxLength: 64,
  pattern: authHashPattern,
  description: 'SHA-256 of the master key as 64 hexadecimal digits.',
})

/** `m` is in KiB. The floor is checked by the server with its own code, the ceiling here. */
export const KdfParams = Type.Object(
  {
    algorithm: Type.Unsafe<'argon2id'>({ type: 'string', enum: ['argon2id'], description: 'The derivation, always argon2id.' }),
    m: Type.Integer({ maximum: kdfCeiling.m, description: 'Memory in KiB.' }),
    t: Type.Integer({ maximum: kdfCeiling.t, description: 'Passes.' }),
    p: Type.Integer({ maximum: kdfCeiling.p, description: 'Lanes.' }),
  },
  {
    $id: 'KdfParams',
    additionalProperties: false,
    description: 'The parameters of Argon2id, by which the master key is derived from the vault key.',
  },
)

const vaultFields = {
  initialized: Type.Literal(true),
  id: Type.String(),
  organization_id: Type.String(),
  kdf_salt: Type.String({ description: 'The salt of the primary key, as base64.' }),
  kdf_params: KdfParams,
  key_version: Type.Integer({ description: 'Starts at 1, incremented by every rotation.' }),
  secrets_count: Type.Integer({ description: 'Number of secrets that the caller can read.' }),
  recovery_keys_remaining: Type.Optional(
    Type.Integer({ description: 'Number of unused recovery keys. Only returned for organization keys.' }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Vault = Type.Object(vaultFields, { $id: 'Vault' })

const VaultMissing = Type.Object({ initialized: Type.Literal(false) }, { $id: 'VaultNotInitialized' })

export const getVault = operation({
  id: 'getVault',
  method: 'GET',
  path: '/api/v1/vault',
  summary: "Gets the vault's parameters for deriving the master key. initialized is false until the vault exists.",
  tag: 'Vault',
  scopes: ['vault:read'],
  status: 200,
  reply: Type.Union([Vault, VaultMissing]),
})

const RecoveryKeys = Type.Array(
  strict({
    id: Type.Optional(clientMadeId('vaultKey')),
    auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    kdf_salt: Type.Optional(KdfSalt),
    kdf_params: Type.Optional(KdfParams),
  }),
  { maxItems: 10, description: 'Salt and parameters default to those of the primary key.' },
)

const VaultKeyName = Type.Object({ id: Type.String(), key_type: VaultKeyType, created_at: Timestamp })

export const VaultWithKeys = Type.Object({ ...vaultFields, keys: Type.Array(VaultKeyName) }, { $id: 'VaultWithKeys' })

export const initializeVault = operation({
  id: 'initializeVault',
  method: 'POST',
  path: '/api/v1/vault/initialize',
  summary: 'Creates the vault of the organization. Exactly one of any number of attempts succeeds.',
  tag: 'Vault',
  scopes: ['vault:manage'],
  body: strict({
    id: Type.Optional(clientMadeId('vault')),
    kdf_salt: KdfSalt,
    kdf_params: KdfParams,
    auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    recovery_keys: Type.Optional(RecoveryKeys),
  }),
  status: 201,
  reply: VaultWithKeys,
  errors: ['kdf_params_too_weak', 'vault_already_initialized'],
  idempotent: true,
})

export const UnlockedVault = Type.Object(
  {
    wrapped_org_key: Type.String({ description: 'The organization key encrypted with the master key, as base64 of a blob.' }),
    kdf_params: KdfParams,
    kdf_salt: Type.String({ description: 'The salt of the key that auth_hash belongs to.' }),
    secrets: Type.Array(UnlockedSecret),
    vault_id: Type.String(),
    key_id: Type.String(),
    key_type: VaultKeyType,
    key_version: Type.Integer(),
  },
  { $id: 'UnlockedVault' },
)

const unlock = {
  tag: 'Vault',
  scopes: ['vault:read'],
  status: 200,
  reply: UnlockedVault,
  errors: ['invalid_auth_hash', 'vault_not_initialized'],
} as const

export const unlockVaultByQuery = operation({
  ...unlock,
  errors: [...unlock.errors],
  id: 'unlockVaultByQuery',
  method: 'GET',
  path: '/api/v1/vault/unlock',
  summary: 'Returns the wrapped organization key and every secret that the caller can read. Prefer POST, which keeps the hash out of URLs.',
  query: strict({ auth_hash: AuthHash }),
})

export const unlockVault = operation({
  ...unlock,
  errors: [...unlock.errors],
  id: 'unlockVault',
  method: 'POST',
  path: '/api/v1/vault/unlock',
  summary:
    'Returns the wrapped organization key and every secret that the caller can read. After ten wrong hashes in 15 minutes, requests are rejected with 429.',
  body: strict({ auth_hash: AuthHash }),
})

export const VaultKey = Type.Object(
  {
    id: Type.String(),
    key_type: VaultKeyType,
    kdf_salt: Type.String(),
    kdf_params: KdfParams,
    created_by: Type.String({ description: 'The API key that stored it.' }),
    created_at: Timestamp,
    last_used_at: nullableTimestamp,
  },
  { $id: 'VaultKey' },
)

export const listVaultKeys = operation({
  id: 'listVaultKeys',
  method: 'GET',
  path: '/api/v1/vault/keys',
  summary: 'Lists the primary key and the recovery keys with their derivation parameters, never a wrapped key.',
  tag: 'Vault',
  scopes: ['vault:manage'],
  status: 200,
  reply: page(VaultKey),
  errors: ['vault_not_initialized'],
})

export const replacePrimaryKey = operation({
  id: 'replaceVaultPrimaryKey',
  method: 'PUT',
  path: '/api/v1/vault/keys/primary',
  summary: 'Replaces the primary key by re-wrapping the same organization key. A recovery key that authorizes the request is consumed.',
  tag: 'Vault',
  scopes: ['vault:manage'],
  body: strict({
    current_auth_hash: Type.Optional(AuthHash),
    recovery_auth_hash: Type.Optional(AuthHash),
    auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    kdf_salt: KdfSalt,
    kdf_params: KdfParams,
    expected_key_version: Type.Optional(KeyVersion),
  }),
  status: 200,
  reply: VaultWithKeys,
  errors: ['invalid_auth_hash', 'kdf_params_too_weak', 'vault_not_initialized', 'vault_key_version_stale'],
})

export const deleteVaultKey = operation({
  id: 'deleteVaultKey',
  method: 'DELETE',
  path: '/api/v1/vault/keys/{id}',
  summary: 'Deletes a recovery key, authorized by any key of the vault. The primary key can only be replaced.',
  tag: 'Vault',
  scopes: ['vault:manage'],
  params: strict({ id: id('vaultKey') }),
  body: strict({ auth_hash: AuthHash }),
  status: 200,
  reply: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { $id: 'DeletedVaultKey' }),
  errors: ['invalid_auth_hash', 'vault_not_initialized', 'conflict'],
})

export const rotateVault = operation({
  id: 'rotateVault',
  method: 'POST',
  path: '/api/v1/vault/rotate',
  summary:
    'Rotates the organization key. Send new keys and every secret re-encrypted. The rotation is atomic and deletes old recovery keys.',
  tag: 'Vault',
  scopes: ['vault:manage'],
  body: strict({
    auth_hash: AuthHash,
    expected_key_version: KeyVersion,
    kdf_salt: KdfSalt,
    kdf_params: KdfParams,
    new_auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    recovery_keys: Type.Optional(RecoveryKeys),
    secrets: Type.Array(
      strict({
        id: SecretId,
        revision: described(Version, 'The present revision of the secret.'),
        encrypted_payload: Payload,
      }),
      { maxItems: secretsMax, description: 'Every secret of the vault, encrypted with the new organization key.' },
    ),
  }),
  bodyBytesMax: 32 * 1024 * 1024,
  status: 200,
  reply: VaultWithKeys,
  errors: [
    'invalid_auth_hash',
    'kdf_params_too_weak',
    'vault_not_initialized',
    'vault_rotation_conflict',
    'vault_key_version_stale',
    'conflict',
  ],
})
