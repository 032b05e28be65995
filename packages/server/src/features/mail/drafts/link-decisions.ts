// Decisions by a one-time link. The link is the only proof, so it shows and decides one version of one draft.
import { htmlToText } from '@callsign/mail/html/text'
import { nowMs } from '../../../core/clock.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Actor } from '../../account/organizations/model.ts'
import { formatAddress } from '../messages/model.ts'
import { forwardOf } from '../outbound/model.ts'
import { checkMayApprove, isExpired } from './approval.ts'
import { readApprovalToken } from './approval-link.ts'
import * as approvalStore from './approval-store.ts'
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

  async function approve(tx: Tx, owner: MailboxOwner, row: DraftRow, actor: Actor): Promise<void> {
    checkMayApprove(row, true, nowMs())
    const queued = await drafts.queueDraft(tx, owner, row, await drafts.findForwarded(row), { keyId: null, isApproved: true })
    await drafts.approvals.recordSent(tx, owner, row, queued.id, actor)
  }

  return {
    async find(token) {
      const found = await findWaiting(token)
      if (!found) return null
      const { row, owner } = found
      const [{ attachments }, forwarded] = await Promise.all([drafts.show(row), drafts.findForwarded(row)])
      const content = forwarded ? forwardOf(forwarded, row) : { text: row.text ?? '', html: row.html ?? '', subject: '' }
      return {
        agent: owner.handle,
        from: formatAddress(owner.displayName, owner.address),
        to: row.to_addresses,
        cc: row.cc_addresses,
        bcc: row.bcc_addresses,
        headers: [
          ...(row.reply_to.length > 0 ? [['Reply-To', row.reply_to.join(', ')] as [string, string]] : []),
          ...Object.entries(row.headers),
        ],
        subject: row.subject ?? content.subject,
        text: content.text,
        htmlText: content.html ? htmlToText(content.html) : null,
        attachments: attachments.map((one) => ({ name: one.filename, type: one.content_type, bytes: one.size_bytes })),
        warnings: row.approval_reasons,
        expiresAt: row.approval_expires_at as Date,
      }
    },

    async decide(token, decision, requestId) {
      const found = await findWaiting(token)
      if (!found) return false
      const { linkId, owner } = found
      const actor: Actor = { type: 'link', id: linkId, requestId }
      return db.transact(async (tx) => {
        const row = await store.lockDraft(tx, owner.mailboxId, found.row.id)
        // A change of the draft, a decision and a revocation all remove the id of the link.
        if (row?.approval_link_id !== linkId || isExpired(row, nowMs())) return false
        if (decision.approve) await approve(tx, owner, row, actor)
        else {
          await drafts.removeDraft(tx, owner, row.id, undefined)
          await drafts.approvals.recordRejected(tx, owner, row, decision.reason, actor)
        }
        return true
      })
    },
  }
}
