// Links to pages with one message: create, list and revoke. The row of a link decides at each use if it opens its page.
import { isId } from '@callsign/contract/ids'
import type * as contract from '@callsign/contract/message-sharing'
import { shareSecondsDefault } from '@callsign/contract/message-sharing'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Caller, keyIdOf, personOf } from '../../../core/caller.ts'
import { inMs, now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageRow } from '../stored/model.ts'
import { serveSharedPages } from './message-page.ts'
import type { ContentWriter } from './provider.ts'
import * as store from './share-store.ts'

/** Links that people without a key open. */
export interface MessageSharing {
  /** `POST …/messages/{message_id}/share`: a signed link to a page with the message. */
  shareMessage(
    call: Call,
    mailbox: string,
    id: string,
    body?: BodyOf<typeof contract.shareMessage>,
  ): Promise<ReplyOf<typeof contract.shareMessage>>
  /** `GET …/messages/{message_id}/shares`: newest first, without expired ones. */
  listMessageShares(
    caller: Caller,
    mailbox: string,
    id: string,
    query: QueryOf<typeof contract.listMessageShares>,
  ): Promise<ReplyOf<typeof contract.listMessageShares>>
  /** `DELETE …/messages/{message_id}/shares/{link_id}`: idempotent. */
  unshareMessage(call: Call, mailbox: string, id: string, linkId: string): Promise<ReplyOf<typeof contract.unshareMessage>>
  /** Deletes links that expired before this time. */
  sweepShares(expiredBefore: Date): Promise<void>
}

/** Those of these keys that have lost their access. */
export type FindUnusableKeys = (ids: string[]) => Promise<Set<string>>

type Parts = {
  db: Database
  accounts: Accounts
  attachments: Attachments
  content: ContentWriter
  findUnusableKeys: FindUnusableKeys
  findMessage: (id: string) => Promise<MessageRow | null>
  requireMessage: (caller: Caller, mailbox: string, id: string) => Promise<MessageRow>
}

export function createMessageSharing(parts: Parts): MessageSharing {
  const { db, accounts, attachments, content, findUnusableKeys, findMessage, requireMessage } = parts

  /** The ids of those links that open their page. A link ends with the access of its author: a removed member's rows are deleted. */
  async function findActive(rows: store.ShareRow[]): Promise<Set<string>> {
    const unusable = await findUnusableKeys([...new Set(rows.flatMap((row) => row.key_id ?? []))])
    const isActive = (row: store.ShareRow) =>
      row.revoked_at === null && row.expires_at > now() && (row.key_id === null || !unusable.has(row.key_id))
    return new Set(rows.filter(isActive).map((row) => row.id))
  }

  async function findSharedMessage(linkId: string): Promise<MessageRow | null> {
    const row = isId('messageShare', linkId) ? await store.findShare(db, linkId) : null
    if (!row || !(await findActive([row])).has(linkId)) return null
    const message = await findMessage(row.message_id)
    return message?.trashed_at === null ? message : null
  }

  serveSharedPages({ attachments, content, findSharedMessage })

  return {
    async shareMessage(call, mailbox, id, body) {
      const message = await requireMessage(call.caller, mailbox, id)
      if (message.trashed_at !== null) throw new ApiError('conflict', 'This message is in the trash. Restore it before you share it.')
      const seconds = body?.expires_in_seconds ?? shareSecondsDefault
      const row = {
        id: newId('messageShare'),
        organization_id: message.organization_id,
        message_id: id,
        key_id: keyIdOf(call),
        member_id: personOf(call.caller),
        // The signature of the link has whole seconds.
        expires_at: new Date(Math.floor(inMs(seconds * 1000).getTime() / 1000) * 1000),
        revoked_at: null,
        created_at: now(),
      }
      const url = attachments.linkTo(row.id, seconds)
      await call.transact(async (tx) => {
        if (!(await store.insertShare(tx, row))) throw notFound('message')
        const details = { link_id: row.id, expires_at: row.expires_at }
        await accounts.audit(tx, row.organization_id, actorOf(call), 'message.shared', id, details)
      })
      return { id, link_id: row.id, url, expires_at: row.expires_at.toISOString() }
    },

    async listMessageShares(caller, mailbox, id, query) {
      const page = readPage(query, 'messageShare')
      const message = await requireMessage(caller, mailbox, id)
      const rows = await store.listShares(db, message, now(), page)
      const active = message.trashed_at === null ? await findActive(rows) : new Set<string>()
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => ({
          id: row.id,
          message_id: row.message_id,
          created_by: (row.key_id ?? row.member_id) as string,
          is_active: active.has(row.id),
          expires_at: row.expires_at.toISOString(),
          revoked_at: row.revoked_at?.toISOString() ?? null,
          created_at: row.created_at.toISOString(),
        }),
      )
    },

    async unshareMessage(call, mailbox, id, linkId) {
      const message = await requireMessage(call.caller, mailbox, id)
      return call.transact(async (tx) => {
        const revoked = await store.revokeShare(tx, message.id, linkId, now())
        if (!revoked) throw notFound('link to this message')
        if (revoked.isNew)
          await accounts.audit(tx, message.organization_id, actorOf(call), 'message.share_revoked', id, { link_id: linkId })
        return { id: linkId, deleted: true as const }
      })
    },

    sweepShares: (expiredBefore) => store.deleteExpired(db, expiredBefore),
  }
}
