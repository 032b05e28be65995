// Validates vault material from clients: salts, blobs and KDF parameters. Checks sizes and headers only, because the contents are encrypted.
import {
  blobAlgorithm,
  blobOverheadBytes,
  blobVersion,
  kdfFloor,
  payloadBytesMax,
  saltBytesMax,
  saltBytesMin,
  wrappedKeyBytes,
  wrappedKeyBytesMax,
} from '@callsign/contract/vault-blob'
import { ApiError, invalid } from '../../core/errors.ts'
import type { KdfParams } from './model.ts'

/** Decodes strict base64. Node's decoder skips invalid characters, so the bytes must encode to the same text again. */
function decode(path: string, text: string, bytesMin: number, bytesMax: number): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw invalid(path, `${path.slice(1)} must be strict base64: padded, no line breaks, nothing else`)
  if (bytes.length < bytesMin || bytes.length > bytesMax) {
    throw invalid(path, `${path.slice(1)} must be ${bytesMin} to ${bytesMax} bytes, not ${bytes.length}`)
  }
  return bytes
}

/** A blob of the one known version and algorithm. The header is checked so that plaintext sent by mistake is refused, not stored. */
function decodeBlob(path: string, text: string, bytesMin: number, bytesMax: number): Buffer {
  const bytes = decode(path, text, bytesMin, bytesMax)
  if (bytes[0] !== blobVersion || bytes[1] !== blobAlgorithm) {
    throw invalid(path, `${path.slice(1)} must start with the bytes 01 (version) and 01 (AES-256-GCM): encrypt before sending`)
  }
  return bytes
}

export const readSalt = (path: string, text: string): Buffer => decode(path, text, saltBytesMin, saltBytesMax)

export const readWrappedKey = (path: string, text: string): Buffer => decodeBlob(path, text, wrappedKeyBytes, wrappedKeyBytesMax)

/** The text itself: payloads are stored as they come. */
export function readPayload(path: string, text: string): string {
  decodeBlob(path, text, blobOverheadBytes, payloadBytesMax)
  return text
}

/** Refuses parameters below the floor; those above the ceiling never get here, the contract refuses them. */
export function requireKdfFloor(path: string, params: KdfParams): void {
  const weak = (['m', 't', 'p'] as const).filter((name) => params[name] < kdfFloor[name])
  if (weak.length === 0) return
  throw new ApiError('kdf_params_too_weak', 'These KDF parameters would let a stolen hash be guessed: raise those that details name.', {
    details: weak.map((name) => ({ path: `${path}/${name}`, message: `must be at least ${kdfFloor[name]}` })),
  })
}
