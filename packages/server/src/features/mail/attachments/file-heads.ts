// Reads the first bytes of files, for the search of outgoing mail.
import type { Blobs } from '../../../core/blobs.ts'
import type { Sql } from '../../../core/sql.ts'
import * as store from './store.ts'

/** The first bytes of a file. `isCut` is false for a whole one. */
export type FileHead = { name: string; bytes: Buffer; isCut: boolean }

type StoredFile = Pick<store.NewAttachment, 'filename' | 'size_bytes' | 'bytes' | 'blob_key'>

export interface FileHeads {
  /** These stored files, or the first `bytesMax` bytes of each. */
  readHeads(files: StoredFile[], bytesMax: number): Promise<FileHead[]>
  /** The existing attachments of a message, or the first `bytesMax` bytes of each. */
  readHeadsOf(messageId: string, bytesMax: number): Promise<FileHead[]>
}

type Parts = { db: Sql; blobs: Blobs; readBytes: (row: store.StoredAttachment) => Promise<Buffer> }

export function createFileHeads({ db, blobs, readBytes }: Parts): FileHeads {
  const toHead = (name: string, sizeBytes: number, bytes: Buffer, bytesMax: number): FileHead => ({
    name,
    bytes: bytes.subarray(0, bytesMax),
    isCut: sizeBytes > bytesMax,
  })

  return {
    readHeads: (files, bytesMax) =>
      Promise.all(
        files.map(async ({ filename, size_bytes, bytes, blob_key }) => {
          const head = bytes ?? (await blobs.get(blob_key as string, { start: 0, end: Math.min(size_bytes, bytesMax) }))
          return toHead(filename, size_bytes, head, bytesMax)
        }),
      ),

    readHeadsOf: async (messageId, bytesMax) =>
      Promise.all(
        (await store.listStored(db, messageId))
          .filter((row) => row.deleted_at === null)
          .map(async (row) => toHead(row.filename, row.size_bytes, await readBytes(row), bytesMax)),
      ),
  }
}
