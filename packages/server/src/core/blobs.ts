// Interface of the store for large bytes.
import type { Readable } from 'node:stream'

/** Keys are paths of lower-case letters, digits, `_`, `-`, `.` and `/`. The caller chooses them and never reuses them. */
export interface Blobs {
  /** Resolves when the bytes are durable (fsync of file and folder, or the object store's answer). Writing a key twice with the same bytes is fine. */
  put(key: string, bytes: Buffer): Promise<void>
  /** The bytes from `start` (inclusive) to `end` (exclusive), or all of them. Rejects with BlobMissing when the key does not exist. */
  get(key: string, range?: { start: number; end: number }): Promise<Buffer>
  /** The same as a stream, for downloads. */
  stream(key: string, range?: { start: number; end: number }): Promise<Readable>
  /** Idempotent. */
  delete(key: string): Promise<void>
  /** Keys written longer ago than `olderThanMs`, for the sweep of orphans. */
  list(olderThanMs: number): AsyncIterable<string>
}

export class BlobMissing extends Error {
  override name = 'BlobMissing'
}

/** The store cannot be reached or is overloaded, so the caller should retry later. The message is for logs. */
export class BlobsUnavailable extends Error {
  override name = 'BlobsUnavailable'
}
