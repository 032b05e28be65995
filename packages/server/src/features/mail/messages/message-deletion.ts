// Deletes messages with their raw bytes and blobs: one message, a whole mailbox, and blobs that no row names.
import type { Blobs } from '../../../core/blobs.ts'
import { now } from '../../../core/clock.ts'
import { notFound } from '../../../core/errors.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Attachments, findBytes, findMailboxBytes, findUnusedBlobs } from '../attachments/operations.ts'
import * as mailStore from '../stored/mail-store.ts'

type Parts = { db: Database; blobs: Blobs; identities: Identities; attachments: Attachments }

/** Messages that one statement of a purge looks up. */
const purgedTogether = 500

/** Blobs that one sweep looks up per statement. */
const sweptTogether = 500

/** Messages of one thread to delete: these, or without `ids` all outside quarantine, and only those trashed before a time. */
type Deletion = { ids: string[] | null; trashedBefore: Date | null }

/** The number of deleted messages, and the stored bytes that they released. */
export type Released = { messages: number; bytes: number }
const nothing: Released = { messages: 0, bytes: 0 }

/** A thread of a mailbox. */
export type ThreadPlace = { organizationId: string; mailboxId: string; threadId: string }

export function createMessageDeletion({ db, blobs, identities, attachments }: Parts) {
  /** Deletes messages of a locked thread with the bytes that no other message uses. */
  async function deleteFromThread(tx: Tx, thread: mailStore.LockedThread, deletion: Deletion): Promise<Released> {
    const ids = await mailStore.lockForDeletion(tx, thread.id, deletion)
    if (ids.length === 0) return nothing
    const bytes = await findBytes(tx, ids)
    const deleted = await mailStore.deleteMessages(tx, thread, ids, now())
    const rawIds = [...deleted.rawIds, ...bytes.rawIds]
    const rawBlobs = rawIds.length > 0 ? await mailStore.deleteUnusedRaw(tx, rawIds) : []
    // A forward may share them. This query runs after the deletion, which waits for a concurrent forward.
    const attachmentBlobs = await findUnusedBlobs(tx, bytes.blobKeys)
    const { organization_id: organizationId, mailbox_id: mailboxId } = thread
    await mailStore.addToCounts(tx, [{ organizationId, mailboxId, delta: -deleted.listed, bytes: -deleted.bytes }])
    tx.afterCommit(() => attachments.deleteBlobs([...attachmentBlobs, ...rawBlobs]))
    return { messages: ids.length, bytes: deleted.bytes }
  }

  return {
    deleteFromThread,

    async deleteMessage(call: Call, mailbox: string, id: string) {
      const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
      await call.transact(async (tx) => {
        const message = await mailStore.lockMessage(tx, mailboxId, id)
        if (message) await deleteFromThread(tx, message.thread, { ids: [id], trashedBefore: null })
        else if (!(await mailStore.isDeleted(tx, mailboxId, id))) throw notFound('message')
      })
      return { id, deleted: true as const }
    },

    /** Deletes messages that were moved to the trash before this time. Returns their number. */
    async purgeTrash(trashedBefore: Date): Promise<number> {
      let purged = 0
      for (;;) {
        const expired = await mailStore.listExpired(db, trashedBefore, purgedTogether)
        const threads = Map.groupBy(expired, (message) => message.thread_id)
        let deleted = 0
        for (const [threadId, messages] of threads) {
          const [{ organization_id: organizationId, mailbox_id: mailboxId }] = messages as [mailStore.Expired]
          deleted += await db.transact(async (tx) => {
            const thread = await mailStore.lockThread(tx, { organizationId, mailboxIds: [mailboxId] }, threadId)
            const ids = messages.map(({ id }) => id)
            return thread === null ? 0 : (await deleteFromThread(tx, thread, { ids, trashedBefore })).messages
          })
        }
        purged += deleted
        // Another process may have deleted them, or a person restored them.
        if (deleted === 0 || expired.length < purgedTogether) return purged
      }
    },

    async deleteChosen({ organizationId, mailboxId, threadId }: ThreadPlace, choose: (tx: Tx) => Promise<string[]>): Promise<Released> {
      return db.transact(async (tx) => {
        const thread = await mailStore.lockThread(tx, { organizationId, mailboxIds: [mailboxId] }, threadId)
        return thread === null ? nothing : deleteFromThread(tx, thread, { ids: await choose(tx), trashedBefore: null })
      })
    },

    async emptyMailbox(tx: Tx, organizationId: string, mailboxId: string): Promise<void> {
      // Attachments share blobs within one mailbox only, so another mailbox needs none of these.
      const bytes = await findMailboxBytes(tx, mailboxId)
      const rawIds = await mailStore.deleteAll(tx, organizationId, mailboxId)
      const rawBlobs = await mailStore.deleteUnusedRaw(tx, [...rawIds, ...bytes.rawIds])
      tx.afterCommit(() => attachments.deleteBlobs([...bytes.blobKeys, ...rawBlobs]))
    },

    async sweepBlobs(olderThanMs: number): Promise<number> {
      let deleted = 0
      const check = async (keys: string[]) => {
        const named = new Set([...(await mailStore.findNamedBlobs(db, keys)), ...(await attachments.findSourceBlobs(keys))])
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
