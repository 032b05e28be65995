// A vault client on node:crypto alone. It can decrypt, which the server must never be able to do.
import { argon2Sync, createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** The cheapest parameters that the server accepts. */
export const kdfParams = { algorithm: 'argon2id', m: 19_456, t: 2, p: 1 }

export type KdfParams = typeof kdfParams

export const deriveMaster = (vaultKey: string, salt: Buffer, params: KdfParams = kdfParams): Buffer =>
  argon2Sync('argon2id', {
    message: Buffer.from(vaultKey),
    nonce: salt,
    memory: params.m,
    passes: params.t,
    parallelism: params.p,
    tagLength: 32,
  })

export const authHashOf = (master: Buffer): string => createHash('sha256').update(master).digest('hex')

/** base64( 01 ‖ 01 ‖ iv ‖ ciphertext ‖ tag ). */
export function seal(key: Buffer, plaintext: Buffer): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
  return Buffer.concat([Buffer.from([1, 1]), iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

export function open(key: Buffer, text: string): Buffer {
  const blob = Buffer.from(text, 'base64')
  if (blob[0] !== 1 || blob[1] !== 1) throw new Error('unknown blob')
  const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(2, 14), { authTagLength: 16 }).setAuthTag(blob.subarray(-16))
  return Buffer.concat([decipher.update(blob.subarray(14, -16)), decipher.final()])
}

export const sealJson = (key: Buffer, payload: object): string => seal(key, Buffer.from(JSON.stringify(payload)))
export const openJson = (key: Buffer, text: string): unknown => JSON.parse(open(key, text).toString())

/** Wraps an organization key under a vault key. Returns the wrapping with the values that the server receives. */
export function wrap(orgKey: Buffer, vaultKey: string) {
  const salt = randomBytes(16)
  const master = deriveMaster(vaultKey, salt)
  return {
    kdf_salt: salt.toString('base64'),
    kdf_params: kdfParams,
    auth_hash: authHashOf(master),
    wrapped_org_key: seal(master, orgKey),
  }
}

/** Random bytes in the shape of a wrapping, for tests that never decrypt it. */
export const fakeWrapping = () => ({
  kdf_salt: randomBytes(16).toString('base64'),
  kdf_params: kdfParams,
  auth_hash: randomBytes(32).toString('hex'),
  wrapped_org_key: fakeBlob(62),
})

export const fakeBlob = (size = 62): string => Buffer.concat([Buffer.from([1, 1]), randomBytes(size - 2)]).toString('base64')
