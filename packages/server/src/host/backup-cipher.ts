// Encrypts backups with a passphrase, in frames, so that a backup of any size is written and read as a stream.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { DamagedArchive } from './archive.ts'

/**
 * The format: the magic, 16 bytes of salt for scrypt, and frames. A frame is its length (4 bytes, big-endian), the ciphertext of
 * AES-256-GCM and its tag. The nonce is the number of the frame and a byte that is 1 for the last one, so that frames cannot be moved,
 * repeated, left out or cut off. A key is used for one backup only.
 */
const magic = Buffer.from('callsign-sealed-1\n')
const saltBytes = 16
const frameBytes = 1024 * 1024
const tagBytes = 16
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

const derive = promisify(scrypt) as (passphrase: string, salt: Buffer, bytes: number, options: typeof cost) => Promise<Buffer>

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(index, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** The encrypted bytes. */
export async function* seal(bytes: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes)
  const key = await derive(passphrase, salt, 32, cost)
  yield Buffer.concat([magic, salt])
  let index = 0
  const frame = (plain: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index++, isLast))
    const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(body.length)
    return Buffer.concat([length, body])
  }
  let pending: Buffer[] = []
  let pendingBytes = 0
  for await (const chunk of bytes) {
    pending.push(chunk)
    pendingBytes += chunk.length
    if (pendingBytes < frameBytes) continue
    yield frame(Buffer.concat(pending), false)
    pending = []
    pendingBytes = 0
  }
  yield frame(Buffer.concat(pending), true)
}

/** The plain bytes of a backup, encrypted or not. Throws DamagedArchive without the right passphrase, and for a changed or cut backup. */
export async function* open(bytes: AsyncIterable<Buffer>, passphrase: string | null): AsyncGenerator<Buffer> {
  const source = bytes[Symbol.asyncIterator]()
  let buffered: Buffer = Buffer.alloc(0)
  const fill = async (size: number): Promise<boolean> => {
    while (buffered.length < size) {
      const next = await source.next()
      if (next.done) return false
      buffered = Buffer.concat([buffered, next.value])
    }
    return true
  }
  const take = async (size: number): Promise<Buffer> => {
    if (!(await fill(size))) throw new DamagedArchive('the backup is damaged: it ends too early')
    const taken = buffered.subarray(0, size)
    buffered = buffered.subarray(size)
    return taken
  }
  if (!(await fill(magic.length)) || !buffered.subarray(0, magic.length).equals(magic)) {
    if (buffered.length > 0) yield buffered
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
    return
  }
  if (passphrase === null) throw new DamagedArchive('this backup is encrypted: set CALLSIGN_BACKUP_PASSPHRASE')
  await take(magic.length)
  const key = await derive(passphrase, await take(saltBytes), 32, cost)
  for (let index = 0; ; index++) {
    const length = (await take(4)).readUInt32BE()
    if (length < tagBytes || length > 64 * frameBytes) throw new DamagedArchive('the backup is damaged: a part has an impossible length')
    const body = await take(length)
    const isLast = !(await fill(1))
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast))
    decipher.setAuthTag(body.subarray(-tagBytes))
    let plain: Buffer
    try {
      plain = Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()])
    } catch {
      throw new DamagedArchive(
        index === 0 ? 'CALLSIGN_BACKUP_PASSPHRASE is not that of this backup' : 'the backup is damaged or incomplete',
      )
    }
    yield plain
    if (isLast) return
  }
}
