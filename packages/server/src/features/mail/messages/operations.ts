// Operations on stored messages and threads.
import { eventBodyBytesMax } from '@callsign/contract/events'
import { firstId } from '@callsign/contract/ids'
import type * as contract from '@callsign/contract/messages'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { batchLoader } from '../../../core/batch.ts'
import type { Blobs } from '../../../core/blobs.ts'
import { type Caller, requireScope } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { type Call, Later, Raw } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Wait } from '../../../core/wait.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import * as mailStore from '../stored/mail-store.ts'
import { fileReleased, findJoined, findThread, listByThread, lockMessage } from '../stored/mail-store.ts'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import { createMessageBatches, type MessageBatches } from './batches.ts'
import { emitLabelChanges } from './label-changes.ts'
import { createShowListed } from './listed-messages.ts'
import { changeMessages } from './message-changes.ts'
import { createMessageDeletion, type Released, type ThreadPlace } from './message-deletion.ts'
import { createMessageLists, type MailQuery } from './message-lists.ts'
import { createMessageSharing, type FindUnusableKeys, type MessageSharing } from './message-sharing.ts'
import { type MessageDescription, toDescription, toMessage, toRelease } from './model.ts'
import type { ContentWriter } from './provider.ts'
import { createRawFiles } from './raw-files.ts'
import { createThreads, type Threads } from './threads.ts'
import { isWanted } from './wait.ts'

export type { ContentWriter } from './provider.ts'

/** Stored messages and threads. Null results mean that the message was deleted, unless said otherwise. */
export interface Messages extends Threads, MessageBatches, MessageSharing {
  /** `GET /mail/messages`: newest first, over every mailbox that the key may see. */
  listMail(caller: Caller, query: MailQuery): Promise<ReplyOf<typeof contract.listMail>>
  /** `GET …/messages`: one mailbox, filtered. */
  listMessages(
    caller: Caller,
    mailbox: string,
    query: QueryOf<typeof contract.listMessages>,
  ): Promise<ReplyOf<typeof contract.listMessages>>
  /** `GET …/wait`: the next arriving message that passes the filters. */
  waitForMessage(
    caller: Caller,
    mailbox: string,
    query: QueryOf<typeof contract.waitForMessage>,
  ): Promise<Later<ReplyOf<typeof contract.waitForMessage>>>
  /** `GET …/messages/{message_id}`. */
  getMessage(caller: Caller, mailbox: string, id: string): Promise<ReplyOf<typeof contract.getMessage>>
  /** `PATCH …/messages/{message_id}`: `labels` replaces, `add_labels` and `remove_labels` change. */
  updateMessage(
    call: Call,
    mailbox: string,
    id: string,
    body: BodyOf<typeof contract.updateMessage>,
  ): Promise<ReplyOf<typeof contract.updateMessage>>
  /** `DELETE …/messages/{message_id}`: permanent and idempotent. */
  deleteMessage(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.deleteMessage>>
  /** `POST …/messages/{message_id}/release`: out of quarantine, with the event of a regular arrival. */
  releaseMessage(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof contract.releaseMessage>>
  /** `GET …/messages/{message_id}/raw`: the bytes as they arrived, or as they are sent. */
  getRawMessage(caller: Caller, mailbox: string, id: string): Promise<Raw>
  /** `GET …/search?q=`: newest first, with the matches marked. */
  search(caller: Caller, mailbox: string, query: QueryOf<typeof contract.searchMessages>): Promise<ReplyOf<typeof contract.searchMessages>>

  /** The message of this mailbox. Access to the mailbox is checked first, so that 403 and 404 do not depend on the message. */
  requireMessage(caller: Caller, mailbox: string, id: string): Promise<MessageRow>
  /** Like `requireMessage`, to answer or forward it. Throws 409 for a message in quarantine. */
  requireAnswerable(caller: Caller, mailbox: string, id: string): Promise<MessageRow>
  /** The latest message of a thread, to continue it. Throws 404 when the mailbox does not have this thread. */
  requireThread(mailboxId: string, organizationId: string, id: string): Promise<{ threadId: string; latest: MessageRow | null }>
  /** A message, read fresh. */
  findMessage(id: string): Promise<MessageRow | null>
  /** An outbound message and its recipients, read fresh. */
  findForDelivery(id: string): Promise<{ row: MessageRow; recipients: RecipientRow[] } | null>
  /** The recipients of an outbound message, in order. Empty when it was deleted. */
  findRecipients(messageId: string): Promise<RecipientRow[]>
  /** Locks the recipients of these messages until the transaction ends. */
  lockRecipients(tx: Tx, messageIds: string[]): Promise<Map<string, RecipientRow[]>>
  /** Writes delivery results of recipients, and the status of their messages. */
  updateDeliveries(tx: Tx, deliveries: mailStore.DeliveryChange[], at: Date): Promise<void>
  /** The earlier messages with correspondents on a thread, with their delivery times. */
  findExchange(exchange: mailStore.Exchange): Promise<mailStore.Exchanged[]>
  hasExchanged(mailboxId: string, address: string): Promise<boolean>
  /** The messages from these correspondents since then, also trashed ones, by address without a tag. */
  countReceived(mailboxId: string, addresses: string[], since: Date): Promise<Map<string, number>>
  /**
   * True when the mailbox of a message has sent this address an automatic answer since then. Holds a lock on the pair until the transaction
   * ends, so that concurrent calls cannot both answer.
   */
  hasAutomaticAnswer(tx: Tx, message: MessageRow, address: string, since: Date): Promise<boolean>
  /** The stored bytes of an inbound message. */
  readRaw(rawId: string): Promise<Buffer>
  /** The event payloads of messages. Deleted messages are absent from the map. */
  describe(ids: string[]): Promise<Map<string, MessageDescription>>
  /** Deletes everything in a mailbox that is about to be deleted, inside the caller's transaction. */
  emptyMailbox(tx: Tx, organizationId: string, mailboxId: string): Promise<void>
  /** Deletes messages of a thread for good. `choose` returns them while the thread is locked. */
  deleteChosen(place: ThreadPlace, choose: (tx: Tx) => Promise<string[]>): Promise<Released>
  /** Deletes messages that were moved to the trash before this time. Returns their number. */
  purgeTrash(trashedBefore: Date): Promise<number>
  /** Deletes blobs older than this that no row names, left by requests that failed after writing them. Returns their number. */
  sweepBlobs(olderThanMs: number): Promise<number>
}

/** Composes the bytes of an outbound message. */
export type Compose = (message: MessageRow) => Promise<Buffer>

type Parts = {
  db: Database
  blobs: Blobs
  accounts: Accounts
  identities: Identities
  attachments: Attachments
  emit: Emit
  compose: Compose
  content: ContentWriter
  wait: Wait
  findUnusableKeys: FindUnusableKeys
}

export function createMessages(parts: Parts): Messages {
  const { db, blobs, accounts, identities, attachments, emit, compose, content, wait, findUnusableKeys } = parts
  const loadMessage = batchLoader((ids) => mailStore.findMessages(db, ids))
  const loadHead = batchLoader((ids) => mailStore.findHeads(db, ids))
  const loadRecipients = batchLoader((ids) => mailStore.findRecipients(db, ids))

  const deletion = createMessageDeletion({ db, blobs, identities, attachments })
  const showListed = createShowListed(db.reads, attachments)
  const findRecipients = async (messageId: string) => (await loadRecipients(messageId)) ?? []
  const threads = createThreads({ db, identities, emit, showListed, deleteFromThread: deletion.deleteFromThread })

  const showAttachments = async (row: MessageRow) => attachments.showRows(await attachments.filesOf(row))
  const show = async (row: MessageRow, recipients: RecipientRow[] = []) => ({
    ...toMessage(row, await showAttachments(row), recipients),
    raw_url: attachments.linkTo(row.id),
  })

  async function findInMailbox(caller: Caller, mailbox: string, id: string): Promise<MessageRow> {
    const row = await loadMessage(id)
    if (row && identities.isMailboxNamed(caller, mailbox, row)) return row
    // The reference may be another address of the mailbox.
    const owner = await identities.requireMailbox(caller, mailbox)
    if (row?.mailbox_id === owner.mailboxId) return row
    throw notFound('message')
  }

  /** The message, for a caller that may read its content. */
  async function requireMessage(caller: Caller, mailbox: string, id: string): Promise<MessageRow> {
    const row = await findInMailbox(caller, mailbox, id)
    if (row.status === 'quarantined') requireScope(caller, 'quarantine:read')
    return row
  }

  const currentThread = async (id: string) => (await findJoined(db, [id])).get(id) ?? id

  const { readRaw, readFile } = createRawFiles({ db, blobs, attachments, compose, findMessage: loadMessage })
  const pageParts = { attachments, content, findMessage: loadMessage }
  const sharing = createMessageSharing({ db, accounts, findUnusableKeys, requireMessage, ...pageParts })

  return {
    ...createMessageLists({ db, identities, attachments, showListed }),
    ...deletion,
    ...threads,
    ...sharing,
    ...createMessageBatches({ db, attachments, emit, setMessagesTrashed: threads.setMessagesTrashed }),

    requireMessage,
    readRaw,

    async requireAnswerable(caller, mailbox, id) {
      const row = await requireMessage(caller, mailbox, id)
      if (row.status === 'quarantined')
        throw new ApiError('conflict', 'This message is in quarantine. Release it before you reply to it or forward it.')
      return row
    },

    async releaseMessage(call, mailbox, id) {
      const owner = await identities.requireMailbox(call.caller, mailbox)
      const { mailboxId, organizationId, identityId } = owner
      await findInMailbox(call.caller, mailbox, id)
      return call.transact(async (tx) => {
        const seen = await lockMessage(tx, mailboxId, id)
        if (!seen) throw notFound('message')
        if (seen.status !== 'quarantined') return toRelease({ ...seen, id, thread_id: seen.thread.id })
        const row = await mailStore.releaseMessage(tx, id, now())
        const threadId = await fileReleased(tx, row, owner)
        await emit(tx, [{ type: 'email.received', organizationId, identityId, subjectId: id }])
        await accounts.audit(tx, organizationId, actorOf(call), 'message.released', id)
        return toRelease({ ...row, thread_id: threadId })
      })
    },

    async waitForMessage(caller, mailbox, query) {
      const owner = await identities.requireMailbox(caller, mailbox)
      const pick = async (ids: string[], after: Date | null) => {
        const heads = await Promise.all(ids.map(loadHead))
        const wants = query.thread_id === undefined ? query : { ...query, thread_id: await currentThread(query.thread_id) }
        for (const head of heads) {
          if (head === null || head.mailbox_id !== owner.mailboxId || !isWanted(head, wants, after)) continue
          const row = await loadMessage(head.id)
          if (row) return { id: row.id, value: await show(row) }
        }
        return null
      }
      return new Later(async (signal) => {
        const { found, cursor } = await wait({ caller, owner, types: ['email.received'], query, pick, signal })
        return { message: found, cursor }
      })
    },

    async getMessage(caller, mailbox, id) {
      const row = await requireMessage(caller, mailbox, id)
      return show(row, row.direction === 'outbound' ? await findRecipients(id) : [])
    },

    async updateMessage(call, mailbox, id, body) {
      const { mailboxId, organizationId } = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const { flags, changes } = await changeMessages(tx, { organizationId, mailboxIds: [mailboxId] }, [id], body)
        if (!flags[0]) throw notFound('message')
        await emitLabelChanges(emit, tx, organizationId, changes)
        return flags[0]
      })
    },

    async getRawMessage(caller, mailbox, id) {
      const row = await requireMessage(caller, mailbox, id)
      return new Raw('message/rfc822', await readFile(row), {
        'content-disposition': `attachment; filename="${id}.eml"`,
      })
    },

    async requireThread(mailboxId, organizationId, id) {
      const scope = { organizationId, mailboxIds: [mailboxId] }
      const thread = await findThread(db, scope, id)
      if (!thread) throw notFound('thread')
      const [latest] = await listByThread(db, { ...scope, threadId: thread.id }, { limit: 1, cursor: null })
      return { threadId: thread.id, latest: latest ? await loadMessage(latest.id) : null }
    },

    async findForDelivery(id) {
      const [row, recipients] = await Promise.all([loadMessage(id), loadRecipients(id)])
      return row && { row, recipients: recipients ?? [] }
    },

    findMessage: (id) => loadMessage(id),
    findRecipients,
    lockRecipients: mailStore.lockRecipients,
    updateDeliveries: mailStore.updateDeliveries,
    findExchange: (exchange) => mailStore.findExchange(db, exchange),
    countReceived: (...from) => mailStore.countReceived(db, ...from),

    async describe(ids) {
      // One character more than fits shows that a body was cut.
      const rows = [...(await mailStore.findCutMessages(db, ids, eventBodyBytesMax + 1)).values()]
      return new Map(await Promise.all(rows.map(async (row) => [row.id, toDescription(row, await showAttachments(row))] as const)))
    },

    async hasAutomaticAnswer(tx, message, address, since) {
      await mailStore.lockAutomaticAnswers(tx, message.mailbox_id, address)
      return mailStore.hasAutomaticAnswer(tx, message.mailbox_id, address, firstId('message', since.getTime()))
    },
  }
}
