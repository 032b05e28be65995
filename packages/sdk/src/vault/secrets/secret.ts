// Public types of secrets, with summaries, payloads by type, and changes.
import type { VaultError } from '../../errors.ts'
import type { Payloads, SecretType } from './payload.ts'
import type { SecretRow } from './replies.ts'
import type { OpenedSecret } from './secret-box.ts'

/** A secret without its payload. `name` and `type` were encrypted, unless `isBound` is false. `description` is unverified. */
export type SecretSummary = {
  id: string
  type: string
  name: string
  /** True if the server's name equals the encrypted one. */
  nameVerified: boolean
  /** False for a payload without `$ctx`. Then only the payload is proven, not its name, type or revision. */
  isBound: boolean
  description: string | null
  revision: number
  updatedAt: string
  /** The reason why the secret cannot be read. Its name and type are then unverified. */
  problem?: VaultError
}

/** A secret with its payload, including members that are unknown to this client. */
export type Secret<T extends SecretType = SecretType> = {
  [K in SecretType]: SecretSummary & { type: K; payload: Payloads[K] & Record<string, unknown> }
}[T]

export type NewSecret = { [T in SecretType]: { type: T; name: string; description?: string | null; payload: Payloads[T] } }[SecretType]

/** Members of `payload` replace those of the same name. null removes one. Others stay. */
export type SecretChange = { name?: string; description?: string | null; payload?: Record<string, unknown> }

/** A secret of an open vault, as ciphertext with its verified context. Payloads are decrypted on every access. */
export type Held = { row: SecretRow; opened: Omit<OpenedSecret, 'payload'> | null; problem?: VaultError }

/** The displayable part of a secret, without its payload. */
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
