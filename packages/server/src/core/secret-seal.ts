// Secrets at rest that the server has to read again: webhooks' signing secrets, and stored answers that may hold a new key or secret.
// Sealed with keys from the keyring. The only code here that decrypts.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

// version ‖ 12-byte IV ‖ ciphertext ‖ 16-byte tag
const version = 1
const ivBytes = 12
const tagBytes = 16

/** AES-256-GCM; the row that it belongs to is authenticated along, so that a sealed secret moved to another row does not open. */
export function sealSecret(key: Buffer, row: string, secret: Buffer): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(row))
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([Buffer.of(version), iv, sealed, cipher.getAuthTag()])
}

/** The secret, or an Error with a sentence for the operator when the keyring is not the one that sealed it. */
export function openSecret(key: Buffer, row: string, sealed: Buffer): Buffer {
  try {
    if (sealed[0] !== version) throw new Error('unknown version')
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + ivBytes)).setAAD(Buffer.from(row))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(1 + ivBytes, -tagBytes)), decipher.final()])
  } catch (cause) {
    throw new Error(`the secret of ${row} does not open with this keyring; every node needs the same keyring/ folder`, {
      cause,
    })
  }
}
