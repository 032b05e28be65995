// Runs a wait: joins the waiters, reads earlier events, then takes new ones as they are passed on.
import { isId, timeOfId } from '@callsign/contract/ids'
import { batchLoader } from '../../../core/batch.ts'
import { accessIdOf, limitIdOf } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { invalid } from '../../../core/errors.ts'
import type { Database } from '../../../core/sql.ts'
import type { Wait, WaitQuery, WaitRequest } from '../../../core/wait.ts'
import type { History, Mark } from './history.ts'
import type { EventBrief } from './model.ts'
import * as store from './store.ts'
import { createWaiters, type Waiter } from './waiters.ts'

const timeoutSecondsDefault = 30
const readTogetherMax = 50
/** Events that one wait examines before it returns a cursor, so that a filter without matches does not read a whole mailbox. */
const lookedAtMax = 500

/** The cursor before everything. */
const beginning = 'start'

/** Where a wait begins: after this position, with events later than `since`. */
type Beginning = { position: number; since: Date | null }

export function createWait(db: Database, history: History, onJoin: () => void) {
  const waiters = createWaiters((...wanted) => store.findNewBriefs(db, ...wanted))
  // Concurrent waits share one read.
  const loadHead = batchLoader(async () => new Map([['head', await store.placeEvents(db)]]))

  async function beginAt(organizationId: string, since: Date): Promise<Beginning> {
    return { position: await store.findPositionBefore(db, organizationId, since), since }
  }

  /** A wait whose cursor was lost begins at the time of the cursor. */
  async function beginningOf({ after, cursor }: WaitQuery, organizationId: string, head: Mark): Promise<Beginning> {
    if (cursor === beginning) return { position: 0, since: null }
    if (cursor !== undefined) {
      const position = await history.findPlace(organizationId, cursor, '/cursor')
      return position === null ? beginAt(organizationId, new Date(timeOfId(cursor))) : { position, since: null }
    }
    return after === undefined ? { position: head.position, since: null } : beginAt(organizationId, new Date(after))
  }

  const wait: Wait = async <T>({ caller, owner, types, query, pick, signal }: WaitRequest<T>) => {
    const { after, cursor, timeout = timeoutSecondsDefault } = query
    if (after !== undefined && cursor !== undefined) throw invalid('/cursor', 'send cursor or after, not both')
    if (cursor !== undefined && cursor !== beginning && !isId('event', cursor))
      throw invalid('/cursor', 'cursor must be the cursor of the previous response')

    // Joined before the head is read, so that nothing falls between.
    const waiter = waiters.join({ ...owner, accessId: accessIdOf(caller), limitId: limitIdOf(caller), types })
    onJoin()
    signal.addEventListener('abort', waiter.end, { once: true })
    if (signal.aborted) waiter.end()
    const timer = setTimeout(waiter.end, timeout * 1000)
    try {
      const startedAt = now().toISOString()
      let from = query
      for (;;) {
        const answer = await readFrom(from, { owner, types, pick, waiter })
        if (answer !== 'reset') return answer
        // The positions that this wait had read are not those of the log any more.
        if (cursor === undefined && after === undefined) from = { after: startedAt }
      }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', waiter.end)
      waiter.leave()
    }
  }

  type Reading<T> = Pick<WaitRequest<T>, 'owner' | 'types' | 'pick'> & { waiter: Waiter }

  /** Reads earlier events, then waits for new ones. Resolves with `reset` when the log was replaced meanwhile. */
  async function readFrom<T>(query: WaitQuery, { owner, types, pick, waiter }: Reading<T>) {
    const head = (await loadHead('head')) ?? { position: 0, id: null }
    waiters.beginAt(head.position)
    const { since, ...begun } = await beginningOf(query, owner.organizationId, head)
    let position = Math.min(begun.position, head.position)

    /** Resolves with the first event that matches, or null. */
    const examine = async (briefs: EventBrief[]) => {
      const fresh = since === null ? briefs : briefs.filter((one) => one.created_at > since)
      const picked =
        fresh.length === 0
          ? null
          : await pick(
              fresh.map((one) => one.subject_id),
              since,
            )
      return picked && { found: picked.value, cursor: (fresh.find((one) => one.subject_id === picked.id) as EventBrief).id }
    }

    for (let lookedAt = 0; position < head.position; ) {
      const briefs = await store.listBriefs(db, owner.identityId, types, position, readTogetherMax)
      const wanted = await examine(briefs)
      if (wanted) return wanted
      lookedAt += briefs.length
      const last = briefs.at(-1)?.position ?? head.position
      position = briefs.length < readTogetherMax ? Math.max(head.position, last) : last
      if (lookedAt >= lookedAtMax && position < head.position) return { found: null, cursor: (briefs.at(-1) as EventBrief).id }
    }
    for (;;) {
      const briefs = await waiter.next()
      if (briefs === 'reset') return briefs
      if (briefs === null) break
      const from = position
      const fresh = briefs.filter((one) => one.position > from)
      const wanted = await examine(fresh)
      if (wanted) return wanted
      position = Math.max(position, briefs.at(-1)?.position ?? position)
    }
    position = Math.max(position, waiters.handedOut() ?? 0)
    const last = await store.findLastOf(db, [owner.identityId], position)
    if (!(await history.has(head))) return 'reset'
    return { found: null, cursor: last?.id ?? beginning }
  }

  return { wait, watchers: waiters.watchers }
}
