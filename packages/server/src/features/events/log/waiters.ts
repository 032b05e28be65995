// Waits of this process for the next event of an agent. Each new event is passed to its waits, so that none of them polls.
import { ApiError } from '../../../core/errors.ts'
import type { EventBrief } from './model.ts'
import type { Watchers } from './watch.ts'

export type Waiter = {
  /**
   * The next events, oldest first, possibly with repetitions. Null when the wait is over. `reset` when the wait must find its place again.
   * Rejects with 401 when the key was revoked.
   */
  next: () => Promise<EventBrief[] | 'reset' | null>
  /** Ends the wait after the events received so far. */
  end: () => void
  leave: () => void
}

type Entry = {
  organizationId: string
  identityId: string
  /** The session or the key, with whose end the wait ends. */
  accessId: string
  limitId: string
  types: ReadonlySet<string>
  came: EventBrief[]
  state: 'waiting' | 'over' | 'refused'
  isReset: boolean
  wake: () => void
}

type FindNew = (organizationIds: string[], types: string[], after: number, upTo: number, limit: number) => Promise<EventBrief[]>

const waitersMax = 20_000
const waitersOfKeyMax = 1000
const readTogetherMax = 1000

const refused = (): ApiError =>
  new ApiError('unauthorized', 'This API key was revoked or has expired. Use another key.', { headers: { 'WWW-Authenticate': 'Bearer' } })

export function createWaiters(findNew: FindNew) {
  const byIdentity = new Map<string, Set<Entry>>()
  /** Open waits by the key or member that limits count by. */
  const ofLimit = new Map<string, number>()
  let count = 0
  /** Position up to which events were delivered to the waits. Null before the first `beginAt`. */
  let seen: number | null = null

  const everyone = () => [...byIdentity.values()].flatMap((entries) => [...entries])

  function leave(entry: Entry): void {
    const entries = byIdentity.get(entry.identityId)
    if (!entries?.delete(entry)) return
    if (entries.size === 0) byIdentity.delete(entry.identityId)
    const left = (ofLimit.get(entry.limitId) as number) - 1
    if (left === 0) ofLimit.delete(entry.limitId)
    else ofLimit.set(entry.limitId, left)
    if (--count === 0) seen = null
  }

  function finish(entry: Entry, state: 'over' | 'refused'): void {
    if (entry.state !== 'waiting') return
    entry.state = state
    entry.wake()
  }

  const watchers: Watchers = {
    count: () => count,
    accessIds: () => new Set(everyone().map((entry) => entry.accessId)),
    refuse(accessIds) {
      for (const entry of everyone()) if (accessIds.has(entry.accessId)) finish(entry, 'refused')
    },
    reset() {
      seen = null
      for (const entry of everyone()) {
        entry.isReset = true
        entry.wake()
      }
    },
    async look(reached) {
      while (seen !== null && seen < reached) {
        const from: number = seen
        const waiting = everyone()
        const types = [...new Set(waiting.flatMap((entry) => [...entry.types]))]
        const rows = await findNew([...new Set(waiting.map((entry) => entry.organizationId))], types, from, reached, readTogetherMax)
        for (const row of rows) {
          for (const entry of byIdentity.get(row.identity_id) ?? []) {
            if (!entry.types.has(row.type)) continue
            entry.came.push(row)
            entry.wake()
          }
        }
        // A wait that began at an earlier position meanwhile causes a second read of these.
        if (seen === from) seen = rows.length < readTogetherMax ? reached : (rows.at(-1) as EventBrief).position
      }
    },
  }

  return {
    watchers,

    /** Opens a wait. Throws 429 when this key or member, or all together, have too many. */
    join(whose: { organizationId: string; identityId: string; accessId: string; limitId: string; types: string[] }): Waiter {
      const already = ofLimit.get(whose.limitId) ?? 0
      if (already >= waitersOfKeyMax || count >= waitersMax)
        throw new ApiError('rate_limited', `At most ${waitersOfKeyMax} waits per key may be open. Retry when one has ended.`, {
          headers: { 'Retry-After': '5' },
        })
      const entry: Entry = { ...whose, types: new Set(whose.types), came: [], state: 'waiting', isReset: false, wake: () => {} }
      ofLimit.set(whose.limitId, already + 1)
      const entries = byIdentity.get(whose.identityId) ?? new Set()
      byIdentity.set(whose.identityId, entries.add(entry))
      count++
      return {
        async next() {
          if (entry.came.length === 0 && !entry.isReset && entry.state === 'waiting')
            await new Promise<void>((resolve) => {
              entry.wake = resolve
            })
          if (entry.state === 'refused') throw refused()
          if (entry.isReset) {
            entry.isReset = false
            entry.came = []
            return 'reset'
          }
          return entry.came.length > 0 ? entry.came.splice(0) : null
        },
        end: () => finish(entry, 'over'),
        leave: () => leave(entry),
      }
    },

    /**
     * Starts delivery after this position, which the wait has read up to. Events may be delivered again: a wait joins before it reads its
     * position, and the watch may have passed that position in between.
     */
    beginAt(position: number): void {
      if (count > 0 && (seen === null || position < seen)) seen = position
    },

    /** Position up to which events were delivered to the waits, or null. */
    handedOut: () => seen,
  }
}
