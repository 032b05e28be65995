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
import * as trashStore from './trash-store.ts'

type Parts = { db: Database; blobs: Blobs; identities: Identities; attachments: Attachments }

/** Messages that one statement of a purge looks up. */
const purgedTogether = 500

/** Blobs that one sweep looks up per statement. */
const sweptTogether = 500

/** Messages of one thread to delete: these, or without `ids` all outside quarantine, and only those trashed before a time. */
type Deletion = { ids: string[] | null; trashedBefore: Date | null }

export function createMessageDeletion({ db, blobs, identities, attachments }: Parts) {
  /** Deletes messages of a locked thread with the bytes that no other message uses. Returns their number. */
  async function deleteFromThread(tx: Tx, thread: trashStore.LockedThread, deletion: Deletion): Promise<number> {
    const ids = await trashStore.lockForDeletion(tx, thread.id, deletion)
    if (ids.length === 0) return 0
    const bytes = await findBytes(tx, ids)
    const deleted = await trashStore.deleteMessages(tx, thread, ids, now())
    const rawIds = [...deleted.rawIds, ...bytes.rawIds]
    const rawBlobs = rawIds.length > 0 ? await rawStore.deleteUnusedRaw(tx, rawIds) : []
    // A forward may share them. This query runs after the deletion, which waits for a concurrent forward.
    const attachmentBlobs = await findUnusedBlobs(tx, bytes.blobKeys)
    await addToCounts(tx, [{ organizationId: thread.organization_id, mailboxId: thread.mailbox_id, delta: -deleted.listed }], 0)
    tx.afterCommit(() => attachments.deleteBlobs([...attachmentBlobs, ...rawBlobs]))
    return ids.length
  }

  return {
    deleteFromThread,

    async deleteMessage(call: Call, mailbox: string, id: string) {
      const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
      await call.transact(async (tx) => {
        const message = await trashStore.lockMessage(tx, mailboxId, id)
        if (message) await deleteFromThread(tx, message.thread, { ids: [id], trashedBefore: null })
        else if (!(await store.isDeleted(tx, mailboxId, id))) throw notFound('message')
      })
      return { id, deleted: true as const }
    },

    /** Deletes messages that were moved to the trash before this time. Returns their number. */
    async purgeTrash(trashedBefore: Date): Promise<number> {
      let purged = 0
      for (;;) {
        const expired = await trashStore.listExpired(db, trashedBefore, purgedTogether)
        const threads = Map.groupBy(expired, (message) => message.thread_id)
        let deleted = 0
        for (const [threadId, messages] of threads) {
          const [{ organization_id: organizationId, mailbox_id: mailboxId }] = messages as [trashStore.Expired]
          deleted += await db.transact(async (tx) => {
            const thread = await trashStore.lockThread(tx, { organizationId, mailboxIds: [mailboxId] }, threadId)
            return thread === null ? 0 : deleteFromThread(tx, thread, { ids: messages.map(({ id }) => id), trashedBefore })
          })
        }
        purged += deleted
        // Another process may have deleted them, or a person restored them.
        if (deleted === 0 || expired.length < purgedTogether) return purged
      }
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
