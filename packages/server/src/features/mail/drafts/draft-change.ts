// Changes a draft: its fields, its files, its schedule, and the request for approval that follows from them.
import { messageBytesMax } from '@callsign/contract/attachments'
import type * as contract from '@callsign/contract/drafts'
import { draftAttachmentsMax, draftVersionBytesMax, draftVersionsMax } from '@callsign/contract/drafts'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import { keyIdOf, mayApprove } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { CancelJob } from '../../../core/job.ts'
import { changeMetadata } from '../../../core/metadata.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { actorOf } from '../../account/organizations/operations.ts'
import { bytesOf, checkTotal } from '../attachments/model.ts'
import { type Attachments, type DraftAttachment, deleteOfDraft, insertAttachments, type KeptAttachment } from '../attachments/operations.ts'
import { bodyBytes, type Inspection } from '../outbound/model.ts'
import type { OutboundMail } from '../outbound/operations.ts'
import type { Storage } from '../storage/operations.ts'
import type { ApprovalChanges } from './approvals.ts'
import { type ComposedDraft, composeDraft } from './composed-draft.ts'
import { checkUnchanged, inspectThenWrite } from './draft-queue.ts'
import { absence } from './lookup.ts'
import { checkRecipientCount, checkVersion, type DraftFields, type DraftRow, placedAfter, previewOf, readFields } from './model.ts'
import * as store from './store.ts'

type UpdateBody = BodyOf<typeof contract.updateDraft>
type DraftView = ReplyOf<typeof contract.getDraft>

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  outboundMail: OutboundMail
  storage: Storage
  approvals: ApprovalChanges
  cancelJob: CancelJob
  findOwn: (owner: MailboxOwner, id: string) => Promise<DraftRow | null>
  inspectText: (owner: MailboxOwner, row: DraftRow, keyId: string | null) => Promise<Inspection>
  checkSchedule: (call: Call, owner: MailboxOwner, row: DraftRow) => void
  schedule: (tx: Tx, row: DraftRow, at: Date) => Promise<void>
  toView: (row: DraftRow, files: (DraftAttachment | KeptAttachment)[]) => DraftView
}

/** The next version of a draft, without its files and its request for approval. */
function nextVersion(call: Call, before: DraftRow, fields: DraftFields, body: UpdateBody): DraftRow {
  const isMoved = fields.send_at !== undefined
  const metadata = body.metadata === undefined ? before.metadata : changeMetadata(before.metadata, body.metadata)
  const changed = { ...before, ...fields, metadata }
  return {
    ...changed,
    snippet: previewOf(changed),
    version: before.version + 1,
    job_id: isMoved ? (fields.send_at ? newId('job') : null) : before.job_id,
    scheduled_by_key_id: changed.send_at === null ? null : keyIdOf(call),
    is_scheduled_by_approver: changed.send_at !== null && mayApprove(call.caller),
    is_approved: false,
    send_error: null,
    is_written_by_agent: call.caller.agents !== null,
    change_id: newId('draft'),
    updated_at: now(),
  }
}

/** The parts of a draft that an inspection reads. The message that it forwards never changes. */
const composedOf = (owner: MailboxOwner, row: DraftRow): ComposedDraft => composeDraft(owner, row, null)

export function createDraftChange(parts: Parts): (call: Call, mailbox: string, id: string, body: UpdateBody) => Promise<DraftView> {
  const { db, identities, attachments, outboundMail, storage, approvals, cancelJob } = parts
  const { findOwn, inspectText, checkSchedule, schedule, toView } = parts

  type Change = { call: Call; owner: MailboxOwner; id: string; body: UpdateBody; fields: DraftFields; added: KeptAttachment[] }
  type Inspected = { composed: ComposedDraft; inspection: Inspection }

  async function inspectChange({ call, owner, id, body, fields }: Change): Promise<Inspected> {
    const [before] = (await store.findDrafts(db, [id])).values()
    if (before?.mailbox_id !== owner.mailboxId) throw await absence(db, owner, id, 'draft_not_editable')
    checkVersion(before, body.version)
    const row = nextVersion(call, before, fields, body)
    return { composed: composedOf(owner, row), inspection: await inspectText(owner, row, keyIdOf(call)) }
  }

  async function write(tx: Tx, { call, owner, id, body, fields, added }: Change, inspected: Inspected): Promise<DraftView> {
    const before = await store.lockDraft(tx, owner.mailboxId, id)
    if (!before) throw await absence(tx, owner, id, 'draft_not_editable')
    checkVersion(before, body.version)
    checkUnchanged(composedOf(owner, nextVersion(call, before, fields, body)), inspected.composed)
    const present = before.attachment_count > 0 ? await attachments.listOfDraft(tx, id) : []
    const removed = new Set(body.remove_attachments ?? [])
    for (const one of removed) if (!present.some((row) => row.id === one)) throw notFound('attachment of this draft')
    const kept = present.filter((row) => !removed.has(row.id))
    if (kept.length + added.length > draftAttachmentsMax)
      throw invalid('/add_attachments', `a draft has at most ${draftAttachmentsMax} attachments`)
    const made = { ...nextVersion(call, before, fields, body), attachment_count: kept.length + added.length }
    const row = { ...made, ...approvals.columnsAfter(call.caller, owner, before, made, inspected.inspection) }
    checkRecipientCount(row)
    checkSchedule(call, owner, row)
    checkTotal(bodyBytes(row) + bytesOf([...kept, ...added]), messageBytesMax)
    const inserted = placedAfter(kept, added, row, row.updated_at)
    await storage.change(tx, owner, bytesOf(inserted) + bytesOf(kept) - bytesOf(present))
    const isMoved = fields.send_at !== undefined
    await Promise.all([
      // Queries of a transaction run in order, so this reads the content before the change.
      store.keepVersion(tx, id, draftVersionsMax, draftVersionBytesMax),
      store.updateDraft(tx, row),
      removed.size > 0 ? deleteOfDraft(tx, id, [...removed]) : null,
      insertAttachments(tx, inserted),
      isMoved && before.job_id !== null ? cancelJob(tx, before.job_id) : null,
      isMoved ? schedule(tx, row, row.updated_at) : null,
      approvals.record(tx, owner, before, row, actorOf(call)),
    ])
    const blobKeys = present.filter((one) => removed.has(one.id)).flatMap((one) => one.blob_key ?? [])
    tx.afterCommit(() => attachments.deleteBlobs(blobKeys))
    return toView(row, [...kept, ...inserted])
  }

  return async (call, mailbox, id, body) => {
    const owner = await identities.requireMailbox(call.caller, mailbox)
    const fields = readFields(body, now().getTime())
    await outboundMail.chooseAuthor(owner, fields.from_entry)
    // An early check, before any attachment is stored. It is repeated on the locked draft.
    const seen = await findOwn(owner, id)
    if (!seen) throw await absence(db, owner, id, 'draft_not_editable')
    checkVersion(seen, body.version)
    const loaded = await attachments.load(body.add_attachments, 0, 'add_attachments')
    const change: Change = { call, owner, id, body, fields, added: await attachments.keep(owner.organizationId, loaded) }
    return inspectThenWrite(
      () => inspectChange(change),
      (inspected) => call.transact((tx) => write(tx, change, inspected)),
    ).catch(storage.orAnnounce)
  }
}
