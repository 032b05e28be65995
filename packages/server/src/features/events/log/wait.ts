// Runs a wait: joins the waiters, reads earlier events, then takes new ones as they are passed on.
import { isId } from '@callsign/contract/ids'
import { batchLoader } from '../../../core/batch.ts'
import { accessIdOf } from '../../../core/caller.ts'
import { invalid } from '../../../core/errors.ts'
import type { Database } from '../../../core/sql.ts'
import type { Wait, WaitQuery, WaitRequest } from '../../../core/wait.ts'
import type { EventBrief } from './model.ts'
import * as store from './store.ts'
import { createWaiters } from './waiters.ts'

const timeoutSecondsDefault = 30
const readTogetherMax = 50
/** Events that one wait examines before it returns a cursor, so that a filter without matches does not read a whole mailbox. */
const lookedAtMax = 500

/** The cursor before everything. */
const beginning = 'start'

/** The position after an event of the organization. Throws 400 for `field` when it does not exist. */
type PositionAfter = (organizationId: string, id: string, field: string) => Promise<number>

export function createWait(db: Database, positionAfter: PositionAfter, onJoin: () => void) {
  const waiters = createWaiters((...wanted) => store.findNewBriefs(db, ...wanted))
  // Concurrent waits share one read.
  const loadHead = batchLoader(async () => new Map([['head', await store.placeEvents(db)]]))

  async function beginningOf({ after, cursor }: WaitQuery, organizationId: string, head: number): Promise<number> {
    if (cursor === beginning) return 0
    if (cursor !== undefined) return positionAfter(organizationId, cursor, '/cursor')
    return after === undefined ? head : store.findPositionBefore(db, organizationId, new Date(after))
  }

  const wait: Wait = async <T>({ caller, owner, types, query, pick, signal }: WaitRequest<T>) => {
    const { after, cursor, timeout = timeoutSecondsDefault } = query
    if (after !== undefined && cursor !== undefined) throw invalid('/cursor', 'send cursor or after, not both')
    if (cursor !== undefined && cursor !== beginning && !isId('event', cursor))
      throw invalid('/cursor', 'cursor must be the cursor of the previous response')
    const since = after === undefined ? null : new Date(after)

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

    // Joined before the head is read, so that nothing falls between.
    const waiter = waiters.join({ ...owner, keyId: accessIdOf(caller), types })
    onJoin()
    signal.addEventListener('abort', waiter.end, { once: true })
    if (signal.aborted) waiter.end()
    const timer = setTimeout(waiter.end, timeout * 1000)
    try {
      const head = (await loadHead('head')) ?? 0
      waiters.beginAt(head)
      let position = Math.min(await beginningOf(query, owner.organizationId, head), head)
      for (let lookedAt = 0; position < head; ) {
        const briefs = await store.listBriefs(db, owner.identityId, types, position, readTogetherMax)
        const wanted = await examine(briefs)
        if (wanted) return wanted
        lookedAt += briefs.length
        const last = briefs.at(-1)?.position ?? head
        position = briefs.length < readTogetherMax ? Math.max(head, last) : last
        if (lookedAt >= lookedAtMax && position < head) return { found: null, cursor: (briefs.at(-1) as EventBrief).id }
      }
      for (;;) {
        const briefs = await waiter.next()
        if (briefs === null) break
        const from = position
        const fresh = briefs.filter((one) => one.position > from)
        const wanted = await examine(fresh)
        if (wanted) return wanted
        position = Math.max(position, briefs.at(-1)?.position ?? position)
      }
      position = Math.max(position, waiters.handedOut() ?? 0)
      return { found: null, cursor: (await store.findLastOf(db, [owner.identityId], position)) ?? beginning }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', waiter.end)
      waiter.leave()
    }
  }

  return { wait, watchers: waiters.watchers }
}
