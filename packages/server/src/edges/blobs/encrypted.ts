// Encrypts blobs at rest with AES-256-GCM in chunks, so that parts of a blob can be read alone.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobMissing, type Blobs } from '../../core/blobs.ts'
import { checkBlobKey, checkBlobRange } from './key.ts'

/** A key of 32 bytes with the id that encrypted blobs name it by. */
export type BlobKey = { id: string; bytes: Buffer }

export type EncryptedBlobs = Blobs & {
  /** Encrypts a blob under the first key, unless it is already. False when nothing was to do, also for a blob that was deleted meanwhile. */
  reencrypt(key: string): Promise<boolean>
}

/**
 * An encrypted blob has a name of its own, because senders of mail choose the bytes of blobs and may imitate any header.
 * The key of a blob never ends with it, and leaves room for it.
 */
const suffix = '.enc'

/** `CSE1`, the id of the key padded with zeros, a salt, and the length of the plain bytes. */
const header = { magic: Buffer.from('CSE1'), idBytes: 20, saltBytes: 32, length: 64 }
const chunkBytes = 64 * 1024
const tagBytes = 16
const sealedChunkBytes = chunkBytes + tagBytes

type Opened = { fileKey: Buffer; head: Buffer; size: number }
type Range = { start: number; end: number }

/**
 * Blobs in `inner`. New ones are encrypted under the first of `keys`, and stored as they are without keys. Blobs that were stored before are
 * read in either form. Each blob has a key of its own, made of the named key, a random salt and the blob's name, so that a chunk's number
 * is its nonce. The header with the length is authenticated with every chunk: a blob that was cut, renamed or reordered is an error.
 */
export function createEncryptedBlobs(inner: Blobs, keys: BlobKey[]): EncryptedBlobs {
  const [current] = keys

  const openStored = async (key: string): Promise<Opened> => open(key, await inner.get(key + suffix, { start: 0, end: header.length }))

  function open(key: string, head: Buffer): Opened {
    if (head.length < header.length || !head.subarray(0, 4).equals(header.magic)) throw damaged(key)
    const id = head.toString('latin1', 4, 4 + header.idBytes).replace(/\0+$/, '')
    const named = keys.find((one) => one.id === id)
    if (!named) throw new Error(`blob ${key} is encrypted under the key ${JSON.stringify(id)}: add that key to CALLSIGN_BLOB_KEYS`)
    return { fileKey: fileKeyOf(named, head, key), head, size: Number(head.readBigUInt64BE(header.length - 8)) }
  }

  /** The plain bytes of a range, chunk by chunk. */
  async function* decrypt(key: string, { fileKey, head, size }: Opened, { start, end }: Range): AsyncGenerator<Buffer> {
    const [from, to] = [Math.min(start, size), Math.min(end, size)]
    // At least one chunk is read, because its tag proves the length.
    const first = Math.min(Math.floor(from / chunkBytes), chunkCount(size) - 1)
    const last = Math.max(first, Math.ceil(to / chunkBytes) - 1)
    const sealed = await inner.stream(key + suffix, {
      start: header.length + first * sealedChunkBytes,
      end: Math.min(header.length + (last + 1) * sealedChunkBytes, header.length + size + tagBytes * chunkCount(size)),
    })
    let number = first
    for await (const chunk of chunksOf(sealed, sealedChunkBytes)) {
      const plainBytes = Math.min(chunkBytes, size - number * chunkBytes)
      if (number > last || chunk.length !== plainBytes + tagBytes) throw damaged(key)
      const offset = number * chunkBytes
      const plain = openChunk(chunk, number++, fileKey, head, key)
      if (from < to) yield plain.subarray(Math.max(0, from - offset), to - offset)
    }
    if (number !== last + 1) throw damaged(key)
  }

  /** All plain bytes. In one read, because the blob may be encrypted under another key meanwhile. */
  async function getWhole(key: string): Promise<Buffer> {
    const sealed = await inner.get(key + suffix)
    const { fileKey, head, size } = open(key, sealed.subarray(0, header.length))
    if (sealed.length !== header.length + size + tagBytes * chunkCount(size)) throw damaged(key)
    const chunks: Buffer[] = []
    for (let at = header.length; at < sealed.length; at += sealedChunkBytes)
      chunks.push(openChunk(sealed.subarray(at, at + sealedChunkBytes), chunks.length, fileKey, head, key))
    return Buffer.concat(chunks, size)
  }

  async function getRange(key: string, range: Range): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of decrypt(key, await openStored(key), range)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  /** Reads the encrypted blob or the plain one, beginning with the form that new blobs have. */
  async function read<T>(key: string, sealed: () => Promise<T>, plain: () => Promise<T>): Promise<T> {
    checkBlobKey(key)
    const [usual, other] = current ? [sealed, plain] : [plain, sealed]
    try {
      return await usual()
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw error
    }
    try {
      return await other()
    } catch (error) {
      throw error instanceof BlobMissing ? new BlobMissing(`no blob ${key}`) : error
    }
  }

  const all: Range = { start: 0, end: Number.MAX_SAFE_INTEGER }

  const blobs: EncryptedBlobs = {
    async put(key, bytes) {
      checkBlobKey(key)
      if (key.endsWith(suffix)) throw new Error(`the name of a blob may not end with ${suffix}: ${key}`)
      await (current ? inner.put(key + suffix, encrypt(key, bytes, current)) : inner.put(key, bytes))
    },

    async get(key, range) {
      checkBlobRange(range)
      return read(
        key,
        () => (range === undefined ? getWhole(key) : getRange(key, range)),
        () => inner.get(key, range),
      )
    },

    async stream(key, range) {
      checkBlobRange(range)
      return read(
        key,
        async () => Readable.from(decrypt(key, await openStored(key), range ?? all), { objectMode: false }),
        () => inner.stream(key, range),
      )
    },

    async delete(key) {
      checkBlobKey(key)
      await Promise.all([inner.delete(key + suffix), inner.delete(key)])
    },

    // Without keys too, or else a sweep would take encrypted blobs for orphans.
    async *list(olderThanMs) {
      for await (const name of inner.list(olderThanMs)) yield name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
    },

    async reencrypt(key) {
      if (!current) throw new Error('CALLSIGN_BLOB_KEYS is required: set it to the new key and the earlier ones')
      try {
        const head = await inner.get(key + suffix, { start: 0, end: header.length }).catch(ignoreMissing)
        if (head?.subarray(4, 4 + header.idBytes).equals(paddedId(current))) return false
        await blobs.put(key, await blobs.get(key))
        await inner.delete(key)
        return true
      } catch (error) {
        ignoreMissing(error)
        return false
      }
    },
  }
  return blobs
}

const chunkCount = (size: number): number => Math.max(1, Math.ceil(size / chunkBytes))

const paddedId = ({ id }: BlobKey): Buffer => Buffer.concat([Buffer.from(id, 'latin1'), Buffer.alloc(header.idBytes)], header.idBytes)

function fileKeyOf({ bytes }: BlobKey, head: Buffer, key: string): Buffer {
  const salt = head.subarray(4 + header.idBytes, 4 + header.idBytes + header.saltBytes)
  return Buffer.from(hkdfSync('sha256', bytes, salt, `callsign blob ${key}`, 32))
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 6, 6)
  return nonce
}

function encrypt(key: string, bytes: Buffer, named: BlobKey): Buffer {
  const head = Buffer.concat([header.magic, paddedId(named), randomBytes(header.saltBytes)], header.length)
  head.writeBigUInt64BE(BigInt(bytes.length), header.length - 8)
  const fileKey = fileKeyOf(named, head, key)
  const parts = [head]
  for (let number = 0; number === 0 || number * chunkBytes < bytes.length; number++) {
    const cipher = createCipheriv('aes-256-gcm', fileKey, nonceOf(number)).setAAD(head)
    parts.push(cipher.update(bytes.subarray(number * chunkBytes, (number + 1) * chunkBytes)), cipher.final(), cipher.getAuthTag())
  }
  return Buffer.concat(parts)
}

function openChunk(chunk: Buffer, number: number, fileKey: Buffer, head: Buffer, key: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', fileKey, nonceOf(number)).setAAD(head).setAuthTag(chunk.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()])
  } catch {
    throw damaged(key)
  }
}

/** The bytes of a stream in pieces of `length`, the last one shorter. */
async function* chunksOf(source: Readable, length: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const bytes of source as AsyncIterable<Buffer>) {
    held.push(bytes)
    heldBytes += bytes.length
    if (heldBytes < length) continue
    let joined = Buffer.concat(held)
    for (; joined.length >= length; joined = joined.subarray(length)) yield joined.subarray(0, length)
    held = [joined]
    heldBytes = joined.length
  }
  if (heldBytes > 0) yield Buffer.concat(held)
}

const damaged = (key: string): Error =>
  new Error(`blob ${key} is damaged, or the key of its id in CALLSIGN_BLOB_KEYS is another one: restore the blob or correct the key`)

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof BlobMissing)) throw error
}
