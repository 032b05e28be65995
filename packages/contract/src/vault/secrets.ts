// The secrets of the vault, as ciphertext, and the grants that let agents read them.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Cursor, clientMadeId, described, id, Limit, nullableString, page, strict, Timestamp } from '../schema.ts'
import { base64CharactersPattern, base64Length, blobOverheadBytes, payloadBytesMax } from './blob.ts'

export const secretTypes = ['login', 'api_key', 'key_pair', 'ssh_key', 'other'] as const
export type SecretType = (typeof secretTypes)[number]
export const SecretType = Type.Unsafe<SecretType>({
  type: 'string',
  enum: [...secretTypes],
  description: 'The kind of secret, which decides the members of its payload.',
})

/** Strict base64 of a number of bytes within these limits. */
export const base64 = (bytesMin: number, bytesMax: number, description: string) =>
  Type.String({ minLength: base64Length(bytesMin), maxLength: base64Length(bytesMax), pattern: base64CharactersPattern, description })

export const Payload = base64(
  blobOverheadBytes,
  payloadBytesMax,
  'The payload encrypted with the organization key, as strict base64 of a blob of at most 64 KiB.',
)
const secretFields = {
  id: Type.String(),
  type: SecretType,
  name: Type.String(),
  description: nullableString(),
  encrypted_payload: Type.String({ description: 'The payload encrypted with the organization key, as base64 of a blob.' }),
  revision: Type.Integer({ description: 'Starts at 1, incremented by every change and rotation.' }),
  key_version: Type.Integer({ description: 'The key_version of the vault under which the payload was encrypted.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** A secret in the reply to unlock. */
export const UnlockedSecret = Type.Object(secretFields, { $id: 'UnlockedVaultSecret' })

/** `access` is present for organization keys only. */
export const VaultSecret = Type.Object(
  {
    ...secretFields,
    access: Type.Optional(Type.Array(Type.Object({ identity_id: Type.String(), agent_handle: Type.String() }))),
  },
  { $id: 'VaultSecret' },
)

export const SecretId = id('vaultSecret')
const secretParams = strict({ id: SecretId })
const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Not encrypted. Must not contain control characters.',
})
const Description = nullableString({ maxLength: 2000, description: 'Not encrypted.' })
export const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Revision = described(Version, 'The revision that the change is based on. The request fails if the secret has a newer one.')
export const KeyVersion = described(
  Version,
  'The key_version of the vault that the client encrypted for. The request fails after a rotation.',
)

export const createVaultSecret = operation({
  id: 'createVaultSecret',
  method: 'POST',
  path: '/api/v1/vault/secrets',
  summary: 'Stores a secret that the client has encrypted. An id chosen by the client cannot be used again, even after deletion.',
  tag: 'Vault',
  scopes: ['vault:write'],
  body: strict({
    id: Type.Optional(clientMadeId('vaultSecret')),
    type: SecretType,
    name: Name,
    description: Type.Optional(Description),
    encrypted_payload: Payload,
    key_version: Type.Optional(KeyVersion),
  }),
  status: 201,
  reply: VaultSecret,
  errors: ['vault_not_initialized', 'vault_secret_exists', 'vault_key_version_stale', 'conflict'],
  idempotent: true,
})

export const listVaultSecrets = operation({
  id: 'listVaultSecrets',
  method: 'GET',
  path: '/api/v1/vault/secrets',
  summary: 'Lists secrets, newest first. An agent key lists the secrets granted to its agent. With id, returns that secret or 404.',
  tag: 'Vault',
  scopes: ['vault:read'],
  query: strict({ id: Type.Optional(SecretId), type: Type.Optional(SecretType), limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(VaultSecret),
  errors: ['not_found', 'vault_not_initialized'],
})

export const getVaultSecret = operation({
  id: 'getVaultSecret',
  method: 'GET',
  path: '/api/v1/vault/secrets/{id}',
  summary: 'Gets one secret.',
  tag: 'Vault',
  scopes: ['vault:read'],
  params: secretParams,
  status: 200,
  reply: VaultSecret,
  errors: ['vault_not_initialized'],
})

const secretChange = {
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  encrypted_payload: Type.Optional(Payload),
  revision: Type.Optional(Revision),
  key_version: Type.Optional(KeyVersion),
}

const update = {
  tag: 'Vault',
  scopes: ['vault:write'],
  status: 200,
  reply: VaultSecret,
} as const

export const updateVaultSecret = operation({
  ...update,
  id: 'updateVaultSecret',
  method: 'PATCH',
  path: '/api/v1/vault/secrets/{id}',
  summary:
    'Changes name, description or payload. The type is permanent. With revision, the change fails if the secret has a newer revision.',
  params: secretParams,
  body: strict(secretChange),
  errors: ['vault_not_initialized', 'vault_secret_conflict', 'vault_key_version_stale', 'conflict'],
})

export const updateVaultSecretByBody = operation({
  ...update,
  id: 'updateVaultSecretByBody',
  method: 'PATCH',
  path: '/api/v1/vault/secrets',
  summary: 'Equivalent to the request on the path of the secret, with its id in the query or the body.',
  query: strict({ id: Type.Optional(SecretId) }),
  body: strict({ id: Type.Optional(SecretId), ...secretChange }),
  errors: ['not_found', 'vault_not_initialized', 'vault_secret_conflict', 'vault_key_version_stale', 'conflict'],
})

const DeletedSecret = Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { $id: 'DeletedVaultSecret' })

export const deleteVaultSecret = operation({
  id: 'deleteVaultSecret',
  method: 'DELETE',
  path: '/api/v1/vault/secrets/{id}',
  summary: 'Deletes a secret with its grants. Idempotent.',
  tag: 'Vault',
  scopes: ['vault:write'],
  params: secretParams,
  status: 200,
  reply: DeletedSecret,
  errors: ['vault_not_initialized'],
})

export const deleteVaultSecretByBody = operation({
  id: 'deleteVaultSecretByBody',
  method: 'DELETE',
  path: '/api/v1/vault/secrets',
  summary: 'Equivalent to the request on the path of the secret, with its id in the query or the body.',
  tag: 'Vault',
  scopes: ['vault:write'],
  query: strict({ id: Type.Optional(SecretId) }),
  body: strict({ id: Type.Optional(SecretId) }),
  bodyOptional: true,
  status: 200,
  reply: DeletedSecret,
  errors: ['not_found', 'vault_not_initialized'],
})

export const VaultAccess = Type.Object(
  {
    id: Type.String(),
    secret_id: Type.String(),
    identity_id: Type.String(),
    agent_handle: Type.String(),
    created_by: Type.String({ description: 'The API key that granted it.' }),
    created_at: Timestamp,
  },
  { $id: 'VaultAccess' },
)

export const listVaultAccess = operation({
  id: 'listVaultAccess',
  method: 'GET',
  path: '/api/v1/vault/secrets/{id}/access',
  summary: 'Lists the agents that a secret is granted to, newest grant first.',
  tag: 'Vault',
  scopes: ['vault:write'],
  params: secretParams,
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(VaultAccess),
  errors: ['vault_not_initialized'],
})

const IdentityReference = Type.String({ minLength: 1, description: 'The identity id, or the agent handle.' })
const identityChoice = { identity_id: Type.Optional(IdentityReference), agent_handle: Type.Optional(IdentityReference) }

export const grantVaultAccess = operation({
  id: 'grantVaultAccess',
  method: 'POST',
  path: '/api/v1/vault/secrets/{id}/access',
  summary: 'Grants a secret to an agent. Repeating the request returns the first grant.',
  tag: 'Vault',
  scopes: ['vault:write'],
  params: secretParams,
  body: strict(identityChoice),
  status: 201,
  reply: VaultAccess,
  errors: ['vault_not_initialized', 'conflict'],
  idempotent: true,
})

const RevokedAccess = Type.Object(
  {
    id: Type.String({ description: 'The identity id.' }),
    secret_id: Type.String(),
    identity_id: Type.String(),
    deleted: Type.Literal(true),
  },
  { $id: 'RevokedVaultAccess' },
)

export const revokeVaultAccess = operation({
  id: 'revokeVaultAccess',
  method: 'DELETE',
  path: '/api/v1/vault/secrets/{id}/access/{identity_id}',
  summary: 'Revokes a grant. Idempotent.',
  tag: 'Vault',
  scopes: ['vault:write'],
  params: strict({ id: SecretId, identity_id: IdentityReference }),
  status: 200,
  reply: RevokedAccess,
  errors: ['vault_not_initialized'],
})

export const revokeVaultAccessByQuery = operation({
  id: 'revokeVaultAccessByQuery',
  method: 'DELETE',
  path: '/api/v1/vault/secrets/{id}/access',
  summary: 'Equivalent to the request on the path of the grant, with the agent in the query or the body.',
  tag: 'Vault',
  scopes: ['vault:write'],
  params: secretParams,
  query: strict(identityChoice),
  body: strict(identityChoice),
  bodyOptional: true,
  status: 200,
  reply: RevokedAccess,
  errors: ['vault_not_initialized'],
})
