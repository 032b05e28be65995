// Opens and seals single secrets under the organization key, and checks each against its context and its pin.
import { blobOverheadBytes, payloadBytesMax } from '@callsign/contract/vault-blob'
import { VaultError } from '../../errors.ts'
import type { AesKey } from '../crypto/aes.ts'
import { openBlob, sealBlob } from '../crypto/blob.ts'
import type { SecretPin } from '../pins.ts'
import { readPlaintext, type SecretContext, writePlaintext } from './payload.ts'
import type { SecretRow } from './replies.ts'

/**
 * Treatment of a payload without `$ctx`, written by clients that implement only the blob format of docs/vault.md. `if-seen` opens it, unless
 * this secret had a context before. `always` refuses it.
 */
export type Binding = 'if-seen' | 'always'

/** The vault that secrets belong to. */
export type Place = { organization: string; vaultId: string; keyVersion: number }

export type OpenedSecret = {
  id: string
  /** From its context, or unverified from the server if it is not bound. */
  type: string
  /** From its context, or unverified from the server if it is not bound. */
  name: string
  /** True if the server's name equals the encrypted one. */
  nameVerified: boolean
  isBound: boolean
  /** From its context. 0 if it is not bound. */
  rev: number
  payload: Record<string, unknown>
}

/**
 * Maximum revision and key version, the largest that a server stores. Beyond 2^53 the count could not rise, so a server could make a secret
 * unreadable by naming a high revision.
 */
const countMax = 2 ** 31 - 1

export class SecretBox {
  readonly #key: AesKey
  readonly #place: Place
  readonly #binding: Binding

  constructor(key: AesKey, place: Place, binding: Binding) {
    this.#key = key
    this.#place = place
    this.#binding = binding
  }

  /** Throws `blob_…`, `context_mismatch`, `context_missing`, `secret_rolled_back` or `payload_invalid`. */
  async open(row: SecretRow, pin: SecretPin | undefined): Promise<OpenedSecret> {
    if (pin?.deleted) throw new VaultError('secret_rolled_back', `Secret ${row.id} was deleted, but the server returned it again.`)
    const plaintext = await openBlob(this.#key, row.encryptedPayload, `Secret ${row.id}`)
    const { payload, context } = readPlaintext(plaintext)
    plaintext.fill(0)
    if (!context) return this.#admitUnbound(row, payload, pin)
    this.#checkContext(row, context)
    if (pin && context.rev < pin.rev) {
      throw new VaultError('secret_rolled_back', `Secret ${row.id} has revision ${context.rev}, but ${pin.rev} was seen before.`)
    }
    const nameVerified = context.name === row.name
    return { id: row.id, type: context.type, name: context.name, nameVerified, isBound: true, rev: context.rev, payload }
  }

  #admitUnbound(row: SecretRow, payload: Record<string, unknown>, pin: SecretPin | undefined): OpenedSecret {
    if (this.#binding === 'always' || pin?.bound) {
      throw new VaultError('context_missing', `Secret ${row.id} is not bound to its place${pin?.bound ? ', and was before' : ''}.`)
    }
    return { id: row.id, type: row.type, name: row.name, nameVerified: false, isBound: false, rev: 0, payload }
  }

  #checkContext(row: SecretRow, context: SecretContext): void {
    const wrong = [
      ['organization', context.org, this.#place.organization],
      ['vault', context.vault, this.#place.vaultId],
      ['id', context.id, row.id],
      ['type', context.type, row.type],
      ['key version', context.kv, this.#place.keyVersion],
    ].find(([, inside, given]) => inside !== given)
    if (wrong) {
      throw new VaultError('context_mismatch', `Secret ${row.id} was encrypted for another ${wrong[0]} than the server presents it with.`)
    }
  }

  /** Seals a payload for a place, which is a new secret, a new revision, or an unbound one (`context` null). */
  async seal(payload: Record<string, unknown>, context: Omit<SecretContext, 'v' | 'org' | 'vault' | 'kv'> | null): Promise<string> {
    const { organization, vaultId, keyVersion } = this.#place
    if (context && (context.rev > countMax || keyVersion > countMax)) {
      throw new VaultError(
        'revision_unusable',
        `Secret ${context.id} would get a revision or key version above ${countMax}. Nothing was changed.`,
      )
    }
    const whole = context && { v: 1 as const, org: organization, vault: vaultId, ...context, kv: keyVersion }
    const plaintext = writePlaintext(payload, whole && orderContext(whole))
    if (plaintext.length + blobOverheadBytes > payloadBytesMax) {
      throw new VaultError(
        'payload_too_large',
        `The payload has ${plaintext.length} bytes with its context. The maximum is ${payloadBytesMax - blobOverheadBytes}.`,
      )
    }
    const blob = await sealBlob(this.#key, plaintext)
    plaintext.fill(0)
    return blob
  }
}

/** Members in the order of docs/vault.md. */
const orderContext = ({ v, org, vault, id, type, name, kv, rev }: SecretContext): SecretContext => ({
  v,
  org,
  vault,
  id,
  type,
  name,
  kv,
  rev,
})
