// Derives the master key from the vault key, the hash that proves it to the server, and keys from the organization key.
import { kdfCeiling, kdfFloor, keyBytes, saltBytesMax, saltBytesMin } from '@callsign/contract/vault-blob'
import { VaultError } from '../../errors.ts'
import { AesKey, subtleCrypto } from './aes.ts'
import { argon2id } from './argon2.ts'
import { type Bytes, decodeBase64, encodeHex, encodeUtf8 } from './bytes.ts'

/** `m` in KiB, `t` passes, `p` lanes. */
export type KdfParams = { algorithm: 'argon2id'; m: number; t: number; p: number }

/** The parameters of new vaults. They are RFC 9106 §4's second choice with one lane, which every library supports. */
export const defaultKdfParams: KdfParams = { algorithm: 'argon2id', m: 65_536, t: 3, p: 1 }

export const newSaltBytes = 16

/** Verified parameters and salt. Deriving requires them. */
export type CheckedKdf = { params: KdfParams; salt: Bytes; saltText: string }

/**
 * Checks parameters and salt against floor and ceiling before anything is derived or sent. The server chooses them, and weak ones would make it
 * cheap to guess the key from the hash. Huge ones would exhaust the machine. Throws `kdf_params_unusable`, `kdf_params_too_weak` or
 * `kdf_params_too_costly`.
 */
export function checkKdf(params: unknown, salt: unknown): CheckedKdf {
  const { algorithm, m, t, p } = (typeof params === 'object' && params !== null ? params : {}) as Record<string, unknown>
  if (algorithm !== 'argon2id' || !isCount(m) || !isCount(t) || !isCount(p)) {
    throw new VaultError('kdf_params_unusable', 'The key derivation is not Argon2id with whole numbers m, t and p.')
  }
  if (m < kdfFloor.m || t < kdfFloor.t || p < kdfFloor.p) {
    throw new VaultError(
      'kdf_params_too_weak',
      `The key derivation is too weak (m ${m} KiB, t ${t}, p ${p}). The minimum is ${kdfFloor.m} KiB, ${kdfFloor.t} and ${kdfFloor.p}.`,
    )
  }
  if (m > kdfCeiling.m || t > kdfCeiling.t || p > kdfCeiling.p) {
    throw new VaultError(
      'kdf_params_too_costly',
      `The key derivation is too costly (m ${m} KiB, t ${t}, p ${p}). The maximum is ${kdfCeiling.m} KiB, ${kdfCeiling.t} and ${kdfCeiling.p}.`,
    )
  }
  let bytes: Bytes
  try {
    bytes = decodeBase64(salt, 'The salt', saltBytesMax)
  } catch (error) {
    throw new VaultError('kdf_params_unusable', 'The salt is not strict base64 of 16 to 64 bytes.', { cause: error })
  }
  if (bytes.length < saltBytesMin)
    throw new VaultError('kdf_params_too_weak', `The salt has ${bytes.length} bytes. The minimum is ${saltBytesMin}.`)
  return { params: { algorithm, m, t, p }, salt: bytes, saltText: salt as string }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Derives the master key from a vault key or recovery code. The caller wipes it. */
export async function deriveMaster(secret: Bytes, kdf: CheckedKdf): Promise<AesKey> {
  const { m, t, p } = kdf.params
  return new AesKey(await argon2id({ password: secret, salt: kdf.salt, memoryKib: m, passes: t, lanes: p, bytes: keyBytes }))
}

/** The proof for the server, SHA-256 of the master key as 64 lowercase hexadecimal digits. */
export async function authHash(master: AesKey): Promise<string> {
  return encodeHex(new Uint8Array(await subtleCrypto().digest('SHA-256', master.bytes)))
}

/** A fingerprint of an organization key, as sixteen hexadecimal digits. It is equal for all holders and does not help to find the key. */
export async function fingerprintOf(organizationKey: AesKey): Promise<string> {
  const subtle = subtleCrypto()
  const key = await subtle.importKey('raw', organizationKey.bytes, 'HKDF', false, ['deriveBits'])
  const info = encodeUtf8('callsign/vault/v1/fingerprint')
  return encodeHex(new Uint8Array(await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(32), info }, key, 64)))
}
