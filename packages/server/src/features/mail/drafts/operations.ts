// Operations on drafts: write, read, list, delete, and the one transaction that turns a draft into a message.
import { messageBytesMax } from '@callsign/contract/attachments'
import { type createDraft, draftAttachmentsMax, type sendDraft, type updateDraft } from '@callsign/contract/drafts'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { CancelJob, Enqueue } from '../../../core/job.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { approvalRequired, type Identities, needsApproval } from '../../account/identities/operations.ts'
import { checkTotal } from '../attachments/model.ts'
import { type Attachments, deleteOfDraft, insertAttachments, moveToMessage } from '../attachments/operations.ts'
import type { MessageRow } from '../messages/model.ts'
import type { Messages } from '../messages/operations.ts'
import {
  answerTo,
  bodyBytes,
  checkRecipients,
  forwardedIsGone,
  forwardOf,
  type OutgoingMessage,
  orGone,
  readAddresses,
} from '../outbound/model.ts'
import type { OutboundMail } from '../outbound/operations.ts'
import { asEntries, checkComplete, checkRecipientCount, type DraftRow, previewOf, readFields, sendDraftJob, toDraft } from './model.ts'
import * as store from './store.ts'

export type Drafts = ReturnType<typeof createDrafts>

type CreateBody = Static<NonNullable<typeof createDraft.body>>
type UpdateBody = Static<NonNullable<typeof updateDraft.body>>
type SendBody = Static<NonNullable<typeof sendDraft.body>>

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  messages: Messages
  outboundMail: OutboundMail
  enqueue: Enqueue
  cancelJob: CancelJob
}

export function createDrafts({ db, identities, attachments, messages, outboundMail, enqueue, cancelJob }: Parts) {
  const loadDraft = batchLoader((ids) => store.findDrafts(db.lookups, ids))

  const show = async (row: DraftRow) => toDraft(row, row.attachment_count > 0 ? await attachments.showOfDraft(row.id) : [])

  async function findOwn(owner: MailboxOwner, id: string): Promise<DraftRow | null> {
    const row = await loadDraft(id)
    return row?.mailbox_id === owner.mailboxId ? row : null
  }

  /** Why a draft is not there: it was sent, which changes and sends are told with this code, or there is none. */
  async function absence(
    sql: Sql,
    owner: MailboxOwner,
    id: string,
    code: 'draft_not_editable' | 'draft_send_in_progress',
  ): Promise<ApiError> {
    if (!(await store.isSent(sql, owner.mailboxId, id))) return notFound('draft')
    return new ApiError(
      code,
      code === 'draft_not_editable' ? 'This draft has been sent: it cannot be changed.' : 'This draft has been sent already.',
    )
  }

  function checkVersion(row: DraftRow, version: number | undefined): void {
    if (version !== undefined && version !== row.version)
      throw new ApiError('draft_version_conflict', `The draft is at version ${row.version}, not ${version}: get it again and reapply.`)
  }

  /** Under draft approval an agent may neither schedule a draft nor change one that is scheduled. */
  function checkSchedule(caller: Caller, owner: MailboxOwner, row: DraftRow): void {
    if (row.send_at !== null && needsApproval(caller, owner)) throw approvalRequired()
  }

  /** Makes the job of a scheduled draft. */
  const schedule = async (tx: Tx, row: DraftRow, at: Date): Promise<void> => {
    if (row.job_id === null || row.send_at === null) return
    const delayMs = row.send_at.getTime() - at.getTime()
    await enqueue(tx, [{ id: row.job_id, kind: sendDraftJob, organizationId: row.organization_id, subject: row.id, delayMs }])
  }

  /** The message that a draft forwards, null when it forwards none. 409 when it is gone. */
  async function findForwarded(row: DraftRow): Promise<MessageRow | null> {
    if (row.forward_of_message_id === null) return null
    const found = await messages.findMessage(row.forward_of_message_id)
    if (!found) throw forwardedIsGone()
    return found
  }

  /**
   * Turns a held draft into a queued message: message, job, attachments and the draft's end are one transaction with whatever else the
   * caller puts in it, so a draft is sent at most once and never half. Throws ApiError when it cannot be sent as it is.
   */
  async function queueDraft(tx: Tx, owner: MailboxOwner, row: DraftRow, forwarded: MessageRow | null) {
    checkComplete(row)
    const recipients = checkRecipients({
      to: readAddresses('to', row.to_addresses),
      cc: readAddresses('cc', row.cc_addresses),
      bcc: readAddresses('bcc', row.bcc_addresses),
    })
    const own = row.attachment_count > 0 ? await attachments.listOfDraft(tx, row.id) : []
    const moved = { count: own.length, sizeBytes: own.reduce((sum, one) => sum + one.size_bytes, 0) }
    const content = forwarded ? forwardOf(forwarded, row) : { subject: '', text: row.text ?? '', html: row.html ?? '' }
    checkTotal(bodyBytes(content) + moved.sizeBytes, messageBytesMax)
    const along =
      forwarded && row.forward_attachments ? await outboundMail.shareAttachments(tx, forwarded, bodyBytes(content) + moved.sizeBytes) : []
    const outgoing: OutgoingMessage = {
      recipients,
      replyTo: [],
      subject: row.subject ?? content.subject,
      text: content.text,
      html: content.html,
      headers: row.headers,
      autoSubmitted: null,
      attachments: along,
      moved,
      parent:
        row.in_reply_to_message_id === null
          ? null
          : { id: row.in_reply_to_message_id, messageId: row.in_reply_to, references: row.reference_ids },
      threadId: row.thread_id,
    }
    const queued = await outboundMail.queueMessage(tx, owner, outgoing)
    if (moved.count > 0) await moveToMessage(tx, row.id, queued.id, along.length)
    await Promise.all([store.endDraft(tx, row, queued.id, queued.at), row.job_id === null ? null : cancelJob(tx, row.job_id)])
    return queued
  }

  return {
    queueDraft,
    findForwarded,

    /** `POST …/drafts`. A reply takes recipients, subject and thread from its message, a forward the subject, unless they are given. */
    async createDraft(call: Call, mailbox: string, body: CreateBody = {}) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const at = now()
      const fields = readFields(body, at.getTime())
      if (body.in_reply_to !== undefined && body.forward_of !== undefined)
        throw invalid('/forward_of', 'a draft answers a message or forwards one, not both')
      const source = body.in_reply_to ?? body.forward_of
      const message = source === undefined ? null : await messages.requireAnswerable(call.caller, mailbox, source)
      const answer = message && body.in_reply_to !== undefined ? answerTo(message, owner.address, body.reply_all ?? false) : null
      const text = fields.text ?? null
      const html = fields.html ?? null
      const sendAt = fields.send_at ?? null
      const row: DraftRow = {
        id: newId('draft'),
        organization_id: owner.organizationId,
        mailbox_id: owner.mailboxId,
        thread_id: answer && message ? message.thread_id : null,
        in_reply_to_message_id: body.in_reply_to ?? null,
        in_reply_to: answer?.parent.messageId ?? null,
        reference_ids: answer?.parent.references ?? [],
        forward_of_message_id: body.forward_of ?? null,
        reply_all: body.reply_all ?? false,
        forward_attachments: body.forward_attachments ?? true,
        to_addresses: fields.to_addresses ?? asEntries(answer?.to ?? []),
        cc_addresses: fields.cc_addresses ?? asEntries(answer?.cc ?? []),
        bcc_addresses: fields.bcc_addresses ?? [],
        subject: fields.subject ?? answer?.subject ?? (message && !answer ? forwardOf(message, {}).subject : null),
        snippet: previewOf({ text, html }),
        text,
        html,
        headers: fields.headers ?? {},
        version: 1,
        attachment_count: body.attachments?.length ?? 0,
        send_at: sendAt,
        job_id: sendAt ? newId('job') : null,
        send_error: null,
        is_written_by_agent: call.caller.agent !== null,
        change_id: newId('draft'),
        created_at: at,
        updated_at: at,
      }
      checkRecipientCount(row)
      checkSchedule(call.caller, owner, row)
      const loaded = await attachments.load(body.attachments, bodyBytes(row))
      const kept = await attachments.keep(owner.organizationId, loaded)
      return call
        .transact(async (tx) => {
          await Promise.all([
            store.insertDraft(tx, row),
            insertAttachments(
              tx,
              kept.map((one) => ({ ...one, draft_id: row.id, organization_id: row.organization_id, created_at: at })),
            ),
            schedule(tx, row, at),
          ])
          return toDraft(row, attachments.showRows(kept))
        })
        .catch(orGone)
    },

    /** `GET …/drafts`. */
    async listDrafts(caller: Caller, mailbox: string, { limit = 50, offset = 0 }: { limit?: number; offset?: number }) {
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const [rows, count] = await Promise.all([store.listDrafts(db, mailboxId, limit, offset), store.countDrafts(db, mailboxId)])
      return { drafts: await Promise.all(rows.map(show)), count, limit, offset }
    },

    /** `GET …/drafts/{draft_id}`. */
    async getDraft(caller: Caller, mailbox: string, id: string) {
      const row = await findOwn(await identities.requireMailbox(caller, mailbox), id)
      if (!row) throw notFound('draft')
      return show(row)
    },

    /** `PATCH …/drafts/{draft_id}`. */
    async updateDraft(call: Call, mailbox: string, id: string, body: UpdateBody) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const fields = readFields(body, now().getTime())
      // Asked before any attachment is stored; what counts is asked again below, with the draft held.
      const seen = await findOwn(owner, id)
      if (!seen) throw await absence(db, owner, id, 'draft_not_editable')
      checkVersion(seen, body.version)
      const loaded = await attachments.load(body.add_attachments, 0, 'add_attachments')
      const added = await attachments.keep(owner.organizationId, loaded)
      return call.transact(async (tx) => {
        const before = await store.lockDraft(tx, owner.mailboxId, id)
        const at = now()
        if (!before) throw await absence(tx, owner, id, 'draft_not_editable')
        checkVersion(before, body.version)
        const present = before.attachment_count > 0 ? await attachments.listOfDraft(tx, id) : []
        const removed = new Set(body.remove_attachments ?? [])
        for (const [index, one] of (body.remove_attachments ?? []).entries())
          if (!present.some((row) => row.id === one))
            throw invalid(`/remove_attachments/${index}`, 'no attachment of this draft has that id')
        const kept = present.filter((row) => !removed.has(row.id))
        if (kept.length + added.length > draftAttachmentsMax)
          throw invalid('/add_attachments', `a draft has at most ${draftAttachmentsMax} attachments`)
        const isMoved = fields.send_at !== undefined
        const changed = { ...before, ...fields }
        const row: DraftRow = {
          ...changed,
          snippet: previewOf(changed),
          version: before.version + 1,
          attachment_count: kept.length + added.length,
          job_id: isMoved ? (fields.send_at ? newId('job') : null) : before.job_id,
          send_error: null,
          is_written_by_agent: call.caller.agent !== null,
          change_id: newId('draft'),
          updated_at: at,
        }
        checkRecipientCount(row)
        checkSchedule(call.caller, owner, row)
        checkTotal(bodyBytes(row) + [...kept, ...added].reduce((sum, one) => sum + one.size_bytes, 0), messageBytesMax)
        const first = (kept.at(-1)?.position ?? -1) + 1
        const inserted = added.map((one, index) => ({
          ...one,
          position: first + index,
          draft_id: id,
          organization_id: row.organization_id,
          created_at: at,
        }))
        await Promise.all([
          store.updateDraft(tx, row),
          removed.size > 0 ? deleteOfDraft(tx, id, [...removed]) : null,
          insertAttachments(tx, inserted),
          isMoved && before.job_id !== null ? cancelJob(tx, before.job_id) : null,
          isMoved ? schedule(tx, row, at) : null,
        ])
        const blobKeys = present.filter((one) => removed.has(one.id)).flatMap((one) => one.blob_key ?? [])
        tx.afterCommit(() => attachments.deleteBlobs(blobKeys))
        return toDraft(row, attachments.showRows([...kept, ...inserted]))
      })
    },

    /** `DELETE …/drafts/{draft_id}`. */
    async deleteDraft(call: Call, mailbox: string, id: string) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const row = await store.lockDraft(tx, owner.mailboxId, id)
        if (!row) throw notFound('draft')
        const present = row.attachment_count > 0 ? await attachments.listOfDraft(tx, id) : []
        await Promise.all([store.deleteDraft(tx, id), row.job_id === null ? null : cancelJob(tx, row.job_id)])
        tx.afterCommit(() => attachments.deleteBlobs(present.flatMap((one) => one.blob_key ?? [])))
        return { id, deleted: true as const }
      })
    },

    /** `POST …/drafts/{draft_id}/send`. Of concurrent sends the first to hold the draft goes; the others find that it is sent. */
    async sendDraft(call: Call, mailbox: string, id: string, body: SendBody = {}) {
      const owner = await identities.requireSender(call.caller, mailbox)
      const overrides = readFields(body, now().getTime())
      const seen = await findOwn(owner, id)
      if (!seen) throw await absence(db, owner, id, 'draft_send_in_progress')
      const forwarded = await findForwarded(seen)
      return call
        .transact(async (tx) => {
          const row = await store.lockDraft(tx, owner.mailboxId, id)
          if (!row) throw await absence(tx, owner, id, 'draft_send_in_progress')
          checkVersion(row, body.version)
          const queued = await queueDraft(tx, owner, { ...row, ...overrides }, forwarded)
          return { id: queued.id, thread_id: queued.threadId, status: 'sent' as const }
        })
        .catch(orGone)
    },
  }
}
