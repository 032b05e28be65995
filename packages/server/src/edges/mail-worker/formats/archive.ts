// Reads ZIP archives of office files, as streams with limits.
import type { Readable } from 'node:stream'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { Unreadable } from './unreadable.ts'

const entriesMax = 10_000
/** Bytes that all parts of one file may unpack to. */
const unpackedBytesMax = 256 * 1024 * 1024

export class Archive {
  readonly #zip: ZipFile
  readonly #entries: Map<string, Entry>
  #unpackedBytes = 0

  constructor(zip: ZipFile, entries: Map<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** The bytes of a part. Throws when the archive unpacks to more than its limit, whatever its directory declares. */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name)
    if (!entry) throw new Unreadable('damaged', `the file has no ${name}`)
    if (entry.isEncrypted()) throw new Unreadable('encrypted', 'the archive is encrypted')
    const stream: Readable = await this.#zip.openReadStreamPromise(entry)
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#unpackedBytes += chunk.length
        if (this.#unpackedBytes > unpackedBytesMax)
          throw new Unreadable('too_complex', `the file unpacks to more than ${unpackedBytesMax} bytes`)
        yield chunk
      }
    } finally {
      stream.destroy()
    }
  }
}

export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true })
  if (zip.entryCount > entriesMax) throw new Unreadable('too_complex', `the archive has more than ${entriesMax} entries`)
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry)
  return new Archive(zip, entries)
}
