// Which thread a message joins: by In-Reply-To, References and its own Message-ID, never by subject. Threads that share a message become one.

import { TryAgain, type Tx } from '../../../../core/sql.ts'
import type { MessageRow } from '../model.ts'
import * as threadStore from '../thread-store.ts'

/** The identifiers that decide a message's thread, with their angle brackets. */
export type ThreadKeys = { mailboxId: string; messageId: string | null; inReplyTo: string[]; references: string[] }

/** Longest Message-ID that is indexed, in bytes (RFC 5322 §2.1.1 line limit). Longer ones are ignored in threading. */
const idBytesMax = 998

/** Ids to look up, most telling first: the message answered, then the chain from its end, then the message itself (a parent that comes late). */
export function lookupOrder(keys: ThreadKeys): string[] {
  const ordered = [...keys.inReplyTo, ...keys.references.toReversed(), ...(keys.messageId ? [keys.messageId] : [])]
  return [...new Set(ordered)].filter((id) => Buffer.byteLength(id) <= idBytesMax)
}

/**
 * `hasOutbound`: the agent has written in the thread. `isQuarantined`: only a quarantined message says that this is its id, so that it counts for finding
 * copies of that message and for nothing else.
 */
export type KnownReference = { threadId: string; messageId: string | null; hasOutbound: boolean; isQuarantined: boolean }

/** References of one mailbox that are known, by id. */
export type KnownReferences = Map<string, KnownReference>

export type ThreadPlace = {
  threadId: string
  isNew: boolean
  /** Our message that this one answers, when it is here. */
  inReplyToMessageId: string | null
  /** Ids to record as belonging to the thread, because no thread owns them yet. */
  unknownReferences: string[]
  /** Other threads that the message belongs to as well. They and `threadId` become one thread. */
  joined: string[]
}

/**
 * Places one message. Adds the decision to `known`, so that the next message of a batch sees it. The threads of a mailbox are the connected
 * components of its references, so they do not depend on the order of arrival. `threadId` is that of the message's own id where there is one.
 */
export function placeInThread(keys: ThreadKeys, messageId: string, known: KnownReferences, newThreadId: () => string): ThreadPlace {
  const ordered = lookupOrder(keys)
  const own = keys.messageId === null ? undefined : believed(known, keys.messageId)
  const found = [...(own ? [own] : []), ...ordered.flatMap((id) => believed(known, id) ?? [])]
  const [first, ...joined] = new Set(found.map((reference) => reference.threadId))
  const threadId = first ?? newThreadId()
  const hasOutbound = found.some((reference) => reference.hasOutbound)
  const unknownReferences = ordered.filter((id) => !believed(known, id))
  for (const id of unknownReferences) known.set(id, { threadId, messageId: null, hasOutbound, isQuarantined: false })
  const inReplyToMessageId = findParent(keys, known)
  recordOwnId(keys, messageId, known)
  return { threadId, isNew: first === undefined, inReplyToMessageId, unknownReferences, joined }
}

/**
 * Places a quarantined message in a thread of its own. Its references are not trusted, and its Message-ID may copy that of another message.
 * The Message-ID is recorded as quarantined, to recognise copies, and is not used to place other messages.
 */
export function placeQuarantined(keys: ThreadKeys, messageId: string, known: KnownReferences, newThreadId: () => string): ThreadPlace {
  const threadId = newThreadId()
  const unknownReferences = lookupOrder(keys).filter((id) => id === keys.messageId && !known.has(id))
  for (const id of unknownReferences) known.set(id, { threadId, messageId, hasOutbound: false, isQuarantined: true })
  return { threadId, isNew: true, inReplyToMessageId: findParent(keys, known), unknownReferences, joined: [] }
}

function believed(known: KnownReferences, id: string): KnownReference | undefined {
  const reference = known.get(id)
  return reference?.isQuarantined ? undefined : reference
}

const findParent = (keys: ThreadKeys, known: KnownReferences): string | null =>
  keys.inReplyTo.map((id) => believed(known, id)?.messageId).find((id) => id) ?? null

function recordOwnId(keys: ThreadKeys, messageId: string, known: KnownReferences): void {
  const own = keys.messageId === null ? undefined : known.get(keys.messageId)
  if (own && own.messageId === null) own.messageId = messageId
}

/** Threads that become one, by union-find: `find` names the same thread for all threads that have been joined. */
export class JoinedThreads {
  readonly #parents = new Map<string, string>()

  find(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    return root
  }

  join(id: string, other: string): void {
    const [kept, dropped] = [this.find(id), this.find(other)]
    if (kept !== dropped) this.#parents.set(dropped, kept)
  }

  /** The threads that were joined, by the thread that `find` names for them, which is among them. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>()
    for (const id of this.#parents.keys()) {
      const root = this.find(id)
      groups.set(root, [...(groups.get(root) ?? [root]), id])
    }
    return groups
  }
}

/** Messages that one message may move from thread to thread: some 2 s. Beyond it the threads stay apart, and the message joins one of them. */
const movedMax = 3_000

/** Ends with the next try, which looks up where its references are now. */
const threadMoved = 'a thread has gone, or has become part of another one, since it was looked up'

/**
 * Makes one thread of those that a message of the batch connects. Returns which thread each of them is now. Of the threads in the database the one with
 * the most messages is kept, so that a message moves at most once per doubling of its thread.
 */
export async function joinThreads(tx: Tx, places: ThreadPlace[]): Promise<(threadId: string) => string> {
  const joins = new JoinedThreads()
  for (const { threadId, joined } of places) for (const other of joined) joins.join(threadId, other)
  const groups = joins.groups()
  if (groups.size === 0) return (id) => id
  const newThreads = new Set(places.flatMap((place) => (place.isNew ? [place.threadId] : [])))
  const isStored = (id: string) => !newThreads.has(id)
  const kept = new Map<string, string>()
  /** Threads that stay apart, because moving their messages would take too long. */
  const apart = new Set<string>()
  const stored = [...groups].map(([root, ids]) => [root, ids.filter(isStored)] as const)
  for (const [root, [only = root]] of stored) kept.set(root, only)
  if (stored.some(([, ids]) => ids.length > 1)) {
    // All threads of the batch, in the order in which every transaction locks them, so that two batches do not deadlock.
    const rows = await threadStore.lockThreads(tx, [
      ...new Set(places.flatMap(({ threadId, joined }) => [threadId, ...joined]).filter(isStored)),
    ])
    for (const [root, ids] of stored) {
      const threads = ids.flatMap((id) => rows.get(id) ?? [])
      if (threads.length < ids.length || threads.some((thread) => thread.joined_into !== null)) throw new TryAgain(threadMoved)
      const [largest, ...others] = threads.toSorted((a, b) => b.message_count - a.message_count || (a.id < b.id ? -1 : 1))
      if (!largest || others.length === 0) continue
      if (others.reduce((sum, thread) => sum + thread.message_count + thread.trashed_count, 0) > movedMax) {
        for (const id of groups.get(root) as string[]) apart.add(id)
        continue
      }
      await threadStore.joinStored(tx, largest, others)
      kept.set(root, largest.id)
    }
  }
  return (id) => (apart.has(id) ? id : (kept.get(joins.find(id)) ?? id))
}

/** The thread of a new message, or the references that decide it. */
export type FilingThread =
  | { known: { threadId: string; isNew: boolean; inReplyToMessageId: string | null } }
  | { references: Pick<ThreadKeys, 'inReplyTo' | 'references'> }

export type Threaded = { message: Pick<MessageRow, 'mailbox_id' | 'rfc_message_id'>; thread: FilingThread }

/** Known references of messages, by mailbox. */
export type KnownThreads = Map<string, KnownReferences>

/** The threads with messages of the agent that a message answers, by In-Reply-To and References only. */
export function answeredThreads(filing: Threaded, known: KnownThreads): string[] {
  if (!('references' in filing.thread)) return []
  const references = known.get(filing.message.mailbox_id)
  const found = lookupOrder({ ...keysOf(filing), messageId: null }).flatMap((reference) => references?.get(reference) ?? [])
  return [...new Set(found.flatMap(({ threadId, hasOutbound }) => (hasOutbound ? [threadId] : [])))]
}

/** The identifiers of a message, without those of others if its thread is known. */
export function keysOf(filing: Threaded): ThreadKeys {
  const { inReplyTo, references } = 'references' in filing.thread ? filing.thread.references : { inReplyTo: [], references: [] }
  return { mailboxId: filing.message.mailbox_id, messageId: filing.message.rfc_message_id, inReplyTo, references }
}
