// Sends a draft once, for a caller that may send it as it is.
import type { sendDraft } from '@callsign/contract/drafts'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import { keyIdOf, mayApprove } from '../../../core/caller.ts'
import { now, nowMs } from '../../../core/clock.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { actorOf } from '../../account/organizations/operations.ts'
import { orGone, type Queued } from '../outbound/model.ts'
import type { Storage } from '../storage/operations.ts'
import { checkMayApprove, checkReviewer } from './approval.ts'
import type { ApprovalChanges } from './approvals.ts'
import { inspectThenWrite, type PreparedDraft } from './draft-queue.ts'
import { absence } from './lookup.ts'
import { checkVersion, type DraftFields, type DraftRow, readFields, type SentBy } from './model.ts'
import * as store from './store.ts'

type Body = NonNullable<BodyOf<typeof sendDraft>>
type Reply = ReplyOf<typeof sendDraft>

type Parts = {
  db: Database
  identities: Identities
  storage: Storage
  approvals: ApprovalChanges
  prepareDraft: (owner: MailboxOwner, row: DraftRow, keyId: string | null) => Promise<PreparedDraft>
  queueDraft: (tx: Tx, owner: MailboxOwner, locked: DraftRow, prepared: PreparedDraft, by: SentBy) => Promise<Queued>
}

export function createDraftSend(parts: Parts): (call: Call, mailbox: string, id: string, body?: Body) => Promise<Reply> {
  const { db, identities, storage, approvals, prepareDraft, queueDraft } = parts

  /** Throws when this caller may not send this draft now. Checked before it is inspected, and again on the locked draft. */
  function checkMaySend(call: Call, row: DraftRow, body: Body): void {
    checkVersion(row, body.version)
    checkReviewer(call.caller, row, body)
    checkMayApprove(row, mayApprove(call.caller), nowMs())
  }

  async function prepare(call: Call, owner: MailboxOwner, id: string, body: Body, fields: DraftFields): Promise<PreparedDraft> {
    const [row] = (await store.findDrafts(db, [id])).values()
    if (row?.mailbox_id !== owner.mailboxId) throw await absence(db, owner, id, 'draft_send_in_progress')
    checkMaySend(call, row, body)
    return prepareDraft(owner, { ...row, ...fields }, keyIdOf(call))
  }

  async function write(tx: Tx, call: Call, owner: MailboxOwner, body: Body, prepared: PreparedDraft): Promise<Reply> {
    const { id } = prepared.row
    const row = await store.lockDraft(tx, owner.mailboxId, id)
    if (!row) throw await absence(tx, owner, id, 'draft_send_in_progress')
    checkMaySend(call, row, body)
    const queued = await queueDraft(tx, owner, row, prepared, { keyId: keyIdOf(call), isApproved: row.approval_status !== null })
    await approvals.recordSent(tx, owner, row, queued.id, actorOf(call))
    return { id: queued.id, thread_id: queued.threadId, status: 'sent' }
  }

  return async (call, mailbox, id, body = {}) => {
    const owner = await identities.requireSender(call.caller, mailbox)
    const fields = readFields(body, now().getTime())
    return inspectThenWrite(
      () => prepare(call, owner, id, body, fields),
      (prepared) => call.transact((tx) => write(tx, call, owner, body, prepared)),
    )
      .catch(storage.orAnnounce)
      .catch(orGone)
  }
}
