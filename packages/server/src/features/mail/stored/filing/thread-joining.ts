// Makes one thread of several that a message connects.
import { TryAgain, type Tx } from '../../../../core/sql.ts'
import * as threadStore from '../thread-store.ts'
import { JoinedThreads, type ThreadPlace } from './threading.ts'

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
