// Decisions by a one-time link. The link is the only proof, so it shows and decides one version of one draft.
import { nowMs } from '../../../core/clock.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Actor } from '../../account/organizations/model.ts'
import { checkMayApprove, isExpired } from './approval.ts'
import { readApprovalToken } from './approval-link.ts'
import * as approvalStore from './approval-store.ts'
import type { PreparedDraft } from './draft-queue.ts'
import type { DraftRow, LinkDecisions } from './model.ts'
import type { Drafts } from './operations.ts'
import * as store from './store.ts'

type Parts = { db: Database; identities: Identities; drafts: Drafts; key: Buffer }

export function createLinkDecisions({ db, identities, drafts, key }: Parts): LinkDecisions {
  async function findWaiting(token: string): Promise<{ linkId: string; row: DraftRow; owner: MailboxOwner } | null> {
    const linkId = readApprovalToken(token, key)
    const row = linkId === null ? null : await approvalStore.findByLink(db, linkId)
    if (linkId === null || !row || isExpired(row, nowMs())) return null
    const owner = await identities.findOwner(row.mailbox_id)
    return owner && { linkId, row, owner }
  }

  async function approve(tx: Tx, owner: MailboxOwner, row: DraftRow, prepared: PreparedDraft, actor: Actor): Promise<void> {
    checkMayApprove(row, true, nowMs())
    const queued = await drafts.queueDraft(tx, owner, row, prepared, { keyId: null, isApproved: true })
    await drafts.approvals.recordSent(tx, owner, row, queued.id, actor)
  }

  return {
    async find(token) {
      const found = await findWaiting(token)
      return found && drafts.review(found.owner, found.row)
    },

    async decide(token, decision, requestId) {
      const found = await findWaiting(token)
      if (!found) return false
      const { linkId, owner } = found
      const actor: Actor = { type: 'link', id: linkId, requestId }
      const prepared = decision.approve ? await drafts.prepareDraft(owner, found.row, null) : null
      return db.transact(async (tx) => {
        const row = await store.lockDraft(tx, owner.mailboxId, found.row.id)
        // A change of the draft, a decision and a revocation all remove the id of the link.
        if (row?.approval_link_id !== linkId || isExpired(row, nowMs())) return false
        if (prepared !== null) await approve(tx, owner, row, prepared, actor)
        else {
          await drafts.removeDraft(tx, owner, row.id, undefined)
          await drafts.approvals.recordRejected(tx, owner, row, decision.approve ? null : decision.reason, actor)
        }
        return true
      })
    },
  }
}
