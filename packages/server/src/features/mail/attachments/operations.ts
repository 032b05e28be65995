// Operations on attachments: take what callers give, show what messages carry, and serve the signed downloads.
import { type Attachment, messageBytesMax } from '@callsign/contract/attachments'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Blobs } from '../../../core/blobs.ts'
import { nowMs } from '../../../core/clock.ts'
import { forbidden, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { Raw } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import { FetchRefused, type Web } from '../../../core/web.ts'
import { type DraftAttachment, findOfDrafts } from './draft-store.ts'
import { signMediaUrl, verifyMediaLink } from './link.ts'
import {
  type AttachmentInput,
  checkFilename,
  checkTotal,
  contentIdOf,
  contentTypeOf,
  decodeBase64,
  inlineBytesMax,
  type LoadedAttachment,
} from './model.ts'
import * as store from './store.ts'

export { type DraftAttachment, deleteOfDraft, moveToMessage } from './draft-store.ts'
export {
  findBytes,
  findMailboxBytes,
  findUnusedBlobs,
  insertAttachments,
  type NewAttachment,
} from './store.ts'

export type Attachments = ReturnType<typeof createAttachments>

/** Decodes a range of a raw message; the MIME parser's own decoder, which app.ts hands in. */
export type Decode = (bytes: Buffer, encoding: 'base64' | 'quoted-printable' | 'identity') => Buffer

/** A file that a feature keeps in a table of its own; its bytes are in the row or in a blob. */
export type ShelvedFile = { filename: string; content_type: string; bytes: Buffer | null; blob_key: string | null }

/**
 * The files of a feature whose messages are no mail. They have attachment ids and are downloaded by the same links; `findNamedBlobs` gives
 * those among some blobs that its rows name, which the sweep leaves alone.
 */
export type AttachmentSource = {
  findFile: (id: string) => Promise<ShelvedFile | null>
  findNamedBlobs: (keys: string[]) => Promise<string[]>
}

type Parts = {
  db: Database
  blobs: Blobs
  web: Web
  decode: Decode
  linkKey: Buffer
  publicUrl: () => string
}

const linkSeconds = 3600
const fetchTimeoutMs = 15_000

export function createAttachments({ db, blobs, web, decode, linkKey, publicUrl }: Parts) {
  const attachmentSources: AttachmentSource[] = []
  const loadMetadata = batchLoader((messageIds) => store.findMetadata(db.lookups, messageIds))
  const loadOfDraft = batchLoader((draftIds) => findOfDrafts(db.lookups, draftIds))

  const linkTo = (id: string): string =>
    signMediaUrl({ baseUrl: publicUrl(), attachmentId: id, expires: Math.floor(nowMs() / 1000) + linkSeconds, key: linkKey })

  /** Puts bytes where they belong by their size; they are durable before this resolves. A sweep removes them if no row follows. */
  async function keepBytes(organizationId: string, id: string, bytes: Buffer): Promise<Pick<ShelvedFile, 'bytes' | 'blob_key'>> {
    if (bytes.length <= inlineBytesMax) return { bytes, blob_key: null }
    const key = `attachments/${organizationId}/${id}`
    await blobs.put(key, bytes)
    return { bytes: null, blob_key: key }
  }

  /** The file that an attachment id names, wherever it is kept. */
  async function findFile(id: string): Promise<{ filename: string; contentType: string; read: () => Promise<Buffer> } | null> {
    const row = await store.findStored(db, id)
    if (row) return { filename: row.filename, contentType: row.content_type, read: () => readBytes(row) }
    for (const attachmentSource of attachmentSources) {
      const file = await attachmentSource.findFile(id)
      if (file)
        return {
          filename: file.filename,
          contentType: file.content_type,
          read: async () => file.bytes ?? blobs.get(file.blob_key as string),
        }
    }
    return null
  }

  const toAttachment = (row: store.AttachmentMetadata): Static<typeof Attachment> => ({
    id: row.id,
    filename: row.filename,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    content_id: row.content_id,
    url: linkTo(row.id),
  })

  async function readBytes(row: store.StoredAttachment): Promise<Buffer> {
    if (row.bytes) return row.bytes
    if (row.blob_key) return blobs.get(row.blob_key)
    const range = { start: row.raw_start as number, end: row.raw_end as number }
    const slice = row.raw_slice ?? (await blobs.get(row.raw_blob_key as string, range))
    return decode(slice, row.encoding as 'base64' | 'quoted-printable' | 'identity')
  }

  async function readInput(input: AttachmentInput, path: string, bytesMax: number): Promise<LoadedAttachment> {
    const filename = checkFilename(input, path)
    const contentType = contentTypeOf(input, path)
    const contentId = contentIdOf(input, path)
    if ((input.content === undefined) === (input.url === undefined))
      throw invalid(path, 'an attachment needs either content (base64) or url')
    const bytes = input.url === undefined ? decodeBase64(input.content as string, path) : await download(input.url, `${path}/url`, bytesMax)
    return { id: newId('attachment'), filename, contentType, contentId, bytes }
  }

  async function download(url: string, path: string, bytesMax: number): Promise<Buffer> {
    try {
      return (await web.fetchFile(url, { bytesMax, timeoutMs: fetchTimeoutMs })).bytes
    } catch (error) {
      if (error instanceof FetchRefused) throw invalid(path, error.message)
      throw error
    }
  }

  return {
    /**
     * Takes the attachments of a request: decodes base64, fetches URLs through the outbound guard, one after the other so that the
     * message's limit holds for all of them together. 400 names the attachment in `field`, 413 when it gets too large.
     */
    async load(inputs: AttachmentInput[] | undefined, otherBytes: number, field = 'attachments'): Promise<LoadedAttachment[]> {
      const loaded: LoadedAttachment[] = []
      let total = otherBytes
      checkTotal(total, messageBytesMax)
      for (const [index, input] of (inputs ?? []).entries()) {
        const attachment = await readInput(input, `/${field}/${index}`, messageBytesMax - total)
        total += attachment.bytes.length
        checkTotal(total, messageBytesMax)
        loaded.push(attachment)
      }
      return loaded
    },

    /** Registers the files of another feature. */
    addSource: (source: AttachmentSource): void => void attachmentSources.push(source),

    linkTo,
    keepBytes,

    /** The bytes of a file that somebody's attachmentSource holds. */
    readFile: async (file: Pick<ShelvedFile, 'bytes' | 'blob_key'>): Promise<Buffer> => file.bytes ?? blobs.get(file.blob_key as string),

    /** Those among these blobs that files on attachmentSources are kept in. */
    findSourceBlobs: async (keys: string[]): Promise<string[]> =>
      (await Promise.all(attachmentSources.map((attachmentSource) => attachmentSource.findNamedBlobs(keys)))).flat(),

    /** Rows for a new message's attachments. Large bytes are durable in the blob store before this resolves; a sweep removes them if no row follows. */
    async keep(organizationId: string, loaded: LoadedAttachment[]) {
      return Promise.all(
        loaded.map(async (attachment, position) => {
          const kept = await keepBytes(organizationId, attachment.id, attachment.bytes)
          return {
            id: attachment.id,
            position,
            filename: attachment.filename,
            content_type: attachment.contentType,
            content_id: attachment.contentId,
            is_inline: attachment.contentId !== null,
            size_bytes: attachment.bytes.length,
            raw_start: null,
            raw_end: null,
            encoding: null,
            ...kept,
          }
        }),
      )
    },

    /** What the API shows of a message's attachments, with freshly signed links. */
    show: async (messageId: string) => ((await loadMetadata(messageId)) ?? []).map(toAttachment),

    /** The same of a draft's, and of rows that the caller has. */
    showOfDraft: async (draftId: string) => ((await loadOfDraft(draftId)) ?? []).map(toAttachment),
    showRows: (rows: store.AttachmentMetadata[]) => rows.map(toAttachment),

    /** A draft's attachments inside the caller's transaction, in order. */
    listOfDraft: async (tx: Tx, draftId: string): Promise<DraftAttachment[]> => (await findOfDrafts(tx, [draftId])).get(draftId) ?? [],

    /**
     * Rows that give a message's attachments to another message as well, without a second copy of blobs and raw bytes. The message's own
     * stay until the transaction ends; fewer than it should have means that it is being deleted.
     */
    async share(tx: Tx, messageId: string): Promise<store.NewAttachment[]> {
      return (await store.holdAttachments(tx, messageId)).map((row) => ({ ...row, id: newId('attachment') }))
    },

    /** Deletes blobs that a committed transaction let go. What fails here is swept later. */
    deleteBlobs(keys: string[]): void {
      for (const key of keys) blobs.delete(key).catch(() => {})
    },

    /** The attachments of a message with their bytes, in order. */
    async readAll(messageId: string): Promise<LoadedAttachment[]> {
      const rows = await store.listStored(db, messageId)
      return Promise.all(
        rows.map(async (row) => ({
          id: row.id,
          filename: row.filename,
          contentType: row.content_type,
          contentId: row.content_id,
          bytes: await readBytes(row),
        })),
      )
    },

    /** `GET /media/{attachment_id}`: 403 when the link is forged or expired, 404 when the attachment is gone. */
    async download(id: string, query: { expires: string; signature: string }): Promise<Raw> {
      const verdict = verifyMediaLink({
        attachmentId: id,
        expires: query.expires,
        signature: query.signature,
        key: linkKey,
        nowSeconds: Math.floor(nowMs() / 1000),
      })
      if (verdict !== 'valid') {
        throw forbidden(
          verdict === 'expired' ? 'This link has expired; get the message again for a fresh one.' : 'This link is not one of ours.',
        )
      }
      const file = await findFile(id)
      if (!file) throw notFound('attachment')
      return new Raw(file.contentType, await file.read(), {
        'content-disposition': contentDisposition(file.filename),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
        'cross-origin-resource-policy': 'same-origin',
      })
    },
  }
}

/** RFC 6266: an ASCII name for old clients, and the exact one in UTF-8. */
export function contentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`
}
