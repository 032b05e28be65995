// Turns a draft into a queued message: composes and inspects it before the transaction that queues it.
import { isDeepStrictEqual } from 'node:util'
import { messageBytesMax } from '@callsign/contract/attachments'
import { BlobMissing } from '../../../core/blobs.ts'
import { ApiError } from '../../../core/errors.ts'
import type { CancelJob } from '../../../core/job.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { bytesOf, checkTotal } from '../attachments/model.ts'
import { type Attachments, findFiles, moveToMessage } from '../attachments/operations.ts'
import type { Messages } from '../messages/operations.ts'
import {
  bodyBytes,
  checkRecipients,
  forwardedIsGone,
  type Inspection,
  type PreparedContent,
  type Queued,
  readAddresses,
} from '../outbound/model.ts'
import type { OutboundMail } from '../outbound/operations.ts'
import type { Storage } from '../storage/operations.ts'
import type { MessageRow } from '../stored/model.ts'
import { type ComposedDraft, composeDraft, type Forwarded } from './composed-draft.ts'
import { checkComplete, type DraftRow, type SentBy } from './model.ts'
import * as store from './store.ts'

type Parts = {
  db: Database
  attachments: Attachments
  messages: Messages
  outboundMail: OutboundMail
  storage: Storage
  cancelJob: CancelJob
}

/** The message that a draft would be sent as, with what a search of all of it has found. `row` may have fields of this send only. */
export type PreparedDraft = PreparedContent & {
  row: DraftRow
  forwarded: MessageRow | null
  composed: ComposedDraft
  /** In the order in which they are sent. */
  files: { filename: string; content_type: string; size_bytes: number; is_forwarded: boolean }[]
}

/** Another call has changed a draft since it was inspected. */
class DraftChanged extends ApiError {
  constructor() {
    super('draft_version_conflict', 'The draft was changed at the same time. Get it again and retry.')
  }
}

const triesMax = 10

/** Inspects a draft and then writes it, and does both again if another call has changed the draft in between. */
export async function inspectThenWrite<P, R>(inspect: () => Promise<P>, write: (inspected: P) => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await write(await inspect())
    } catch (error) {
      if (!(error instanceof DraftChanged) || tries === triesMax) throw error
    }
  }
}

/** Throws when a locked draft is not the one that was inspected, by its version or by its fields. */
export function checkUnchanged<T extends number | object>(locked: T, inspected: T): void {
  if (!isDeepStrictEqual(locked, inspected)) throw new DraftChanged()
}

export function createDraftQueue({ db, attachments, messages, outboundMail, storage, cancelJob }: Parts) {
  async function findForwarded(row: DraftRow): Promise<MessageRow | null> {
    if (row.forward_of_message_id === null) return null
    const found = await messages.findMessage(row.forward_of_message_id)
    if (!found) throw forwardedIsGone()
    return found
  }

  const quoteFor = async (row: DraftRow, message: MessageRow | null): Promise<Forwarded | null> =>
    message && { message, bodies: await outboundMail.quote(message, row) }

  /** Inspects the text of a draft that is being written. Its files are searched when it is sent. */
  async function inspectText(owner: MailboxOwner, row: DraftRow, keyId: string | null): Promise<Inspection> {
    const message = row.forward_of_message_id === null ? null : await messages.findMessage(row.forward_of_message_id)
    const composed = composeDraft(owner, row, await quoteFor(row, message))
    return outboundMail.inspect(owner, { ...composed, keyId, files: [], searched: { fileBytes: 0, readFiles: async () => [] } })
  }

  /** Throws when the draft, or the message that it forwards, was changed or deleted with its files since it was read. */
  async function checkFilesExist(row: DraftRow): Promise<void> {
    await findForwarded(row)
    const [current] = (await store.findDrafts(db, [row.id])).values()
    if (current?.version !== row.version) throw new DraftChanged()
  }

  /** Composes and inspects a draft with all its files. May take seconds, so never within a transaction. */
  async function prepareDraft(owner: MailboxOwner, row: DraftRow, keyId: string | null): Promise<PreparedDraft> {
    const forwarded = await findForwarded(row)
    const composed = composeDraft(owner, row, await quoteFor(row, forwarded))
    const [own, shared] = await Promise.all([
      row.attachment_count > 0 ? findFiles(db, row.id) : [],
      forwarded && row.forward_attachments ? attachments.filesOf(forwarded) : [],
    ])
    const prepared = await outboundMail.prepareContent(owner, {
      ...composed,
      keyId,
      files: [...shared, ...own],
      searched: {
        fileBytes: bytesOf([...shared, ...own]),
        readFiles: async (bytesMax) => {
          try {
            const heads = forwarded && shared.length > 0 ? await attachments.readHeadsOf(forwarded.id, bytesMax) : []
            return [...heads, ...(await attachments.readHeads(own, bytesMax))]
          } catch (error) {
            if (error instanceof BlobMissing) await checkFilesExist(row)
            throw error
          }
        },
      },
    })
    const toFile = (is_forwarded: boolean) => (file: { filename: string; content_type: string; size_bytes: number }) => {
      const { filename, content_type, size_bytes } = file
      return { filename, content_type, size_bytes, is_forwarded }
    }
    return { row, forwarded, composed, files: [...shared.map(toFile(true)), ...own.map(toFile(false))], ...prepared }
  }

  /** Queues a prepared draft, whose row is locked. Throws `DraftChanged` when the row has another version. */
  async function queueDraft(tx: Tx, owner: MailboxOwner, locked: DraftRow, prepared: PreparedDraft, by: SentBy): Promise<Queued> {
    const { row, forwarded, composed, text, inspection } = prepared
    checkUnchanged(locked.version, row.version)
    checkComplete(row)
    const recipients = checkRecipients({
      to: readAddresses('to', row.to_addresses),
      cc: readAddresses('cc', row.cc_addresses),
      bcc: readAddresses('bcc', row.bcc_addresses),
    })
    const replyTo = readAddresses('reply_to', row.reply_to)
    const from = await outboundMail.chooseAuthor(owner, row.from_entry)
    const own = row.attachment_count > 0 ? await attachments.listOfDraft(tx, row.id) : []
    const moved = { count: own.length, sizeBytes: bytesOf(own) }
    const bytes = bodyBytes(composed) + moved.sizeBytes
    checkTotal(bytes, messageBytesMax)
    const shared = forwarded && row.forward_attachments ? await outboundMail.shareAttachments(tx, forwarded, bytes) : []
    const queued = await outboundMail.queueMessage(tx, {
      owner,
      text,
      outgoing: { ...composed, from, recipients, replyTo, attachments: shared, moved, ...by },
      // A message that a person has approved is not counted as an answer.
      inspection: by.isApproved ? { ...inspection, answered: [] } : inspection,
    })
    // They are counted with the message now.
    await storage.change(tx, owner, -moved.sizeBytes)
    if (moved.count > 0) await moveToMessage(tx, row.id, queued.id, shared.length)
    await Promise.all([store.endDraft(tx, row, queued.id, queued.at), row.job_id === null ? null : cancelJob(tx, row.job_id)])
    return queued
  }

  return { inspectText, prepareDraft, queueDraft }
}
