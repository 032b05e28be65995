// Operations on attachments: store, share, list and download.
import type { KeyObject } from 'node:crypto'
import { type Attachment, attachmentTextCharactersDefault, type getAttachmentText, messageBytesMax } from '@callsign/contract/attachments'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
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
import { createFileHeads, type FileHeads } from './file-heads.ts'
import { signMediaUrl, verifyMediaLink } from './link.ts'
import {
  type AttachmentInput,
  checkFilename,
  checkTotal,
  contentIdOf,
  contentTypeOf,
  type Decode,
  decodeBase64,
  type FoundFile,
  filesDeleted,
  inlineBytesMax,
  type LoadedAttachment,
  policyOf,
} from './model.ts'
import type { FileReader } from './provider.ts'
import * as store from './store.ts'
import { toAttachmentText } from './text.ts'

export { type DraftAttachment, deleteOfDraft, findFiles, moveToMessage } from './draft-store.ts'
export {
  findBytes,
  findMailboxBytes,
  findUnusedBlobs,
  insertAttachments,
  type NewAttachment,
} from './store.ts'

type AttachmentView = Static<typeof Attachment>
type StoredBytes = Pick<SourceFile, 'bytes' | 'blob_key'>

/** Attachments of messages and drafts, and the signed downloads of all files. */
export interface Attachments extends FileHeads {
  /** `GET /media/{attachment_id}`. Throws 403 for a forged or expired link, and 404 for a deleted attachment. */
  download(id: string, query: { expires: string; signature: string }): Promise<Raw>

  /**
   * Reads the attachments of a request: decodes base64, and fetches URLs through the outbound guard. Works one by one, so that the limit of
   * a message covers all of them and `otherBytes`. Throws 400 with the attachment in `field`, and 413 when the limit is exceeded.
   */
  load(inputs: AttachmentInput[] | undefined, otherBytes: number, field?: string): Promise<LoadedAttachment[]>
  /** Rows for attachments of a new message. Large bytes are durable in the blob store before this resolves. A sweep removes blobs without rows. */
  keep(organizationId: string, loaded: LoadedAttachment[]): Promise<KeptAttachment[]>
  /** Stores bytes in the row or, when large, as a blob. They are durable before this resolves. A sweep removes blobs without rows. */
  keepBytes(organizationId: string, id: string, bytes: Buffer): Promise<StoredBytes>
  /** The bytes of a file of an attachment source. */
  readFile(file: StoredBytes): Promise<Buffer>
  /** The text of an attachment of this message or draft, read on a worker thread. Throws 404 if it has no such attachment. */
  readText(
    holder: { id: string; organization_id: string },
    id: string,
    query: QueryOf<typeof getAttachmentText>,
  ): Promise<ReplyOf<typeof getAttachmentText>>
  /** The attachments of a message with their bytes, in order. */
  readAll(messageId: string): Promise<LoadedAttachment[]>

  /** Registers the files of another feature. */
  addSource(source: AttachmentSource): void
  /** A signed download link, valid for an hour or for these seconds. */
  linkTo(id: string, seconds?: number): string
  /** The attachments of a message with this number of them, for `showRows`. They never change. */
  filesOf(message: { id: string; attachment_count: number }): Promise<store.AttachmentMetadata[]>
  /** The attachments of a draft for the API, with new links. */
  showOfDraft(draftId: string): Promise<AttachmentView[]>
  /** These rows for the API, with new links. */
  showRows(rows: store.AttachmentMetadata[]): AttachmentView[]
  /** The attachments of a draft, in order, inside the caller's transaction. */
  listOfDraft(tx: Tx, draftId: string): Promise<DraftAttachment[]>
  /**
   * Rows that attach a message's files to another message without copying blobs or raw bytes. Locks the originals until the transaction
   * ends. Fewer rows than expected mean that the message is being deleted.
   */
  share(tx: Tx, messageId: string): Promise<store.NewAttachment[]>

  /** The blobs among these that attachment sources name. */
  findSourceBlobs(keys: string[]): Promise<string[]>
  /** Deletes blobs that a committed transaction released. A later sweep repeats failed deletions. */
  deleteBlobs(keys: string[]): void
}

/** An attachment whose bytes are stored, without its message or draft. */
export type KeptAttachment = Omit<store.NewAttachment, 'organization_id' | 'created_at'>

/** A file in another feature's table. Its bytes are in the row or in a blob. A page is shown by browsers instead of saved. */
export type SourceFile = { filename: string; content_type: string; bytes: Buffer | null; blob_key: string | null; isPage?: boolean }

/**
 * The files of a feature other than mail. They have attachment ids and the same download links. `findNamedBlobs` returns the blobs among
 * these that its rows name, which the sweep keeps.
 */
export type AttachmentSource = {
  findFile: (id: string) => Promise<SourceFile | null>
  findNamedBlobs: (keys: string[]) => Promise<string[]>
}

type Parts = {
  db: Database
  blobs: Blobs
  web: Web
  decode: Decode
  fileReader: FileReader
  linkKey: KeyObject
  publicUrl: () => string
}

const [linkSeconds, fetchTimeoutMs] = [3600, 15_000]

export function createAttachments({ db, blobs, web, decode, fileReader, linkKey, publicUrl }: Parts): Attachments {
  const attachmentSources: AttachmentSource[] = []
  const loadMetadata = batchLoader((messageIds) => store.findMetadata(db, messageIds))
  const loadOfDraft = batchLoader((draftIds) => findOfDrafts(db, draftIds))

  const linkTo = (id: string, seconds = linkSeconds): string =>
    signMediaUrl({ baseUrl: publicUrl(), attachmentId: id, expires: Math.floor(nowMs() / 1000) + seconds, key: linkKey })

  async function keepBytes(organizationId: string, id: string, bytes: Buffer): Promise<StoredBytes> {
    if (bytes.length <= inlineBytesMax) return { bytes, blob_key: null }
    const key = `attachments/${organizationId}/${id}`
    await blobs.put(key, bytes)
    return { bytes: null, blob_key: key }
  }

  /** The file with this attachment id, of a message, a draft or an attachment source. */
  async function findFile(id: string): Promise<FoundFile | null> {
    const row = await store.findStored(db, id)
    if (row) return { filename: row.filename, contentType: row.content_type, isPage: false, read: () => readBytes(row) }
    for (const attachmentSource of attachmentSources) {
      const file = await attachmentSource.findFile(id)
      if (file)
        return {
          filename: file.filename,
          contentType: file.content_type,
          isPage: file.isPage === true,
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
    if (row.deleted_at) throw filesDeleted()
    if (row.bytes) return row.bytes
    if (row.blob_key) return blobs.get(row.blob_key)
    const range = { start: row.raw_start as number, end: row.raw_end as number }
    const slice = row.raw_slice ?? (await blobs.get(row.raw_blob_key as string, range))
    return decode(slice, row.encoding as 'base64' | 'quoted-printable' | 'identity')
  }

  const loadRow = async (row: store.StoredAttachment): Promise<LoadedAttachment> => ({
    id: row.id,
    filename: row.filename,
    contentType: row.content_type,
    contentId: row.content_id,
    bytes: await readBytes(row),
  })

  async function readInput(input: AttachmentInput, path: string, bytesMax: number): Promise<LoadedAttachment> {
    const filename = checkFilename(input, path)
    const contentType = contentTypeOf(input, path)
    const contentId = contentIdOf(input, path)
    if ((input.content === undefined) === (input.url === undefined))
      throw invalid(path, 'an attachment requires content (base64) or url, not both')
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
    async load(inputs, otherBytes, field = 'attachments') {
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

    addSource: (source) => void attachmentSources.push(source),
    linkTo,
    keepBytes,
    ...createFileHeads({ db, blobs, decode }),
    readFile: async (file) => file.bytes ?? blobs.get(file.blob_key as string),

    findSourceBlobs: async (keys) =>
      (await Promise.all(attachmentSources.map((attachmentSource) => attachmentSource.findNamedBlobs(keys)))).flat(),

    async keep(organizationId, loaded) {
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

    filesOf: async ({ id, attachment_count }) => (attachment_count === 0 ? null : await loadMetadata(id)) ?? [],
    showOfDraft: async (draftId) => ((await loadOfDraft(draftId)) ?? []).map(toAttachment),
    showRows: (rows) => rows.map(toAttachment),

    listOfDraft: async (tx, draftId) => (await findOfDrafts(tx, [draftId])).get(draftId) ?? [],

    async share(tx, messageId) {
      return (await store.lockAttachments(tx, messageId)).map((row) => ({ ...row, id: newId('attachment') }))
    },

    deleteBlobs(keys) {
      for (const key of keys) blobs.delete(key).catch(() => {})
    },

    async readText(holder, id, query) {
      const row = await store.findStored(db, id)
      if (!row || (row.message_id ?? row.draft_id) !== holder.id) throw notFound('attachment')
      const { filename, content_type: contentType } = row
      const charactersMax = query.max_characters ?? attachmentTextCharactersDefault
      const file = { bytes: () => readBytes(row), filename, contentType, charactersMax, owner: holder.organization_id }
      return toAttachmentText({ id, filename, contentType }, await fileReader.read(file))
    },

    readAll: async (messageId) => Promise.all((await store.listStored(db, messageId)).map(loadRow)),

    async download(id, query) {
      const verdict = verifyMediaLink({
        attachmentId: id,
        expires: query.expires,
        signature: query.signature,
        key: linkKey,
        nowSeconds: Math.floor(nowMs() / 1000),
      })
      if (verdict !== 'valid') {
        throw forbidden(
          verdict === 'expired' ? 'This link has expired. Get the message again for a new one.' : 'The signature of this link is wrong.',
        )
      }
      const file = await findFile(id)
      if (!file) throw notFound('attachment')
      return new Raw(file.contentType, await file.read(), {
        'content-disposition': file.isPage ? 'inline' : contentDisposition(file.filename),
        'content-security-policy': policyOf(file),
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
