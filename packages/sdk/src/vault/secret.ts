// Secrets as callers see them: summaries, payloads by type, changes and grants.
import type { ReplyOf } from '@callsign/contract/operation'
import type { grantVaultAccess } from '@callsign/contract/vault-secrets'
import type { VaultError } from '../errors.ts'
import type { Payloads, SecretType } from './payload.ts'
import type { SecretRow } from './replies.ts'
import type { OpenedSecret } from './secret-box.ts'

/** A secret without its payload. `name` and `type` are what was encrypted, unless `isBound` is false; `description` is the server's word. */
export type SecretSummary = {
  id: string
  type: string
  name: string
  /** True when the name was encrypted with the secret and the server gives the same one. */
  nameVerified: boolean
  /** False for a payload without `$ctx`. Then only the payload is proven, not its name, type or revision. */
  isBound: boolean
  description: string | null
  revision: number
  updatedAt: string
  /** Why the secret cannot be read; its name and type are then the server's word. */
  problem?: VaultError
}

/** A secret with its payload; members that this client does not know are in it too. */
export type Secret<T extends SecretType = SecretType> = {
  [K in SecretType]: SecretSummary & { type: K; payload: Payloads[K] & Record<string, unknown> }
}[T]

export type NewSecret = { [T in SecretType]: { type: T; name: string; description?: string | null; payload: Payloads[T] } }[SecretType]

/** Members of `payload` replace those of the same name, null takes one away, others stay. */
export type SecretChange = { name?: string; description?: string | null; payload?: Record<string, unknown> }

/** Whom a grant is for. */
export type Grantee = { identityId: string } | { agentHandle: string }
export type Grant = ReplyOf<typeof grantVaultAccess>

export type VaultExport = {
  vault_id: string
  organization_id: string
  key_version: number
  secrets: {
    id: string
    type: string
    name: string
    name_verified: boolean
    description: string | null
    payload: Record<string, unknown>
  }[]
}

/** A secret as held while the vault is open: ciphertext, and what its context proved. Payloads are decrypted anew each time. */
export type Held = { row: SecretRow; opened: Omit<OpenedSecret, 'payload'> | null; problem?: VaultError }

/** What may be shown of a secret without its payload. */
export function summarize({ row, opened, problem }: Held): SecretSummary {
  return {
    id: row.id,
    type: opened?.type ?? row.type,
    name: opened?.name ?? row.name,
    nameVerified: opened?.nameVerified ?? false,
    isBound: opened?.isBound ?? false,
    description: row.description,
    revision: row.revision,
    updatedAt: row.updatedAt,
    ...(problem && { problem }),
  }
}
