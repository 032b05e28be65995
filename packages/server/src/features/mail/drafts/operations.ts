// Operations on drafts: create, read, list, change, delete and send.
import type { reviewDraft } from '@callsign/contract/approvals'
import type { listDrafts } from '@callsign/contract/draft-lists'
import type * as contract from '@callsign/contract/drafts'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { batchLoader } from '../../../core/batch.ts'
import { type Caller, keyIdOf, mayApprove, requireScope } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import type { CancelJob, Enqueue } from '../../../core/job.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { approvalRequired, type Identities, needsApproval } from '../../account/identities/operations.ts'
import { type Accounts, actorOf, createOnce } from '../../account/organizations/operations.ts'
import { bytesOf } from '../attachments/model.ts'
import { type Attachments, insertAttachments } from '../attachments/operations.ts'
import type { ContentWriter, Messages } from '../messages/operations.ts'
import { bodyBytes, orGone, type Queued } from '../outbound/model.ts'
import { findPlace, type OutboundMail } from '../outbound/operations.ts'
import type { Storage } from '../storage/operations.ts'
import { checkReviewer } from './approval.ts'
import { createApprovalReview } from './approval-review.ts'
import { type ApprovalChanges, type Approvals, createApprovals } from './approvals.ts'
import { createDraftChange } from './draft-change.ts'
import { createDraftQueue, type PreparedDraft } from './draft-queue.ts'
import { createDraftSend } from './draft-send.ts'
import { findByClientId } from './lookup.ts'
import { checkRecipientCount, checkVersion, type DraftRow, placedAfter, readFields, type SentBy, sendDraftJob, toDraft } from './model.ts'
import { newDraft } from './new-draft.ts'
import { createDraftReview, type DraftReview } from './review.ts'
import * as store from './store.ts'

type CreateBody = BodyOf<typeof contract.createDraft>
type UpdateBody = BodyOf<typeof contract.updateDraft>
type SendBody = BodyOf<typeof contract.sendDraft>
type DraftView = ReplyOf<typeof contract.getDraft>

/** Drafts: messages that can be changed until they are sent. */
export interface Drafts extends DraftReview, Approvals {
  /** `POST …/drafts`: a reply copies recipients, subject and thread from its message, a forward copies the subject. Given fields win. */
  createDraft(call: Call, mailbox: string, body?: CreateBody): Promise<DraftView>
  /** `GET …/drafts`: latest change first. */
  listDrafts(caller: Caller, mailbox: string, query: QueryOf<typeof listDrafts>): Promise<ReplyOf<typeof listDrafts>>
  /** `GET …/drafts/{draft_id}`. */
  getDraft(caller: Caller, mailbox: string, id: string): Promise<DraftView>
  /** `PATCH …/drafts/{draft_id}`. */
  updateDraft(call: Call, mailbox: string, id: string, body: UpdateBody): Promise<DraftView>
  /** `DELETE …/drafts/{draft_id}`. */
  deleteDraft(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.deleteDraft>>
  /** `POST …/drafts/{draft_id}/send`: of concurrent sends one succeeds, and the others throw `draft_send_in_progress`. */
  sendDraft(call: Call, mailbox: string, id: string, body?: SendBody): Promise<ReplyOf<typeof contract.sendDraft>>

  /** `GET …/drafts/{draft_id}/review`. */
  reviewDraft(caller: Caller, mailbox: string, id: string): Promise<ReplyOf<typeof reviewDraft>>

  approvals: ApprovalChanges
  /** The message that approval would send, with its warnings. */
  review(owner: MailboxOwner, row: DraftRow): Promise<ReplyOf<typeof reviewDraft>>
  /** The draft in the API. */
  show(row: DraftRow): Promise<DraftView>
  /** Locks, checks the version and deletes. Throws 404 without it. */
  removeDraft(tx: Tx, owner: MailboxOwner, id: string, version: number | undefined): Promise<DraftRow>
  /** The message that a draft would be sent as, inspected. Throws 409 when the message that it forwards was deleted. */
  prepareDraft(owner: MailboxOwner, row: DraftRow, keyId: string | null): Promise<PreparedDraft>
  /**
   * Turns a locked draft into a queued message. Message, job, attachments and the end of the draft commit together, so that a draft is sent
   * at most once. Throws ApiError when the draft cannot be sent as it is, or is not the prepared one.
   */
  queueDraft(tx: Tx, owner: MailboxOwner, locked: DraftRow, prepared: PreparedDraft, by: SentBy): Promise<Queued>
}

type Parts = {
  db: Database
  accounts: Accounts
  identities: Identities
  attachments: Attachments
  messages: Messages
  content: ContentWriter
  outboundMail: OutboundMail
  storage: Storage
  enqueue: Enqueue
  cancelJob: CancelJob
  emit: Emit
  /** Milliseconds until a request for approval expires. */
  approvalMs: number
  linkUrl: (linkId: string) => string
}

export function createDrafts(parts: Parts): Drafts {
  const { db, identities, attachments, messages, outboundMail, storage, enqueue, cancelJob } = parts
  const { chooseAuthor } = outboundMail
  const { inspectText, prepareDraft, queueDraft } = createDraftQueue(parts)
  const loadDraft = batchLoader((ids) => store.findDrafts(db, ids))

  const show = async (row: DraftRow) => toDraft(row, row.attachment_count > 0 ? await attachments.showOfDraft(row.id) : [])

  const review = createApprovalReview({ ...parts, prepareDraft })
  const approvals = createApprovals({ ...parts, lastsMs: parts.approvalMs, show, prepareDraft })

  async function findOwn(owner: MailboxOwner, id: string): Promise<DraftRow | null> {
    const row = await loadDraft(id)
    return row?.mailbox_id === owner.mailboxId ? row : null
  }

  /** Under draft approval an agent may neither schedule a draft nor change a scheduled one. */
  function checkSchedule({ caller }: Call, owner: MailboxOwner, row: DraftRow): void {
    if (row.send_at === null) return
    requireScope(caller, 'mail:send', 'drafts:approve')
    if (needsApproval(caller, owner)) throw approvalRequired()
  }

  /** Enqueues the job of a scheduled draft. */
  const schedule = async (tx: Tx, row: DraftRow, at: Date): Promise<void> => {
    if (row.job_id === null || row.send_at === null) return
    const delayMs = row.send_at.getTime() - at.getTime()
    await enqueue(tx, [{ id: row.job_id, kind: sendDraftJob, organizationId: row.organization_id, subject: row.id, delayMs }])
  }

  async function removeDraft(tx: Tx, owner: MailboxOwner, id: string, version: number | undefined): Promise<DraftRow> {
    const row = await store.lockDraft(tx, owner.mailboxId, id)
    if (!row) throw notFound('draft')
    checkVersion(row, version)
    const present = row.attachment_count > 0 ? await attachments.listOfDraft(tx, id) : []
    const jobs = [row.job_id, row.approval_job_id].filter((job) => job !== null)
    await Promise.all([store.deleteDraft(tx, id), storage.change(tx, owner, -bytesOf(present)), ...jobs.map((job) => cancelJob(tx, job))])
    tx.afterCommit(() => attachments.deleteBlobs(present.flatMap((one) => one.blob_key ?? [])))
    return row
  }

  async function requireDraft(owner: MailboxOwner, id: string): Promise<DraftRow> {
    const row = await findOwn(owner, id)
    if (!row) throw notFound('draft')
    return row
  }

  return {
    ...createDraftReview({ db, identities, attachments, approvals, requireDraft, show, removeDraft }),
    ...approvals,
    approvals,
    show,
    removeDraft,
    prepareDraft,
    queueDraft,
    review,
    reviewDraft: async (caller, mailbox, id) => {
      const owner = await identities.requireMailbox(caller, mailbox)
      return review(owner, await requireDraft(owner, id))
    },
    updateDraft: createDraftChange({
      ...{ ...parts, approvals, findOwn, inspectText, checkSchedule, schedule },
      toView: (row, files) => toDraft(row, attachments.showRows(files)),
    }),
    sendDraft: createDraftSend({ ...parts, approvals, prepareDraft, queueDraft }),

    async createDraft(call, mailbox, body = {}) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const known = body.client_id === undefined ? null : await findByClientId(db, owner, body.client_id)
      if (known) return call.transact(async () => show(known))
      const at = now()
      const fields = readFields(body, at.getTime())
      if (body.in_reply_to !== undefined && body.forward_of !== undefined)
        throw invalid('/forward_of', 'reply_to and forward_of cannot be combined')
      const source = body.in_reply_to ?? body.forward_of
      const message = source === undefined ? null : await messages.requireAnswerable(call.caller, mailbox, source)
      const place = await findPlace(messages, owner, { references: body.references, source })
      const ownAddresses = message ? await outboundMail.findOwnAddresses(owner, message) : []
      // Checks a given author. An answer is from the address that its message came to.
      const author = await chooseAuthor(owner, fields.from_entry, body.in_reply_to === undefined ? null : message?.envelope_to)
      const made = newDraft({
        ...{ owner, author, ownAddresses, body, fields, message, place, at },
        isByAgent: call.caller.agents !== null,
        isByApprover: mayApprove(call.caller),
        keyId: keyIdOf(call),
      })
      const inspection = await inspectText(owner, made, keyIdOf(call))
      const row = { ...made, ...approvals.columnsAfter(call.caller, owner, null, made, inspection) }
      checkRecipientCount(row)
      checkSchedule(call, owner, row)
      const loaded = await attachments.load(body.attachments, bodyBytes(row))
      const kept = await attachments.keep(owner.organizationId, loaded)
      const create = async (tx: Tx) => {
        await storage.change(tx, owner, bytesOf(kept))
        const written = [store.insertDraft(tx, row), insertAttachments(tx, placedAfter([], kept, row, at)), schedule(tx, row, at)]
        await Promise.all([...written, approvals.record(tx, owner, null, row, null)])
        return toDraft(row, attachments.showRows(kept))
      }
      const once = { organizationId: owner.organizationId, kind: 'draft' as const, clientId: body.client_id }
      const find = (tx: Tx, clientId: string) => findByClientId(tx, owner, clientId).then((twin) => twin && show(twin))
      return call
        .transact((tx) => createOnce(tx, once, find, create))
        .catch(storage.orAnnounce)
        .catch(orGone)
    },

    async listDrafts(caller, mailbox, query) {
      const [page, { offset = 0 }] = [readPage(query, 'draft'), query]
      const { mailboxId: id } = await identities.requireMailbox(caller, mailbox)
      const [rows, count] = await Promise.all([store.listDrafts(db.reads, id, page, offset), store.countDrafts(db.reads, id)])
      const listed = toPage(rows, page.limit, (row) => row.change_id, show)
      const data = await Promise.all(listed.data)
      return { ...listed, data, drafts: data, count, limit: page.limit, offset }
    },

    async getDraft(caller, mailbox, id) {
      return show(await requireDraft(await identities.requireMailbox(caller, mailbox), id))
    },

    async deleteDraft(call, mailbox, id) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      checkReviewer(call.caller, await requireDraft(owner, id))
      return call.transact(async (tx) => {
        const row = await removeDraft(tx, owner, id, undefined)
        if (row.approval_status === 'requested') await approvals.recordRejected(tx, owner, row, 'The draft was deleted.', actorOf(call))
        return { id, deleted: true as const }
      })
    },
  }
}
