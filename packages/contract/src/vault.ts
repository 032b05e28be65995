// The zero-knowledge vault: metadata, initialize, unlock, keys and rotation. Every secret value here is ciphertext.
import Type from 'typebox'
import { operation } from './operation.ts'
import { id, nullableTimestamp, page, strict, Timestamp } from './schema.ts'
import { authHashPattern, kdfCeiling, saltBytesMax, saltBytesMin, secretsMax, wrappedKeyBytes, wrappedKeyBytesMax } from './vault-blob.ts'
import { base64, Payload, SecretId, UnlockedSecret, Version } from './vault-secrets.ts'

export * from './vault-secrets.ts'

export type VaultKeyType = 'primary' | 'recovery'
const VaultKeyType = Type.Unsafe<VaultKeyType>({ type: 'string', enum: ['primary', 'recovery'] })

const KdfSalt = base64(saltBytesMin, saltBytesMax, 'Strict base64 of 16 to 64 random bytes.')
const WrappedKey = base64(wrappedKeyBytes, wrappedKeyBytesMax, 'Strict base64 of a blob: the organization key under the master key.')
const AuthHash = Type.String({
  minLength: 64,
  maxLength: 64,
  pattern: authHashPattern,
  description: 'SHA-256 of the master key as 64 hexadecimal digits.',
})

/** `m` is in KiB. The floor is checked by the server with its own code, the ceiling here. */
export const KdfParams = Type.Object(
  {
    algorithm: Type.Unsafe<'argon2id'>({ type: 'string', enum: ['argon2id'] }),
    m: Type.Integer({ maximum: kdfCeiling.m, description: 'Memory in KiB.' }),
    t: Type.Integer({ maximum: kdfCeiling.t, description: 'Passes.' }),
    p: Type.Integer({ maximum: kdfCeiling.p, description: 'Lanes.' }),
  },
  { $id: 'KdfParams', additionalProperties: false },
)

const vaultFields = {
  initialized: Type.Literal(true),
  id: Type.String(),
  organization_id: Type.String(),
  kdf_salt: Type.String({ description: 'Of the primary key, base64.' }),
  kdf_params: KdfParams,
  key_version: Type.Integer({ description: 'Starts at 1; one more with every rotation.' }),
  secrets_count: Type.Integer({ description: 'Secrets that the caller may read.' }),
  recovery_keys_remaining: Type.Optional(Type.Integer({ description: 'Organization keys only.' })),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Vault = Type.Object(vaultFields, { $id: 'Vault' })

const VaultMissing = Type.Object({ initialized: Type.Literal(false) }, { $id: 'VaultNotInitialized' })

export const getVault = operation({
  id: 'getVault',
  method: 'GET',
  path: '/api/v1/vault',
  summary: 'Gets the vault: what a client needs to derive the master key. initialized is false when there is none yet.',
  tag: 'Vault',
  status: 200,
  reply: Type.Union([Vault, VaultMissing]),
})

const RecoveryKeys = Type.Array(
  strict({
    id: Type.Optional(id('vaultKey')),
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
  summary: 'Makes the vault of the organization. Of any number of attempts exactly one succeeds.',
  tag: 'Vault',
  body: strict({
    id: Type.Optional(id('vault')),
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
    wrapped_org_key: Type.String({ description: 'A blob under the master key, base64.' }),
    kdf_params: KdfParams,
    kdf_salt: Type.String({ description: 'Of the key that the hash belongs to.' }),
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
  summary: 'Gives the wrapped organization key and every secret that the caller may read. Prefer POST, which keeps the hash out of URLs.',
  query: strict({ auth_hash: AuthHash }),
})

export const unlockVault = operation({
  ...unlock,
  errors: [...unlock.errors],
  id: 'unlockVault',
  method: 'POST',
  path: '/api/v1/vault/unlock',
  summary: 'Gives the wrapped organization key and every secret that the caller may read. Ten wrong hashes in 15 minutes: 429.',
  body: strict({ auth_hash: AuthHash }),
})

export const VaultKey = Type.Object(
  {
    id: Type.String(),
    key_type: VaultKeyType,
    kdf_salt: Type.String(),
    kdf_params: KdfParams,
    created_by: Type.String({ description: 'The API key that brought it.' }),
    created_at: Timestamp,
    last_used_at: nullableTimestamp,
  },
  { $id: 'VaultKey' },
)

export const listVaultKeys = operation({
  id: 'listVaultKeys',
  method: 'GET',
  path: '/api/v1/vault/keys',
  summary: 'Lists the primary key and the recovery keys: what each is derived with, never a wrapped key.',
  tag: 'Vault',
  status: 200,
  reply: page(VaultKey),
  errors: ['vault_not_initialized'],
})

export const replacePrimaryKey = operation({
  id: 'replaceVaultPrimaryKey',
  method: 'PUT',
  path: '/api/v1/vault/keys/primary',
  summary: 'Replaces the primary key: the same organization key, wrapped anew. A recovery key that proves the right to it is used up.',
  tag: 'Vault',
  body: strict({
    current_auth_hash: Type.Optional(AuthHash),
    recovery_auth_hash: Type.Optional(AuthHash),
    auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    kdf_salt: KdfSalt,
    kdf_params: KdfParams,
    expected_key_version: Type.Optional(Version),
  }),
  status: 200,
  reply: VaultWithKeys,
  errors: ['invalid_auth_hash', 'kdf_params_too_weak', 'vault_not_initialized', 'vault_key_version_stale'],
})

export const deleteVaultKey = operation({
  id: 'deleteVaultKey',
  method: 'DELETE',
  path: '/api/v1/vault/keys/{id}',
  summary: 'Deletes a recovery key, given proof of any key of the vault. The primary key can only be replaced.',
  tag: 'Vault',
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
  summary: 'Changes the organization key: new keys and every live secret encrypted anew, all or nothing. Old recovery keys are gone.',
  tag: 'Vault',
  body: strict({
    auth_hash: AuthHash,
    expected_key_version: Version,
    kdf_salt: KdfSalt,
    kdf_params: KdfParams,
    new_auth_hash: AuthHash,
    wrapped_org_key: WrappedKey,
    recovery_keys: Type.Optional(RecoveryKeys),
    secrets: Type.Array(strict({ id: SecretId, revision: Version, encrypted_payload: Payload }), { maxItems: secretsMax }),
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
