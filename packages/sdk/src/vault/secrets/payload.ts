// The decrypted content of a secret, with typed members per secret type and the context that binds it to its place.
import type { SecretType } from '@callsign/contract/vault-secrets'
import { VaultError } from '../../errors.ts'
import { type Bytes, decodeUtf8, encodeUtf8 } from '../crypto/bytes.ts'

export type { SecretType }

export type LoginPayload = { username: string; password: string; url?: string; totp?: string; notes?: string }
export type ApiKeyPayload = { api_key: string; endpoint?: string; notes?: string }
export type KeyPairPayload = { access_key: string; secret_key: string; endpoint?: string; notes?: string }
export type SshKeyPayload = { private_key: string; public_key?: string; fingerprint?: string; passphrase?: string; notes?: string }
export type OtherPayload = { data: string; notes?: string }

/** The payload of each secret type. Additional members of other clients are kept. */
export type Payloads = {
  login: LoginPayload
  api_key: ApiKeyPayload
  key_pair: KeyPairPayload
  ssh_key: SshKeyPayload
  other: OtherPayload
}

type Members = { required: readonly string[]; optional: readonly string[] }

/** The members of each type. All of them are text. */
export const payloadMembers: Record<SecretType, Members> = {
  login: { required: ['username', 'password'], optional: ['url', 'totp', 'notes'] },
  api_key: { required: ['api_key'], optional: ['endpoint', 'notes'] },
  key_pair: { required: ['access_key', 'secret_key'], optional: ['endpoint', 'notes'] },
  ssh_key: { required: ['private_key'], optional: ['public_key', 'fingerprint', 'passphrase', 'notes'] },
  other: { required: ['data'], optional: ['notes'] },
}

/** The main member of each type. */
export const mainMember: Record<SecretType, string> = {
  login: 'password',
  api_key: 'api_key',
  key_pair: 'secret_key',
  ssh_key: 'private_key',
  other: 'data',
}

export const isSecretType = (value: unknown): value is SecretType => typeof value === 'string' && Object.hasOwn(payloadMembers, value)

/** Throws `payload_invalid` if the payload lacks a member of its type or uses a reserved name. */
export function checkPayload(type: SecretType, payload: Record<string, unknown>): void {
  const { required, optional } = payloadMembers[type]
  for (const name of required) {
    if (typeof payload[name] !== 'string') throw new VaultError('payload_invalid', `A secret of type ${type} needs ${name}, as text.`)
  }
  for (const name of optional) {
    if (payload[name] !== undefined && typeof payload[name] !== 'string') throw new VaultError('payload_invalid', `${name} must be text.`)
  }
  if ('$ctx' in payload || '$pad' in payload)
    throw new VaultError('payload_invalid', 'The names $ctx and $pad are reserved. Rename these members.')
}

/** The context that a payload is bound to. It decrypts only as this revision of this secret in this vault. */
export type SecretContext = {
  v: 1
  org: string
  vault: string
  id: string
  type: string
  name: string
  /** The key version that it was encrypted under. */
  kv: number
  /** Counts the changes of this secret, from 1. */
  rev: number
}

/** Sizes are rounded up to this, so that the length of a password does not show. */
const padBytes = 64

/** The plaintext of a secret, which is the payload with `$ctx` and `$pad`. Secrets that never had a context have only the payload. */
export function writePlaintext(payload: Record<string, unknown>, context: SecretContext | null): Bytes {
  const { $ctx: _, $pad: __, ...members } = payload
  if (!context) return encodeUtf8(JSON.stringify(members))
  const bare = encodeUtf8(JSON.stringify({ ...members, $ctx: context, $pad: '' })).length
  return encodeUtf8(JSON.stringify({ ...members, $ctx: context, $pad: ' '.repeat((padBytes - (bare % padBytes)) % padBytes) }))
}

/** The payload and its context, null when it has none. Throws `payload_invalid`, or `context_mismatch` when `$ctx` has an unknown format. */
export function readPlaintext(plaintext: Bytes): { payload: Record<string, unknown>; context: SecretContext | null } {
  let value: unknown
  try {
    value = JSON.parse(decodeUtf8(plaintext))
  } catch {
    throw new VaultError('payload_invalid', 'The decrypted payload is not JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new VaultError('payload_invalid', 'The decrypted payload is not a JSON object.')
  }
  const { $ctx, $pad: _, ...payload } = value as Record<string, unknown>
  if ($ctx === undefined) return { payload, context: null }
  if (!isContext($ctx)) throw new VaultError('context_mismatch', 'The context inside the payload has an unknown form.')
  return { payload, context: $ctx }
}

function isContext(value: unknown): value is SecretContext {
  if (typeof value !== 'object' || value === null) return false
  const context = value as Record<string, unknown>
  const isText = (['org', 'vault', 'id', 'type', 'name'] as const).every((name) => typeof context[name] === 'string')
  const isCounted = [context.kv, context.rev].every((count) => Number.isSafeInteger(count) && (count as number) >= 1)
  return context.v === 1 && isText && isCounted
}
