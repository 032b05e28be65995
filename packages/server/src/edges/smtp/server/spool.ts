// Temporary files for large messages in transfer, so that slow clients hold disk space and not memory.
import { randomUUID } from 'node:crypto'
import { close, mkdirSync, openSync, read, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Memory } from '../../../core/byte-budget.ts'

const readAt = promisify(read)

/** Files in this folder, whose bytes count in `space`. */
export type Spool = { folder: string; space: Memory }

/** A file without a name, which the system removes with this process. Written without waiting, in blocks that the system buffers. */
export class SpoolFile {
  readonly #file: number

  /** Throws when the folder cannot be written. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, randomUUID())
    this.#file = openSync(path, 'wx+', 0o600)
    rmSync(path)
  }

  write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }

  /** Reads the first `length` octets into the buffer. */
  async read(into: Buffer, length: number): Promise<void> {
    for (let at = 0; at < length; ) {
      const { bytesRead } = await readAt(this.#file, into, at, length - at, at)
      if (bytesRead === 0) throw new Error('a spooled message is shorter than the bytes written')
      at += bytesRead
    }
  }

  close(): void {
    close(this.#file, () => {})
  }
}
