// Turns a draft into a queued message, in the caller's transaction.
import { messageBytesMax } from '@callsign/contract/attachments'
import type { CancelJob } from '../../../core/job.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { checkTotal } from '../attachments/model.ts'
import { type Attachments, findFiles, moveToMessage } from '../attachments/operations.ts'
import type { MessageRow } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import {
  bodyBytes,
  checkRecipients,
  forwardedIsGone,
  forwardOf,
  type GuardedFile,
  type OutgoingMessage,
  type Queued,
  readAddresses,
} from '../outbound/model.ts'
import type { OutboundMail } from '../outbound/operations.ts'
import type { Storage } from '../storage/operations.ts'
import { checkComplete, type DraftRow, toInspected } from './model.ts'
import * as store from './store.ts'

type Parts = { attachments: Attachments; messages: Messages; outboundMail: OutboundMail; storage: Storage; cancelJob: CancelJob }

export function createDraftQueue({ attachments, messages, outboundMail, storage, cancelJob }: Parts) {
  async function findForwarded(row: DraftRow): Promise<MessageRow | null> {
    if (row.forward_of_message_id === null) return null
    const found = await messages.findMessage(row.forward_of_message_id)
    if (!found) throw forwardedIsGone()
    return found
  }

  async function queueDraft(
    tx: Tx,
    owner: MailboxOwner,
    row: DraftRow,
    forwarded: MessageRow | null,
    by: { keyId: string | null; isApproved: boolean },
  ): Promise<Queued> {
    checkComplete(row)
    const recipients = checkRecipients({
      to: readAddresses('to', row.to_addresses),
      cc: readAddresses('cc', row.cc_addresses),
      bcc: readAddresses('bcc', row.bcc_addresses),
    })
    const from = await outboundMail.chooseAuthor(owner, row.from_entry)
    const own = row.attachment_count > 0 ? await attachments.listOfDraft(tx, row.id) : []
    const moved = {
      count: own.length,
      sizeBytes: own.reduce((sum, one) => sum + one.size_bytes, 0),
      files: own.length === 0 ? [] : await findFiles(tx, row.id),
    }
    const content = forwarded ? forwardOf(forwarded, row) : { subject: '', text: row.text ?? '', html: row.html ?? '' }
    checkTotal(bodyBytes(content) + moved.sizeBytes, messageBytesMax)
    const shared =
      forwarded && row.forward_attachments ? await outboundMail.shareAttachments(tx, forwarded, bodyBytes(content) + moved.sizeBytes) : []
    const outgoing: OutgoingMessage = {
      from,
      recipients,
      replyTo: readAddresses('reply_to', row.reply_to),
      subject: row.subject ?? content.subject,
      text: content.text,
      html: content.html,
      headers: row.headers,
      labels: row.labels,
      tags: row.tags,
      metadata: row.metadata,
      autoSubmitted: row.is_automatic ? 'auto-generated' : null,
      attachments: shared,
      ...by,
      moved,
      parent:
        row.in_reply_to_message_id === null
          ? null
          : { id: row.in_reply_to_message_id, messageId: row.in_reply_to, references: row.reference_ids },
      threadId: row.thread_id,
    }
    const queued = await outboundMail.queueMessage(tx, owner, outgoing)
    // They are counted with the message now.
    await storage.change(tx, owner, -moved.sizeBytes)
    if (moved.count > 0) await moveToMessage(tx, row.id, queued.id, shared.length)
    await Promise.all([store.endDraft(tx, row, queued.id, queued.at), row.job_id === null ? null : cancelJob(tx, row.job_id)])
    return queued
  }

  /** Searches a draft for reasons to hold it. */
  const inspectDraft = (sql: Sql | undefined, owner: MailboxOwner, row: DraftRow, files: GuardedFile[] = []) =>
    outboundMail.inspect(owner, { ...toInspected(row), files }, sql)

  return { findForwarded, queueDraft, inspectDraft }
}
