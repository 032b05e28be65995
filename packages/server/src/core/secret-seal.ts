// Encrypts secrets that the server has to read again, with keys from the keyring: signing secrets of webhooks, and stored answers that may
// contain a new key or secret.
// The only code here that decrypts.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

// version ‖ 12-byte IV ‖ ciphertext ‖ 16-byte tag
const version = 1
const ivBytes = 12
const tagBytes = 16

/** AES-256-GCM with the row as additional authenticated data, so that a sealed secret copied to another row cannot be opened. */
export function sealSecret(key: Buffer, row: string, secret: Buffer): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(row))
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([Buffer.of(version), iv, sealed, cipher.getAuthTag()])
}

/** Returns the secret. Throws an Error for the operator when another keyring sealed it. */
export function openSecret(key: Buffer, row: string, sealed: Buffer): Buffer {
  try {
    if (sealed[0] !== version) throw new Error('unknown version')
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + ivBytes)).setAAD(Buffer.from(row))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(1 + ivBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new Error(`the secret of ${row} cannot be opened with this keyring. Every node needs the same keyring/ folder.`, {
      cause,
    })
  }
}
