// AES-256-GCM under one key held as bytes, with Node's own cipher where available and WebCrypto elsewhere. 12-byte IV, 16-byte tag, no additional data.
import { ivBytes, keyBytes, tagBytes } from '@callsign/contract/vault-blob'
import { VaultError } from '../../errors.ts'
import { type Bytes, nodeModule } from './bytes.ts'

export type Engine = 'node' | 'webcrypto'

type NodeCrypto = typeof import('node:crypto')
type NodeKey = ReturnType<NodeCrypto['createSecretKey']>
type WebKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

// Node's cipher opens small blobs about five times as fast as WebCrypto, because each WebCrypto call crosses threads.
const nodeCrypto = nodeModule<NodeCrypto>('node:crypto')

/** The WebCrypto functions. Throws a clear error where they are missing, because browsers have them on secure pages only. */
export function subtleCrypto(): typeof crypto.subtle {
  const { subtle } = globalThis.crypto ?? {}
  if (!subtle)
    throw new VaultError('cryptography_unavailable', 'WebCrypto is missing. Serve the page over https or from localhost to use the vault.')
  return subtle
}

export class AesKey {
  readonly #bytes: Bytes
  readonly #engine: Engine
  #webKey: Promise<WebKey> | undefined
  #nodeKey: NodeKey | undefined
  #isWiped = false

  /** Takes ownership of the bytes. `wipe` zeroes them. */
  constructor(bytes: Bytes, engine: Engine = nodeCrypto ? 'node' : 'webcrypto') {
    if (bytes.length !== keyBytes) throw new RangeError(`an AES-256 key has ${keyBytes} bytes`)
    this.#bytes = bytes
    this.#engine = engine
  }

  /** The key itself, for wrapping and deriving. Throws `vault_locked` after `wipe`. */
  get bytes(): Bytes {
    this.#assertUsable()
    return this.#bytes
  }

  /** Returns the ciphertext followed by the tag. An IV must be used once, so callers take a random one. */
  async seal(iv: Bytes, plaintext: Bytes): Promise<Bytes> {
    this.#assertUsable()
    if (this.#engine === 'node' && nodeCrypto) {
      const cipher = nodeCrypto.createCipheriv('aes-256-gcm', this.#importedByNode(nodeCrypto), iv, { authTagLength: tagBytes })
      return concat(cipher.update(plaintext), cipher.final(), cipher.getAuthTag())
    }
    return new Uint8Array(await subtleCrypto().encrypt(algorithm(iv), await this.#importedKey(), plaintext))
  }

  /** Returns the plaintext, or null if key, IV, ciphertext and tag do not match. */
  async open(iv: Bytes, sealed: Bytes): Promise<Bytes | null> {
    this.#assertUsable()
    if (iv.length !== ivBytes || sealed.length < tagBytes) return null
    try {
      if (this.#engine === 'node' && nodeCrypto) {
        // Without authTagLength a shortened tag would be accepted.
        const decipher = nodeCrypto.createDecipheriv('aes-256-gcm', this.#importedByNode(nodeCrypto), iv, { authTagLength: tagBytes })
        decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
        const plaintext = decipher.update(sealed.subarray(0, sealed.length - tagBytes))
        // GCM leaves no output for the end. The plaintext is not copied, so that wiping the returned bytes wipes all of it.
        decipher.final()
        return new Uint8Array(plaintext.buffer as ArrayBuffer, plaintext.byteOffset, plaintext.byteLength)
      }
      return new Uint8Array(await subtleCrypto().decrypt(algorithm(iv), await this.#importedKey(), sealed))
    } catch (error) {
      if (error instanceof VaultError) throw error
      return null
    }
  }

  /** Zeroes the key. Copies made by the engine are out of reach until they are garbage-collected. */
  wipe(): void {
    this.#bytes.fill(0)
    this.#webKey = undefined
    this.#nodeKey = undefined
    this.#isWiped = true
  }

  #assertUsable(): void {
    if (this.#isWiped) throw new VaultError('vault_locked', 'The vault is locked.')
  }

  /** A key object, because a cipher imports raw bytes on every call, which takes four times as long as a small blob. */
  #importedByNode({ createSecretKey }: NodeCrypto): NodeKey {
    this.#nodeKey ??= createSecretKey(this.#bytes)
    return this.#nodeKey
  }

  #importedKey(): Promise<WebKey> {
    this.#webKey ??= subtleCrypto().importKey('raw', this.#bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
    return this.#webKey
  }
}

const algorithm = (iv: Bytes) => ({ name: 'AES-GCM', iv, tagLength: tagBytes * 8 })

function concat(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
