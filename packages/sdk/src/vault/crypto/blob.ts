// The ciphertext blob is base64 of `[01][01][iv][ciphertext][tag]`. It carries the wrapped key or a payload.
import {
  blobAlgorithm,
  blobHeaderBytes,
  blobOverheadBytes,
  blobVersion,
  ivBytes,
  keyBytes,
  payloadBytesMax,
  wrappedKeyBytes,
} from '@callsign/contract/vault-blob'
import { VaultError } from '../../errors.ts'
import { AesKey } from './aes.ts'
import { type Bytes, decodeBase64, encodeBase64, randomBytes } from './bytes.ts'

/** Encrypts into a blob. `iv` is random except for test vectors. */
export async function sealBlob(key: AesKey, plaintext: Bytes, iv: Bytes = randomBytes(ivBytes)): Promise<string> {
  const sealed = await key.seal(iv, plaintext)
  const blob = new Uint8Array(blobHeaderBytes + ivBytes + sealed.length)
  blob[0] = blobVersion
  blob[1] = blobAlgorithm
  blob.set(iv, blobHeaderBytes)
  blob.set(sealed, blobHeaderBytes + ivBytes)
  return encodeBase64(blob)
}

/** Decrypts a blob. Throws `blob_malformed`, `blob_version_unknown` or `blob_rejected`. There are no other formats and no second attempt. */
export async function openBlob(key: AesKey, text: unknown, what: string, bytesMax: number = payloadBytesMax): Promise<Bytes> {
  const blob = decodeBase64(text, what, bytesMax)
  if (blob.length < blobOverheadBytes) throw new VaultError('blob_malformed', `${what} is too short to be a blob.`)
  if (blob[0] !== blobVersion || blob[1] !== blobAlgorithm) {
    throw new VaultError(
      'blob_version_unknown',
      `${what} has version ${blob[0]} and algorithm ${blob[1]}. Only version 1 and algorithm 1 are accepted.`,
    )
  }
  const iv = blob.subarray(blobHeaderBytes, blobHeaderBytes + ivBytes)
  const plaintext = await key.open(iv, blob.subarray(blobHeaderBytes + ivBytes))
  if (!plaintext) throw new VaultError('blob_rejected', `${what} does not decrypt. It was changed, or created with another key.`)
  return plaintext
}

/** Wraps the organization key with a master key. */
export const wrapKey = (master: AesKey, organizationKey: Bytes, iv?: Bytes): Promise<string> => sealBlob(master, organizationKey, iv)

/** Unwraps the organization key. Throws `wrapped_key_rejected` for every defect. */
export async function unwrapKey(master: AesKey, wrapped: unknown): Promise<AesKey> {
  try {
    const bytes = await openBlob(master, wrapped, 'The wrapped key', wrappedKeyBytes)
    if (bytes.length !== keyBytes) throw new VaultError('blob_malformed', 'The wrapped key has a wrong length.')
    return new AesKey(bytes)
  } catch (error) {
    if (!(error instanceof VaultError) || error.code === 'cryptography_unavailable') throw error
    throw new VaultError('wrapped_key_rejected', 'The wrapped key from the server does not open with this vault key.', {
      cause: error,
    })
  }
}
