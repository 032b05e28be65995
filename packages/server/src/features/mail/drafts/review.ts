// Review of drafts. It lists the drafts of all mailboxes and earlier versions, finds the message of a sent draft, and rejects a draft with a reason.

import type { getDraftAttachmentText } from '@callsign/contract/attachments'
import type * as lists from '@callsign/contract/draft-lists'
import type * as contract from '@callsign/contract/drafts'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from '../../../core/caller.ts'
import { notFound } from '../../../core/errors.ts'
import { onePage, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { actorOf } from '../../account/organizations/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import { checkReviewer } from './approval.ts'
import type { ApprovalChanges } from './approvals.ts'
import type { DraftRow } from './model.ts'
import * as store from './store.ts'

export interface DraftReview {
  /** `GET /drafts`: every mailbox that the key may see, newest first. */
  listAllDrafts(caller: Caller, query: QueryOf<typeof lists.listAllDrafts>): Promise<ReplyOf<typeof lists.listAllDrafts>>
  /** `GET /drafts/{draft_id}`. */
  getDraftById(caller: Caller, id: string): Promise<ReplyOf<typeof lists.getDraftById>>
  /** `GET …/drafts/{draft_id}/versions`: newest first. */
  listDraftVersions(caller: Caller, mailbox: string, id: string): Promise<ReplyOf<typeof contract.listDraftVersions>>
  /** `GET …/drafts/{draft_id}/message`: throws 404 for a draft that was not sent. */
  getDraftMessage(caller: Caller, mailbox: string, id: string): Promise<ReplyOf<typeof contract.getDraftMessage>>
  /** `GET …/drafts/{draft_id}/attachments/{attachment_id}/text`. */
  getDraftAttachmentText(
    caller: Caller,
    params: { email_address: string; draft_id: string; attachment_id: string },
    query: QueryOf<typeof getDraftAttachmentText>,
  ): Promise<ReplyOf<typeof getDraftAttachmentText>>
  /** `POST …/drafts/{draft_id}/reject`: deletes the draft and emits `draft.rejected`. */
  rejectDraft(
    call: Call,
    mailbox: string,
    id: string,
    body?: BodyOf<typeof contract.rejectDraft>,
  ): Promise<ReplyOf<typeof contract.rejectDraft>>
}

type Parts = {
  db: Database
  identities: Identities
  attachments: Attachments
  approvals: ApprovalChanges
  /** Throws 404 when the mailbox does not have this draft. */
  requireDraft: (owner: MailboxOwner, id: string) => Promise<DraftRow>
  show: (row: DraftRow) => Promise<ReplyOf<typeof contract.getDraft>>
  /** Locks, checks the version and deletes. */
  removeDraft: (tx: Tx, owner: MailboxOwner, id: string, version: number | undefined) => Promise<DraftRow>
}

export function createDraftReview({ db, identities, attachments, approvals, requireDraft, show, removeDraft }: Parts): DraftReview {
  const mailboxIdsOf = (caller: Caller): string[] | null => caller.agents?.map(({ mailboxId }) => mailboxId) ?? null

  return {
    async listAllDrafts(caller, query) {
      const page = readPage(query, 'draft')
      const mailboxIds =
        query.agent === undefined ? mailboxIdsOf(caller) : [(await identities.requireMailbox(caller, query.agent)).mailboxId]
      const rows = await store.listByScope(db.reads, { organizationId: caller.organizationId, mailboxIds, threadId: query.thread_id }, page)
      const { data, ...envelope } = toPage(
        rows,
        page.limit,
        ({ id }) => id,
        (row) => row,
      )
      return { ...envelope, data: await Promise.all(data.map(show)) }
    },

    async getDraftById(caller, id) {
      const row = (await store.findDrafts(db, [id])).get(id)
      const isOwn = row?.organization_id === caller.organizationId && (mailboxIdsOf(caller)?.includes(row.mailbox_id) ?? true)
      if (!row || !isOwn) throw notFound('draft')
      return show(row)
    },

    async listDraftVersions(caller, mailbox, id) {
      await requireDraft(await identities.requireMailbox(caller, mailbox), id)
      const rows = await store.listVersions(db.reads, id)
      return onePage(rows.map(toVersion))
    },

    async getDraftMessage(caller, mailbox, id) {
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const sent = await store.findSent(db, mailboxId, id)
      if (!sent) throw notFound('sent draft')
      return { draft_id: id, message_id: sent.message_id, sent_at: sent.sent_at.toISOString() }
    },

    async getDraftAttachmentText(caller, params, query) {
      const draft = await requireDraft(await identities.requireMailbox(caller, params.email_address), params.draft_id)
      return attachments.readText(draft, params.attachment_id, query)
    },

    async rejectDraft(call, mailbox, id, body = {}) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      checkReviewer(call.caller, await requireDraft(owner, id))
      return call.transact(async (tx) => {
        const row = await removeDraft(tx, owner, id, body.version)
        await approvals.recordRejected(tx, owner, row, body.reason ?? null, actorOf(call))
        return { id, rejected: true as const }
      })
    },
  }
}

const toVersion = (row: store.DraftVersionRow): ReplyOf<typeof contract.listDraftVersions>['data'][number] => ({
  version: row.version,
  from: row.from_entry,
  to: row.to_addresses,
  cc: row.cc_addresses,
  bcc: row.bcc_addresses,
  reply_to: row.reply_to,
  subject: row.subject,
  text: row.text,
  html: row.html,
  headers: row.headers,
  automatic: row.is_automatic,
  attachments: row.files,
  written_by: row.is_written_by_agent ? 'agent' : 'organization',
  created_at: row.created_at.toISOString(),
})
