// Operations on threads, in one mailbox and across the organization, and the trash.
import type { View } from '@callsign/contract/message-views'
import type { trashMessage } from '@callsign/contract/messages'
import { labelsMax } from '@callsign/contract/metadata'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/threads'
import type { Static } from 'typebox'
import { type Caller, onlyAgentOf } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { changeMetadata, filterMark, metadataMarks } from '../../../core/metadata.ts'
import { readPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import * as mailStore from '../stored/mail-store.ts'
import type { ThreadFacts, ThreadRow } from '../stored/model.ts'
import { emitLabelChanges, type LabelChange, sameChange } from './label-changes.ts'
import { addLatest, type ShowListed } from './listed-messages.ts'
import type { createMessageDeletion } from './message-deletion.ts'
import { toThread } from './thread-model.ts'

type Filters = Omit<QueryOf<typeof contract.listThreads>, 'after' | 'before'> & { after?: string; before?: string }

/** Threads, by the same filters in one mailbox and across the organization, and what moves to the trash and back. */
export interface Threads {
  /** `GET …/threads`: one mailbox, latest message first. */
  listThreads(caller: Caller, mailbox: string, query: QueryOf<typeof contract.listThreads>): Promise<ReplyOf<typeof contract.listThreads>>
  /** `GET /threads`: every mailbox that the key may see. */
  listAllThreads(caller: Caller, query: QueryOf<typeof contract.listAllThreads>): Promise<ReplyOf<typeof contract.listAllThreads>>
  /** `GET …/threads/{thread_id}`: oldest first, the latest 100 messages. */
  getThread(caller: Caller, mailbox: string, id: string, view?: View): Promise<ReplyOf<typeof contract.getThread>>
  /** `GET /threads/{thread_id}`. */
  getThreadById(caller: Caller, id: string, view?: View): Promise<ReplyOf<typeof contract.getThreadById>>
  /** A thread without its messages, for bodies of events. Null when it was deleted. */
  describeThread(organizationId: string, id: string): Promise<Static<typeof contract.Thread> | null>
  /** `PATCH /threads/{thread_id}`: folder, labels, metadata and read state. */
  updateThread(call: Call, id: string, body: BodyOf<typeof contract.updateThread>): Promise<ReplyOf<typeof contract.updateThread>>
  /** `DELETE /threads/{thread_id}`: to the trash, or with `permanent` for good. Idempotent. */
  deleteThread(call: Call, id: string, query: QueryOf<typeof contract.deleteThread>): Promise<ReplyOf<typeof contract.deleteThread>>
  /** `POST /threads/{thread_id}/restore`: out of the trash, into the folder where it was. */
  restoreThread(call: Call, id: string): Promise<ReplyOf<typeof contract.restoreThread>>
  /** `POST …/messages/{message_id}/trash`. */
  trashMessage(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof trashMessage>>
  /** `POST …/messages/{message_id}/restore`. */
  restoreMessage(call: Call, mailbox: string, id: string): Promise<ReplyOf<typeof trashMessage>>
  /** The thread of a mailbox, and its message if it is there, that the last known of these Message-IDs belongs to. Quarantined mail does not count. */
  findReferenced(mailboxId: string, references: string[]): Promise<{ threadId: string; messageId: string | null } | null>
  /** True for a Message-ID that a message of the mailbox has or names, in quarantine too. */
  isKnownMessageId(mailboxId: string, messageId: string): Promise<boolean>
  /** Moves messages of the scope to the trash or back, in the caller's transaction, and returns their changes. Leaves out messages in quarantine. */
  setMessagesTrashed(tx: Tx, scope: mailStore.ChangeScope, ids: string[], isTrashed: boolean): Promise<LabelChange[]>
}

type Parts = {
  db: Database
  identities: Identities
  emit: Emit
  showListed: ShowListed
  deleteFromThread: ReturnType<typeof createMessageDeletion>['deleteFromThread']
}

/** The most messages that a thread shows at once. */
const threadMessagesMax = 100

export function createThreads({ db, identities, emit, showListed, deleteFromThread }: Parts): Threads {
  const scopeOf = ({ organizationId, agents }: Caller): mailStore.ChangeScope => ({
    organizationId,
    mailboxIds: agents?.map((agent) => agent.mailboxId) ?? null,
  })

  async function listIn(scope: mailStore.OwnerScope, { q, limit, cursor, after, before, with_last_message, ...rest }: Filters) {
    const filter: mailStore.ThreadFilter = {
      ...rest,
      metadata: filterMark(rest.metadata),
      after: toDate(after),
      before: toDate(before),
    }
    const page = readPage({ limit, cursor }, isByThread(filter, q) ? 'thread' : 'message')
    if (q !== undefined && filter.folder === 'trash') throw invalid('/q', 'a search does not reach the trash: omit q or folder')
    const { rows, resumeAt } = await (q === undefined
      ? mailStore.listThreads(db.reads, scope, filter, page)
      : mailStore.searchThreads(db.reads, scope, q, filter, page))
    const shown = rows.slice(0, page.limit)
    const nextCursor = rows.length > page.limit ? (shown.at(-1)?.position ?? null) : resumeAt
    const threads = await showThreads(db.reads, shown)
    const data = with_last_message === true ? await addLatest(threads, showListed) : threads
    return { object: 'list' as const, data, has_more: nextCursor !== null, next_cursor: nextCursor }
  }

  async function getIn(scope: mailStore.ChangeScope, id: string, view?: View) {
    const thread = await mailStore.findThread(db, scope, id)
    if (!thread) throw notFound('thread')
    const page = { limit: threadMessagesMax - 1, cursor: null }
    const rows = isTrashed(thread)
      ? await mailStore.listTrashed(db, thread.id, threadMessagesMax)
      : await mailStore.listByThread(
          db,
          { organizationId: scope.organizationId, mailboxIds: [thread.mailbox_id], threadId: thread.id },
          page,
        )
    const ids = rows.map((row) => row.id).toReversed()
    const [[shown], messages] = await Promise.all([showThreads(db, [thread]), showListed(ids, view)])
    return { ...(shown as ShownThread), messages }
  }

  async function requireLocked(tx: Tx, caller: Caller, id: string): Promise<mailStore.LockedThread> {
    const thread = await mailStore.lockThread(tx, scopeOf(caller), id)
    if (!thread) throw notFound('thread')
    return thread
  }

  async function setTrashed(tx: Tx, thread: mailStore.LockedThread, ids: string[] | null, at: Date | null): Promise<LabelChange[]> {
    const moved = await mailStore.setTrashed(tx, thread, ids, at)
    const delta = at === null ? moved.length : -moved.length
    await mailStore.addToCounts(tx, [{ organizationId: thread.organization_id, mailboxId: thread.mailbox_id, delta, bytes: 0 }])
    return sameChange(thread, moved, at === null ? { added: [], removed: ['trash'] } : { added: ['trash'], removed: [] })
  }

  async function setRead(tx: Tx, thread: mailStore.LockedThread, isRead: boolean, at: Date): Promise<LabelChange[]> {
    const marked = await mailStore.setThreadRead(tx, thread.id, isRead, at)
    return sameChange(thread, marked, isRead ? { added: ['read'], removed: ['unread'] } : { added: ['unread'], removed: ['read'] })
  }

  /** The thread as it is now in the transaction. */
  async function show(tx: Tx, thread: mailStore.LockedThread) {
    const scope = { organizationId: thread.organization_id, mailboxIds: [thread.mailbox_id] }
    const [view] = await showThreads(tx, [(await mailStore.findThread(tx, scope, thread.id)) as ThreadRow])
    return view as ShownThread
  }

  async function moveMessage(call: Call, mailbox: string, id: string, isTrashed: boolean) {
    const { mailboxId } = await identities.requireMailbox(call.caller, mailbox)
    return call.transact(async (tx) => {
      const message = await mailStore.lockMessage(tx, mailboxId, id)
      if (!message) throw notFound('message')
      if (message.status === 'quarantined')
        throw new ApiError('conflict', 'This message is in quarantine. Release it or delete it: it cannot be moved to the trash.')
      const at = isTrashed ? (message.trashed_at ?? now()) : null
      if (isTrashed !== (message.trashed_at !== null))
        await emitLabelChanges(emit, tx, message.thread.organization_id, await setTrashed(tx, message.thread, [id], at))
      return { id, thread_id: message.thread.id, trashed_at: at?.toISOString() ?? null }
    })
  }

  return {
    async findReferenced(mailboxId, references) {
      const known = (await mailStore.findReferences(db, [{ mailboxId, references }])).get(mailboxId)
      const found = known?.get(references.findLast((one) => known.get(one)?.isQuarantined === false) ?? '')
      return found ? { threadId: found.threadId, messageId: found.messageId } : null
    },

    async isKnownMessageId(mailboxId, messageId) {
      return (await mailStore.findReferences(db, [{ mailboxId, references: [messageId] }])).get(mailboxId)?.has(messageId) === true
    },

    async listThreads(caller, mailbox, query) {
      const { mailboxId, organizationId } = await identities.requireMailbox(caller, mailbox)
      return listIn({ organizationId, mailboxId }, query)
    },

    async listAllThreads(caller, { agent, ...query }) {
      if (agent === undefined) return listIn(ownerOf(caller), query)
      const { mailboxId, organizationId } = await identities.requireMailbox(caller, agent)
      return listIn({ organizationId, mailboxId }, query)
    },

    async getThread(caller, mailbox, id, view) {
      const { mailboxId, organizationId } = await identities.requireMailbox(caller, mailbox)
      return getIn({ organizationId, mailboxIds: [mailboxId] }, id, view)
    },

    getThreadById: (caller, id, view) => getIn(scopeOf(caller), id, view),

    async describeThread(organizationId, id) {
      const thread = await mailStore.findThread(db, { organizationId, mailboxIds: null }, id)
      return (thread && (await showThreads(db, [thread]))[0]) ?? null
    },

    updateThread: (call, id, body) =>
      call.transact(async (tx) => {
        const thread = await requireLocked(tx, call.caller, id)
        const at = now()
        const changes: LabelChange[] = []
        if (body.folder === 'trash') changes.push(...(await setTrashed(tx, thread, null, at)))
        else if (body.folder !== undefined) {
          if (isTrashed(thread)) changes.push(...(await setTrashed(tx, thread, null, null)))
          await mailStore.setFolder(tx, thread.id, body.folder)
        }
        if (body.is_read !== undefined) changes.push(...(await setRead(tx, thread, body.is_read, at)))
        await emitLabelChanges(emit, tx, thread.organization_id, changes)
        const labels = { labels: body.labels ?? null, add: body.add_labels ?? [], remove: body.remove_labels ?? [] }
        if (labels.labels !== null || labels.add.length > 0 || labels.remove.length > 0)
          if ((await mailStore.setThreadLabels(tx, thread.id, labels)) > labelsMax)
            throw invalid('/add_labels', `a thread has at most ${labelsMax} labels`)
        if (body.metadata !== undefined) {
          const metadata = changeMetadata(await mailStore.findMetadata(tx, thread.id), body.metadata)
          await mailStore.setThreadMetadata(tx, thread.id, metadata, metadataMarks(metadata))
        }
        return show(tx, thread)
      }),

    deleteThread: (call, id, { permanent }) =>
      call.transact(async (tx) => {
        const at = now()
        const thread = await mailStore.lockThread(tx, scopeOf(call.caller), id)
        if (!thread) {
          if (!(await mailStore.isThreadDeleted(tx, scopeOf(call.caller), id))) throw notFound('thread')
          return { id, deleted: true as const, permanent: true }
        }
        if (permanent) {
          await deleteFromThread(tx, thread, { ids: null, trashedBefore: null })
          await mailStore.insertDeletedThread(tx, thread, at)
          return { id, deleted: true as const, permanent: true }
        }
        await emitLabelChanges(emit, tx, thread.organization_id, await setTrashed(tx, thread, null, at))
        return { id, deleted: true as const, permanent: false }
      }),

    restoreThread: (call, id) =>
      call.transact(async (tx) => {
        const thread = await requireLocked(tx, call.caller, id)
        await emitLabelChanges(emit, tx, thread.organization_id, await setTrashed(tx, thread, null, null))
        return show(tx, thread)
      }),

    async setMessagesTrashed(tx, scope, ids, isTrashed) {
      const changes: LabelChange[] = []
      for (const threadId of await mailStore.findThreadsOf(tx, scope, ids)) {
        const thread = await mailStore.lockThread(tx, scope, threadId)
        if (thread) changes.push(...(await setTrashed(tx, thread, ids, isTrashed ? now() : null)))
      }
      return changes
    },

    trashMessage: (call, mailbox, id) => moveMessage(call, mailbox, id, true),
    restoreMessage: (call, mailbox, id) => moveMessage(call, mailbox, id, false),
  }
}

type ShownThread = ReturnType<typeof toThread>

const noFacts: ThreadFacts = { senders: [], recipients: [], size_bytes: 0, last_received_at: null, last_sent_at: null }

async function showThreads(sql: Sql, rows: ThreadRow[]): Promise<ShownThread[]> {
  const facts = rows.length === 0 ? null : await mailStore.findFacts(sql, rows)
  return rows.map((row) => toThread(row, facts?.get(row.id) ?? noFacts))
}

/** The mailbox of an agent key, or the organization. A list is in the order of one index, so a key of several agents names one. */
function ownerOf(caller: Caller): mailStore.OwnerScope {
  const mailboxId = onlyAgentOf(caller)?.mailboxId ?? null
  if (caller.agents && mailboxId === null) throw invalid('/agent', 'agent is required: this key has several agents')
  return { organizationId: caller.organizationId, mailboxId }
}

/** True for a list that goes by the ids of threads. The others go by the ids of messages. */
const isByThread = (filter: mailStore.ThreadFilter, q: string | undefined): boolean =>
  filter.folder === 'scheduled' && filter.label === undefined && filter.metadata === undefined && q === undefined

/** True for a thread whose messages are all in the trash. */
const isTrashed = (thread: { message_count: number; trashed_count: number }): boolean =>
  thread.message_count === 0 && thread.trashed_count > 0

const toDate = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))
