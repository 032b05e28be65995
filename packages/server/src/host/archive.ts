// The file format of backups, a tar archive that ends with a checksum of everything before it.
import { createHash, type Hash } from 'node:crypto'

/** One file of the archive. */
export type Entry = { name: string; bytes: Buffer }

/** The file is not an archive, or it is truncated or changed. The message is a sentence. */
export class DamagedArchive extends Error {
  override name = 'DamagedArchive'
}

const blockBytes = 512
/** Far above the largest blob. An archive with a larger entry is not ours. */
const entryBytesMax = 256 * 1024 * 1024
const nameBytesMax = 100
const prefixBytesMax = 155
/** The last entry, `{entries, sha256, …summary}`. Its checksum covers all bytes of the tar before this entry's header. */
const endName = 'end.json'

/** The bytes of a tar of these entries, closed by the end entry, which includes `summary()`. `at` is the time of every entry. */
export async function* packArchive(
  entries: AsyncIterable<Entry>,
  at: Date,
  summary: () => Record<string, unknown>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let count = 0
  for await (const entry of entries) {
    count++
    for (const bytes of packEntry(entry, at)) {
      hash.update(bytes)
      yield bytes
    }
  }
  const end = { ...summary(), entries: count, sha256: hash.digest('hex') }
  yield* packEntry({ name: endName, bytes: Buffer.from(`${JSON.stringify(end, null, 2)}\n`) }, at)
  // Two empty blocks end a tar.
  yield Buffer.alloc(2 * blockBytes)
}

/** The entries of a tar. The end entry comes last, after its checksum was verified. Throws DamagedArchive. */
export async function* unpackArchive(tar: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  const source = new ByteSource(tar)
  let count = 0
  for (;;) {
    // The end entry does not cover itself, and only its header identifies it, so that the state before each header is kept.
    const sum = source.hash.copy()
    const header = await source.take(blockBytes)
    const { name, size } = readHeader(header)
    const bytes = await source.take(size)
    await source.take(padding(size))
    if (name !== endName) {
      count++
      yield { name, bytes }
      continue
    }
    const end = readJson({ name, bytes }) as { entries?: unknown; sha256?: unknown }
    if (end.entries !== count || end.sha256 !== sum.digest('hex')) throw new DamagedArchive('the backup is damaged: its checksum is wrong')
    yield { name, bytes }
    return
  }
}

/** The object that a JSON entry holds. */
export function readJson({ name, bytes }: Entry): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new DamagedArchive(`the backup is damaged: its ${name} cannot be read`)
}

const padding = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

function* packEntry({ name, bytes }: Entry, at: Date): Generator<Buffer> {
  if (bytes.length > entryBytesMax) throw new Error(`${name} is too large for a backup: ${bytes.length} bytes`)
  yield writeHeader(name, bytes.length, at)
  yield bytes
  yield Buffer.alloc(padding(bytes.length))
}

/** A POSIX.1-1988 (ustar) header of a regular file that only its owner can read. */
function writeHeader(name: string, size: number, at: Date): Buffer {
  const { prefix, rest } = splitName(name)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, length: number, offset: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, 'latin1')
  header.write(rest, 0, 'latin1')
  octal(0o600, 8, 100)
  octal(0, 8, 108)
  octal(0, 8, 116)
  octal(size, 12, 124)
  octal(Math.floor(at.getTime() / 1000), 12, 136)
  header.write('0', 156, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  header.write(prefix, 345, 'latin1')
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** The sum of all bytes. The eight bytes of the checksum field count as spaces. */
function checksum(header: Buffer): number {
  let sum = 8 * 32
  for (let i = 0; i < blockBytes; i++) if (i < 148 || i >= 156) sum += header[i] as number
  return sum
}

function splitName(name: string): { prefix: string; rest: string } {
  if (name.length <= nameBytesMax) return { prefix: '', rest: name }
  const slash = name.indexOf('/', name.length - nameBytesMax - 1)
  if (slash < 1 || slash > prefixBytesMax) throw new Error(`the name is too long for a tar: ${name}`)
  return { prefix: name.slice(0, slash), rest: name.slice(slash + 1) }
}

function readHeader(header: Buffer): { name: string; size: number } {
  const text = (start: number, end: number) => header.toString('latin1', start, end).replace(/\0[\s\S]*$/, '')
  const octal = (start: number, end: number) => {
    const digits = text(start, end).trim()
    return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
  }
  const size = octal(124, 136)
  if (text(257, 262) !== 'ustar' || text(156, 157) !== '0' || octal(148, 156) !== checksum(header) || !(size <= entryBytesMax))
    throw new DamagedArchive('this is not a backup of Callsign, or it is damaged')
  const prefix = text(345, 500)
  return { name: prefix ? `${prefix}/${text(0, 100)}` : text(0, 100), size }
}

/** Reads chunks of a requested size, with a running checksum of all bytes read. */
class ByteSource {
  readonly hash: Hash = createHash('sha256')
  readonly #chunks: AsyncIterator<Buffer>
  #buffered: Buffer[] = []
  #bufferedBytes = 0

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#chunks = bytes[Symbol.asyncIterator]()
  }

  async take(size: number): Promise<Buffer> {
    while (this.#bufferedBytes < size) {
      const next = await this.#chunks.next()
      if (next.done) throw new DamagedArchive('the backup is damaged: it ends too early')
      this.#buffered.push(next.value)
      this.#bufferedBytes += next.value.length
    }
    const all = this.#buffered.length === 1 ? (this.#buffered[0] as Buffer) : Buffer.concat(this.#buffered)
    const taken = all.subarray(0, size)
    this.#buffered = [all.subarray(size)]
    this.#bufferedBytes -= size
    this.hash.update(taken)
    return taken
  }
}
