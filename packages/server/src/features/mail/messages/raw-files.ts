// The bytes of messages, and their download links.
import { isId } from '@callsign/contract/ids'
import type { Blobs } from '../../../core/blobs.ts'
import { notFound } from '../../../core/errors.ts'
import type { Database } from '../../../core/sql.ts'
import { filesDeleted } from '../attachments/model.ts'
import type { Attachments } from '../attachments/operations.ts'
import * as mailStore from '../stored/mail-store.ts'
import type { MessageRow } from '../stored/model.ts'

type Parts = {
  db: Database
  blobs: Blobs
  attachments: Attachments
  compose: (message: MessageRow) => Promise<Buffer>
  findMessage: (id: string) => Promise<MessageRow | null>
}

/** Reads the stored bytes of a message that came by SMTP. */
export const createReadRaw =
  (db: Database, blobs: Blobs) =>
  async (rawId: string): Promise<Buffer> => {
    const raw = await mailStore.findRaw(db, rawId)
    if (!raw) throw notFound('message')
    return raw.bytes ?? blobs.get(raw.blobKey as string)
  }

export function createRawFiles({ db, blobs, attachments, compose, findMessage }: Parts) {
  const readRaw = createReadRaw(db, blobs)

  /** The bytes of a message as they arrived, or as they are sent. */
  async function readFile(row: MessageRow): Promise<Buffer> {
    if (row.kept_bytes !== null) throw filesDeleted()
    return row.direction === 'outbound' || row.raw_id === null ? compose(row) : readRaw(row.raw_id)
  }

  attachments.addSource({
    async findFile(id) {
      const row = isId('message', id) ? await findMessage(id) : null
      return row && { filename: `${id}.eml`, content_type: 'message/rfc822', bytes: await readFile(row), blob_key: null }
    },
    // The sweep finds the blobs of raw messages itself.
    findNamedBlobs: async () => [],
  })

  return { readRaw, readFile }
}
