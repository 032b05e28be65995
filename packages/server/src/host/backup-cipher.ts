// Encrypts backups with a passphrase in the age format (https://age-encryption.org/v1), so that `age -d` opens them without Callsign.
import { createCipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { Decrypter, Encrypter, type Recipient, Stanza } from 'age-encryption'
import { DamagedArchive } from './archive.ts'

/** The first line of every age file. */
const magic = Buffer.from('age-encryption.org/v1\n')
const saltBytes = 16
/** The binary logarithm of scrypt's cost. It needs 128 MB of memory. */
const workFactor = 17

const derive = promisify(scrypt) as (passphrase: string, salt: Buffer, bytes: number, options: object) => Promise<Buffer>

/**
 * Wraps the key of the file with the passphrase, as the scrypt recipient of the format does. The library's own derives its key on the
 * calling thread, which takes a second in which a server that makes its scheduled backup would not answer.
 */
const passphraseRecipient = (passphrase: string): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(saltBytes)
    const labelled = Buffer.concat([Buffer.from('age-encryption.org/v1/scrypt'), salt])
    const key = await derive(passphrase, labelled, 32, { N: 2 ** workFactor, r: 8, p: 1, maxmem: 256 * 1024 * 1024 })
    const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 })
    const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
    return [new Stanza(['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)], body)]
  },
})

/** The encrypted bytes. */
export async function* seal(bytes: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(passphraseRecipient(passphrase))
  yield* buffersOf(await encrypter.encrypt(ReadableStream.from(bytes)))
}

/** Settings of a restore that decide which backups it accepts. */
export type Opening = { passphrase: string | null; allowPlain: boolean }

/**
 * The plain bytes of a backup. Throws DamagedArchive without the right passphrase, and for a changed or cut backup. With a passphrase, a
 * backup that is not encrypted is refused unless `allowPlain` is set: nothing proves that it was written by an owner of the passphrase.
 */
export async function* open(bytes: AsyncIterable<Buffer>, { passphrase, allowPlain }: Opening): AsyncGenerator<Buffer> {
  const source = new Source(bytes)
  if (!(await source.startsWith(magic))) {
    if (passphrase !== null && !allowPlain)
      throw new DamagedArchive(
        'this backup is not encrypted, but CALLSIGN_BACKUP_PASSPHRASE is set: add --allow-unencrypted if you trust where the file comes from',
      )
    yield* source.read()
    return
  }
  if (passphrase === null) throw new DamagedArchive('this backup is encrypted: set CALLSIGN_BACKUP_PASSPHRASE')
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    yield* buffersOf(await decrypter.decrypt(ReadableStream.from(source.read())))
  } catch (error) {
    if (source.failure) throw source.failure
    if (error instanceof Error && error.message.startsWith('no identity matched'))
      throw new DamagedArchive('CALLSIGN_BACKUP_PASSPHRASE is not that of this backup')
    throw new DamagedArchive('the backup is damaged or incomplete')
  }
}

async function* buffersOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of stream) yield Buffer.from(buffer, byteOffset, byteLength)
}

/** Reads ahead to the first bytes, and keeps the failure of the source apart from those of decryption. */
class Source {
  failure: unknown
  readonly #chunks: AsyncIterator<Buffer>
  #head = Buffer.alloc(0)

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#chunks = bytes[Symbol.asyncIterator]()
  }

  async startsWith(prefix: Buffer): Promise<boolean> {
    while (this.#head.length < prefix.length) {
      const next = await this.#chunks.next()
      if (next.done) break
      this.#head = Buffer.concat([this.#head, next.value])
    }
    return this.#head.subarray(0, prefix.length).equals(prefix)
  }

  async *read(): AsyncGenerator<Buffer> {
    if (this.#head.length > 0) yield this.#head
    try {
      for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next()) yield next.value
    } catch (error) {
      this.failure = error
      throw error
    } finally {
      await this.#chunks.return?.()
    }
  }
}
