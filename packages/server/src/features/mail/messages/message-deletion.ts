// Deletes messages with their raw bytes and blobs: one message, a whole mailbox, and blobs that no row names.
import type { Blobs } from '../../../core/blobs.ts'
import { now } from '../../../core/clock.ts'
import { notFound } from '../../../core/errors.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Attachments, findBytes, findMailboxBytes, findUnusedBlobs } from '../attachments/operations.ts'
import { addToCounts } from './filing-store.ts'
import * as rawStore from './raw-store.ts'
import * as store from './store.ts'

type Parts = { db: Database; blobs: Blobs; identities: Identities; attachments: Attachments }

/** Blobs that one sweep looks up per statement. */
const sweptTogether = 500

export function createMessageDeletion({ db, blobs, identities, attachments }: Parts) {
  return {
    async deleteMessage(call: Call, mailbox: string, id: string) {
      const { mailboxId, organizationId } = await identities.requireMailbox(call.caller, mailbox)
      await call.transact(async (tx) => {
        const row = await store.lockMessage(tx, mailboxId, id)
        if (!row) {
          if (await store.isDeleted(tx, mailboxId, id)) return
          throw notFound('message')
        }
        const bytes = await findBytes(tx, id)
        await store.deleteMessage(tx, mailboxId, id, row.thread_id, row.isCounted, now())
        const rawIds = row.raw_id ? [row.raw_id, ...bytes.rawIds] : bytes.rawIds
        const rawBlobs = rawIds.length > 0 ? await rawStore.deleteUnusedRaw(tx, rawIds) : []
        // A forward may share them. This query runs after the deletion, which waits for a concurrent forward.
        const attachmentBlobs = await findUnusedBlobs(tx, bytes.blobKeys)
        if (row.isCounted) await addToCounts(tx, [{ organizationId, mailboxId, delta: -1 }], 0)
        tx.afterCommit(() => attachments.deleteBlobs([...attachmentBlobs, ...rawBlobs]))
      })
      return { id, deleted: true as const }
    },

    async emptyMailbox(tx: Tx, organizationId: string, mailboxId: string): Promise<void> {
      // Attachments share blobs within one mailbox only, so another mailbox needs none of these.
      const bytes = await findMailboxBytes(tx, mailboxId)
      const rawIds = await store.deleteAll(tx, organizationId, mailboxId)
      const rawBlobs = await rawStore.deleteUnusedRaw(tx, [...rawIds, ...bytes.rawIds])
      tx.afterCommit(() => attachments.deleteBlobs([...bytes.blobKeys, ...rawBlobs]))
    },

    async sweepBlobs(olderThanMs: number): Promise<number> {
      let deleted = 0
      const check = async (keys: string[]) => {
        const named = new Set([...(await rawStore.findNamedBlobs(db, keys)), ...(await attachments.findSourceBlobs(keys))])
        for (const key of keys) {
          if (named.has(key)) continue
          await blobs.delete(key)
          deleted++
        }
      }
      let keys: string[] = []
      for await (const key of blobs.list(olderThanMs)) {
        keys.push(key)
        if (keys.length === sweptTogether) {
          await check(keys)
          keys = []
        }
      }
      if (keys.length > 0) await check(keys)
      return deleted
    },
  }
}
