// Operations on stored messages and threads.
import { eventBodyBytesMax } from '@callsign/contract/events'
import { firstId, isId } from '@callsign/contract/ids'
import { batchLoader } from '../../../core/batch.ts'
import type { Blobs } from '../../../core/blobs.ts'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, forbidden, invalid, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { type PageRequest, readPage, toPage } from '../../../core/page.ts'
import { type Call, Later, Raw } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { Wait, WaitQuery } from '../../../core/wait.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import { type Attachments, findBytes, findMailboxBytes, findUnusedBlobs } from '../attachments/operations.ts'
import * as deliveryStore from './delivery-store.ts'
import { fileReleased } from './filing.ts'
import { addToCounts } from './filing-store.ts'
import * as filterStore from './filter-store.ts'
import { type MessageRow, type RecipientRow, toDescription, toItem, toMessage, toThread } from './model.ts'
import * as rawStore from './raw-store.ts'
import * as searchStore from './search-store.ts'
import * as store from './store.ts'
import { findJoined } from './thread-store.ts'
import { isWanted, type MessageWants } from './wait.ts'

export { answeredThreads, type Filed, type Filing, fileMessages, findParticipants, findThreads, type KnownThreads } from './filing.ts'
export type { NewRaw } from './filing-store.ts'

export type Messages = ReturnType<typeof createMessages>

/** Composes an outbound message; sending comes after messages in the feature order, so app.ts hands this in. */
export type Compose = (message: MessageRow) => Promise<Buffer>

type Parts = {
  db: Database
  blobs: Blobs
  accounts: Accounts
  identities: Identities
  attachments: Attachments
  emit: Emit
  compose: Compose
  wait: Wait
}

/** The most messages that a thread shows at once. */
const threadMessagesMax = 100
const labelsMax = 50

export function createMessages({ db, blobs, accounts, identities, attachments, emit, compose, wait }: Parts) {
  const loadMessage = batchLoader((ids) => store.findMessages(db.lookups, ids))
  const loadHead = batchLoader((ids) => store.findHeads(db.lookups, ids))
  const loadRecipients = batchLoader((ids) => deliveryStore.findRecipients(db.lookups, ids))

  let isPartsIndexThere: boolean | undefined
  const hasPartsIndex = async () => (isPartsIndexThere ??= await filterStore.hasPartsIndex(db))

  const showAttachments = async (row: MessageRow) => (row.attachment_count === 0 ? [] : attachments.show(row.id))
  const showItems = (rows: MessageRow[]) => Promise.all(rows.map(async (row) => toItem(row, await showAttachments(row))))

  /** A message under the mailbox that the path names. The mailbox decides first: 403 and 404 do not depend on the message. */
  async function requireMessage(caller: Caller, mailbox: string, id: string, found = loadMessage(id)): Promise<MessageRow> {
    const row = await found
    if (row && identities.isMailboxNamed(caller, mailbox, row)) return row
    await identities.requireMailbox(caller, mailbox)
    throw notFound('message')
  }

  const currentThread = async (id: string) => (await findJoined(db.lookups, [id])).get(id) ?? id

  async function itemsPage(rows: MessageRow[], page: PageRequest) {
    const { data, ...envelope } = toPage(
      rows,
      page.limit,
      (row) => row.id,
      (row) => row,
    )
    return { ...envelope, data: await showItems(data) }
  }

  return {
    requireMessage,

    /** The same for a message that is to be answered or forwarded. 409 for one in quarantine: whoever wants to answer it lets it out first. */
    async requireAnswerable(caller: Caller, mailbox: string, id: string): Promise<MessageRow> {
      const row = await requireMessage(caller, mailbox, id)
      if (row.status === 'quarantined')
        throw new ApiError('conflict', 'This message is in quarantine; it can be answered or forwarded once it has been released.')
      return row
    },

    /** `POST …/messages/{message_id}/release`: out of quarantine, with the event that its arrival would have been. */
    async releaseMessage(call: Call, mailbox: string, id: string) {
      const { mailboxId, organizationId, identityId } = await identities.requireMailbox(call.caller, mailbox)
      await requireMessage(call.caller, mailbox, id)
      if (call.caller.agent)
        throw forbidden('Only an organization key lets messages out of quarantine: no agent decides what it is kept from.')
      return call.transact(async (tx) => {
        const seen = await store.lockMessage(tx, mailboxId, id)
        if (!seen) throw notFound('message')
        const view = ({ thread_id, status, released_at }: Pick<store.LockedMessage, 'thread_id' | 'status' | 'released_at'>) => ({
          id,
          thread_id,
          status,
          released_at: released_at?.toISOString() ?? null,
        })
        if (seen.isCounted) return view(seen)
        const row = await store.releaseMessage(tx, id, now())
        const threadId = await fileReleased(tx, row)
        await emit(tx, [{ type: 'email.received', organizationId, identityId, subjectId: id }])
        await accounts.audit(tx, organizationId, actorOf(call), 'message.released', id)
        return view({ ...row, thread_id: threadId })
      })
    },

    /** `GET /mail/messages`: newest first over every mailbox that the key may see. */
    async listMail(caller: Caller, query: { thread_id?: string; agent?: string; limit?: number; cursor?: string }) {
      const page = readPage(query, 'message')
      const mailboxId =
        query.agent !== undefined ? (await identities.requireMailbox(caller, query.agent)).mailboxId : (caller.agent?.mailboxId ?? null)
      const scope = { organizationId: caller.organizationId, mailboxId, threadId: query.thread_id ?? null }
      const [rows, total] = await Promise.all([store.listByScope(db, scope, page), store.countByScope(db, scope)])
      const { data, next_cursor } = await itemsPage(rows, page)
      return { messages: data, total, next_cursor }
    },

    /** `GET …/messages`: one mailbox, filtered. */
    async listMessages(
      caller: Caller,
      mailbox: string,
      query: Omit<filterStore.MessageFilter, 'after' | 'before'> & { after?: string; before?: string; limit?: number; cursor?: string },
    ) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const { after, before, limit: _limit, cursor: _cursor, ...filter } = query
      const rows = await filterStore.listByFilter(
        db,
        mailboxId,
        {
          ...filter,
          after: after === undefined ? undefined : new Date(after),
          before: before === undefined ? undefined : new Date(before),
        },
        page,
        hasPartsIndex,
      )
      return itemsPage(rows, page)
    },

    /** `GET …/wait`: the next message to arrive that is wanted. */
    async waitForMessage(caller: Caller, mailbox: string, query: WaitQuery & MessageWants) {
      const owner = await identities.requireMailbox(caller, mailbox)
      const pick = async (ids: string[], after: Date | null) => {
        const heads = await Promise.all(ids.map(loadHead))
        const wants = query.thread_id === undefined ? query : { ...query, thread_id: await currentThread(query.thread_id) }
        for (const head of heads) {
          if (head === null || head.mailbox_id !== owner.mailboxId || !isWanted(head, wants, after)) continue
          const row = await loadMessage(head.id)
          if (row) return { id: row.id, value: toMessage(row, await showAttachments(row), []) }
        }
        return null
      }
      return new Later(async (signal) => {
        const { found, cursor } = await wait({ caller, owner, types: ['email.received'], query, pick, signal })
        return { message: found, cursor }
      })
    },

    /** Reads the message that a path names while it is not yet known who asks. What it says is for `getMessage`, which decides. */
    lookAhead: (id: string) => (isId('message', id) ? loadMessage(id) : undefined),

    /** `GET …/messages/{message_id}`. */
    async getMessage(caller: Caller, mailbox: string, id: string, found?: Promise<store.LocatedMessage | null>) {
      const row = await requireMessage(caller, mailbox, id, found)
      const [shown, recipients] = await Promise.all([showAttachments(row), row.direction === 'outbound' ? loadRecipients(id) : null])
      return toMessage(row, shown, recipients ?? [])
    },

    /** `PATCH …/messages/{message_id}`. `labels` replaces, `add_labels` and `remove_labels` change. */
    async updateMessage(
      call: Call,
      mailbox: string,
      id: string,
      body: { is_read?: boolean; is_starred?: boolean; labels?: string[]; add_labels?: string[]; remove_labels?: string[] },
    ) {
      const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
      return call.transact(async (tx) => {
        const flags = await store.updateFlags(tx, mailboxId, id, {
          isRead: body.is_read ?? null,
          isStarred: body.is_starred ?? null,
          labels: body.labels ?? null,
          add: body.add_labels ?? [],
          remove: body.remove_labels ?? [],
          at: now(),
        })
        if (!flags) throw notFound('message')
        if (flags.labels.length > labelsMax) throw invalid('/add_labels', `a message has at most ${labelsMax} labels`)
        return { id, ...flags }
      })
    },

    /** `DELETE …/messages/{message_id}`: for ever, and as often as you like. */
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
        // A forward may share them. Asked after the deletion, which waits for a forward under way.
        const attachmentBlobs = await findUnusedBlobs(tx, bytes.blobKeys)
        if (row.isCounted) await addToCounts(tx, [{ organizationId, mailboxId, delta: -1 }], 0)
        tx.afterCommit(() => attachments.deleteBlobs([...attachmentBlobs, ...rawBlobs]))
      })
      return { id, deleted: true as const }
    },

    /** `GET …/messages/{message_id}/raw`: as it arrived, or as it is sent. */
    async getRawMessage(caller: Caller, mailbox: string, id: string): Promise<Raw> {
      const row = await requireMessage(caller, mailbox, id)
      return new Raw('message/rfc822', row.raw_id === null ? await compose(row) : await this.readRaw(row.raw_id), {
        'content-disposition': `attachment; filename="${id}.eml"`,
      })
    },

    async readRaw(rawId: string): Promise<Buffer> {
      const raw = await rawStore.findRaw(db, rawId)
      if (!raw) throw notFound('message')
      return raw.bytes ?? blobs.get(raw.blobKey as string)
    },

    /** `GET …/threads`: latest message first. */
    async listThreads(caller: Caller, mailbox: string, query: { limit?: number; cursor?: string }) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      return toPage(await store.listThreads(db, mailboxId, page), page.limit, (row) => row.last_message_id, toThread)
    },

    /** `GET …/threads/{thread_id}`: oldest first, the latest 100. */
    async getThread(caller: Caller, mailbox: string, id: string) {
      const { mailboxId, organizationId } = await identities.requireMailbox(caller, mailbox)
      const [thread, rows] = await Promise.all([
        store.findThread(db, mailboxId, id),
        store.listByScope(db, { organizationId, mailboxId, threadId: id }, { limit: threadMessagesMax - 1, cursor: null }),
      ])
      if (!thread) throw notFound('thread')
      return { ...toThread(thread), messages: await showItems(rows.toReversed()) }
    },

    /** `GET …/search?q=`: newest first, with what matched marked. */
    async search(caller: Caller, mailbox: string, query: { q: string; limit?: number; cursor?: string }) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const rows = await searchStore.search(db, mailboxId, query.q, page)
      const marked = new Map(
        rows.map((row) => [row.id, { subject: searchStore.toMarked(row.subject_marked), text: searchStore.toMarked(row.text_marked) }]),
      )
      const found = await itemsPage(rows, page)
      return { ...found, data: found.data.map((item) => ({ ...item, highlights: marked.get(item.id) ?? { subject: null, text: null } })) }
    },

    /** The latest message of a thread, to continue it; 404 when the mailbox has no such thread. */
    async requireThread(mailboxId: string, organizationId: string, id: string): Promise<{ threadId: string; latest: MessageRow | null }> {
      const thread = await store.findThread(db, mailboxId, id)
      if (!thread) throw notFound('thread')
      const [latest] = await store.listByScope(db, { organizationId, mailboxId, threadId: thread.id }, { limit: 1, cursor: null })
      return { threadId: thread.id, latest: latest ?? null }
    },

    /** An outbound message and its recipients, read fresh. Null when it was deleted. */
    async findForDelivery(id: string): Promise<{ row: MessageRow; recipients: RecipientRow[] } | null> {
      const [row, recipients] = await Promise.all([loadMessage(id), loadRecipients(id)])
      return row && { row, recipients: recipients ?? [] }
    },

    /** A message, read fresh; null when it was deleted. */
    findMessage: (id: string): Promise<MessageRow | null> => loadMessage(id),

    /** The recipients of an outbound message, in order; none when it was deleted. */
    findRecipients: async (messageId: string) => (await loadRecipients(messageId)) ?? [],

    lockRecipients: deliveryStore.lockRecipients,
    updateDeliveries: deliveryStore.updateDeliveries,

    /** When two agents' messages on a thread before this one were delivered; null for those that wait. */
    findExchange: (exchange: Parameters<typeof deliveryStore.findExchange>[1]) => deliveryStore.findExchange(db, exchange),

    /** What events tell of messages; those that are gone are not in the map. */
    async describe(ids: string[]) {
      // One character more than fits, so that a body that was cut here is seen to be too long.
      const rows = [...(await store.findCutMessages(db, ids, eventBodyBytesMax + 1)).values()]
      return new Map(await Promise.all(rows.map(async (row) => [row.id, toDescription(row, await showAttachments(row))] as const)))
    },

    /**
     * Whether an automatic answer went from the mailbox of a message to this address since then. Whoever asks for the same two waits until the
     * transaction has ended, so that nobody is answered twice at once.
     */
    async hasAutomaticAnswer(tx: Tx, message: MessageRow, address: string, since: Date): Promise<boolean> {
      await store.lockAutomaticAnswers(tx, message.mailbox_id, address)
      return store.hasAutomaticAnswer(tx, message.mailbox_id, address, firstId('message', since.getTime()))
    },

    /** Deletes everything in a mailbox that is about to go, inside the caller's transaction. */
    async emptyMailbox(tx: Tx, organizationId: string, mailboxId: string): Promise<void> {
      // Attachments share blobs within a mailbox only, so none of these is needed elsewhere.
      const bytes = await findMailboxBytes(tx, mailboxId)
      const rawIds = await store.deleteAll(tx, organizationId, mailboxId)
      const rawBlobs = await rawStore.deleteUnusedRaw(tx, [...rawIds, ...bytes.rawIds])
      tx.afterCommit(() => attachments.deleteBlobs([...bytes.blobKeys, ...rawBlobs]))
    },

    /** Deletes blobs older than a day that no row names: left by requests that failed after writing them. Returns how many. */
    async sweepBlobs(olderThanMs: number): Promise<number> {
      let deleted = 0
      const check = async (keys: string[]) => {
        const named = new Set([...(await rawStore.findNamedBlobs(db, keys)), ...(await attachments.findShelvedBlobs(keys))])
        for (const key of keys) {
          if (named.has(key)) continue
          await blobs.delete(key)
          deleted++
        }
      }
      let keys: string[] = []
      for await (const key of blobs.list(olderThanMs)) {
        keys.push(key)
        if (keys.length === 500) {
          await check(keys)
          keys = []
        }
      }
      if (keys.length > 0) await check(keys)
      return deleted
    },
  }
}
