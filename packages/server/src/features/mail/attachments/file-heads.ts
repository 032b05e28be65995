// Reads the first bytes of files, for the search of outgoing mail.
import type { Blobs } from '../../../core/blobs.ts'
import type { Sql } from '../../../core/sql.ts'
import type { Decode } from './model.ts'
import * as store from './store.ts'

/** The first bytes of a file. `isCut` is false for a whole one. */
export type FileHead = { name: string; bytes: Buffer; isCut: boolean }

type StoredFile = Pick<store.NewAttachment, 'filename' | 'size_bytes' | 'bytes' | 'blob_key'>
type Encoding = NonNullable<store.StoredAttachment['encoding']>

export interface FileHeads {
  /** These stored files, or the first `bytesMax` bytes of each. */
  readHeads(files: StoredFile[], bytesMax: number): Promise<FileHead[]>
  /** The existing attachments of a message, or the first `bytesMax` bytes of each. */
  readHeadsOf(messageId: string, bytesMax: number): Promise<FileHead[]>
}

/** Encoded bytes read per byte, with short lines. A file that needs more is cut. */
const encodedPerByte: Record<Encoding, number> = { identity: 1, base64: 1.5, 'quoted-printable': 4 }

type Parts = { db: Sql; blobs: Blobs; decode: Decode }

export function createFileHeads({ db, blobs, decode }: Parts): FileHeads {
  async function readHead({ filename, size_bytes, bytes, blob_key }: StoredFile, bytesMax: number): Promise<FileHead> {
    const head = bytes ?? (await blobs.get(blob_key as string, { start: 0, end: Math.min(size_bytes, bytesMax) }))
    return toHead(filename, size_bytes, head, bytesMax)
  }

  /** The head of a file that is a range of a raw message. */
  async function readEncoded(row: store.StoredAttachment, bytesMax: number): Promise<FileHead> {
    const encoding = row.encoding as Encoding
    const start = row.raw_start as number
    const encodedBytes = Math.min((row.raw_end as number) - start, Math.ceil(bytesMax * encodedPerByte[encoding]))
    const slice = row.raw_slice ?? (await blobs.get(row.raw_blob_key as string, { start, end: start + encodedBytes }))
    return toHead(row.filename, row.size_bytes, decode(slice.subarray(0, encodedBytes), encoding), bytesMax)
  }

  return {
    readHeads: (files, bytesMax) => Promise.all(files.map((file) => readHead(file, bytesMax))),

    readHeadsOf: async (messageId, bytesMax) =>
      Promise.all(
        (await store.listStored(db, messageId))
          .filter((row) => row.deleted_at === null)
          .map((row) => (row.raw_start === null ? readHead(row, bytesMax) : readEncoded(row, bytesMax))),
      ),
  }
}

/** Without the bytes behind the head, which a part of a buffer would keep in memory. */
function toHead(name: string, sizeBytes: number, bytes: Buffer, bytesMax: number): FileHead {
  const head = bytes.length > bytesMax ? Buffer.from(bytes.subarray(0, bytesMax)) : bytes
  return { name, bytes: head, isCut: sizeBytes > head.length }
}
