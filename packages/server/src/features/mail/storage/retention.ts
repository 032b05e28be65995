// Retention: deletes old messages and files of mailboxes, and previews what it would delete.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { previewRetention } from '@callsign/contract/storage'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid, notFound } from '../../../core/errors.ts'
import type { Database } from '../../../core/sql.ts'
import { normalizeHandle } from '../../account/identities/model.ts'
import type { Accounts } from '../../account/organizations/operations.ts'
import { type Attachments, findUnusedBlobs } from '../attachments/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { addToCounts, deleteUnusedRaw } from '../stored/mail-store.ts'
import * as store from './retention-store.ts'

export interface Retention {
  /** `GET /retention/preview`. */
  previewRetention(caller: Caller, query: QueryOf<typeof previewRetention>): Promise<ReplyOf<typeof previewRetention>>
  /** Deletes everything that is older than its retention at this time. Any number of processes may run it. */
  apply(at?: Date): Promise<void>
}

type Parts = {
  db: Database
  accounts: Accounts
  messages: Messages
  attachments: Attachments
  /** Delete events and requests of an organization from before a time. */
  deleteEvents: (organizationId: string, before: Date) => Promise<number>
  deleteRequests: (organizationId: string, before: Date) => Promise<void>
}

const dayMs = 86_400_000
/** Mailboxes that one statement lists, and messages that one statement looks up or strips of their files. */
const mailboxesTogether = 500
const messagesTogether = 200

const daysBefore = (at: Date, days: number): Date => new Date(at.getTime() - days * dayMs)

export function createRetention({ db, accounts, messages, attachments, deleteEvents, deleteRequests }: Parts): Retention {
  /** Deletes old messages of a mailbox in groups. Returns their number and bytes. */
  async function deleteMessages({ id: mailboxId, organization_id: organizationId }: store.RetainedMailbox, before: Date) {
    const total = { messages: 0, bytes: 0 }
    for (;;) {
      const old = await store.listOld(db, mailboxId, before, messagesTogether)
      let deleted = 0
      for (const [threadId, group] of Map.groupBy(old, (message) => message.thread_id)) {
        const released = await messages.deleteChosen({ organizationId, mailboxId, threadId }, (tx) =>
          store.findDeletable(
            tx,
            mailboxId,
            group.map(({ id }) => id),
          ),
        )
        deleted += released.messages
        total.bytes += released.bytes
      }
      total.messages += deleted
      // With none deleted, another process or a person was faster, or a draft needs them now.
      if (deleted === 0 || old.length < messagesTogether) return total
    }
  }

  /** Deletes the files of old messages of a mailbox in groups. Later runs start at the first message that was held. */
  async function deleteFiles(
    { id: mailboxId, organization_id: organizationId, files_deleted_through }: store.RetainedMailbox,
    before: Date,
  ) {
    const total = { attachments: 0, bytes: 0 }
    let after: string | null = files_deleted_through
    let hasHeld = false
    while (after !== null) {
      const from: string = after
      const done = await db.transact(async (tx) => {
        const found = await store.listWithFiles(tx, { mailboxId, after: from, before, limit: messagesTogether })
        const held = found.some((message) => message.is_held)
        const released = await store.deleteFiles(
          tx,
          found.flatMap(({ id, is_held }) => (is_held ? [] : [id])),
          now(),
        )
        await addToCounts(tx, [{ organizationId, mailboxId, delta: 0, bytes: -released.bytes }])
        const last = found.at(-1)
        if (last && !held && !hasHeld) await store.setFilesDeletedThrough(tx, mailboxId, last.id)
        const rawBlobs = released.rawIds.length > 0 ? await deleteUnusedRaw(tx, released.rawIds) : []
        const blobs = await findUnusedBlobs(tx, released.blobKeys)
        tx.afterCommit(() => attachments.deleteBlobs([...rawBlobs, ...blobs]))
        return { ...released, held, next: found.length < messagesTogether ? null : (last?.id ?? null) }
      })
      total.attachments += done.attachments
      total.bytes += done.bytes
      hasHeld ||= done.held
      after = done.next
    }
    return total
  }

  async function applyTo(mailbox: store.RetainedMailbox, at: Date): Promise<void> {
    const { messages_days: messagesDays, attachments_days: attachmentsDays } = mailbox
    const deleted = messagesDays === null ? { messages: 0, bytes: 0 } : await deleteMessages(mailbox, daysBefore(at, messagesDays))
    const files = attachmentsDays === null ? { attachments: 0, bytes: 0 } : await deleteFiles(mailbox, daysBefore(at, attachmentsDays))
    if (deleted.messages + files.attachments === 0) return
    await accounts.audit(db, mailbox.organization_id, { type: 'host' }, 'retention.applied', mailbox.identity_id, {
      messages: deleted.messages,
      attachments: files.attachments,
      bytes: deleted.bytes + files.bytes,
      messages_days: messagesDays,
      attachments_days: attachmentsDays,
    })
  }

  return {
    async previewRetention(caller, { agent_handle: agent, messages_days: messagesDays, attachments_days: attachmentsDays }) {
      if (messagesDays === undefined && attachmentsDays === undefined)
        throw invalid('/messages_days', 'messages_days or attachments_days is required')
      const handle = agent === undefined ? null : normalizeHandle(agent)
      const mailboxes = await store.findPreviewed(db, caller.organizationId, handle)
      if (handle !== null && mailboxes.length === 0) throw notFound('identity')
      const at = now()
      // A retention of the organization leaves out the agents with a day of their own.
      return store.preview(db, {
        messagesOf: mailboxes.flatMap(({ id, has_messages_days }) => (handle === null && has_messages_days ? [] : [id])),
        messagesBefore: messagesDays === undefined ? null : daysBefore(at, messagesDays),
        filesOf: mailboxes.flatMap(({ id, has_attachments_days }) => (handle === null && has_attachments_days ? [] : [id])),
        filesBefore: attachmentsDays === undefined ? null : daysBefore(at, attachmentsDays),
      })
    },

    async apply(at = now()) {
      for (let after = ''; ; ) {
        const mailboxes = await store.listRetainedMailboxes(db, after, mailboxesTogether)
        for (const mailbox of mailboxes) await applyTo(mailbox, at)
        const last = mailboxes.at(-1)
        if (last === undefined || mailboxes.length < mailboxesTogether) break
        after = last.id
      }
      for (const { id, events_days, requests_days } of await store.listRetainedOrganizations(db)) {
        if (events_days !== null) await deleteEvents(id, daysBefore(at, events_days))
        if (requests_days !== null) await deleteRequests(id, daysBefore(at, requests_days))
      }
    },
  }
}
