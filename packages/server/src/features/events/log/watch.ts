// Watches for events and revoked keys for all streams and waits of this process, with a fixed number of queries per tick.
import type { Log } from '../../../core/log.ts'
import type { History, Mark } from './history.ts'

/** A group of streams or waits. */
export type Watchers = {
  count: () => number
  accessIds: () => Iterable<string>
  /** Ends the members with these sessions and keys, which are not usable any more. */
  refuse: (accessIds: Set<string>) => void
  /** Reads events up to this position. */
  look: (reached: number) => Promise<void>
  /** Forgets every position, because positions may have been given again. Each member finds its place by its last event. */
  reset: () => void
}

type Parts = {
  /** Assigns positions to committed events and resolves with the last one. */
  place: () => Promise<Mark>
  history: Pick<History, 'has'>
  findUnusable: (accessIds: string[]) => Promise<Set<string>>
  log: Log
}

/** Poll interval for events of other nodes and for revoked keys. */
const watchMs = 400
/** Commits within this time share one read. */
const gatherMs = 10

export function createWatch({ place, history, findUnusable, log }: Parts, groups: Watchers[]) {
  let head: Mark | null = null
  let timer: NodeJS.Timeout | null = null
  let isWatching = false
  let isPollingSoon = false

  const isNeeded = (): boolean => groups.some((group) => group.count() > 0)

  const schedule = (ms: number): void => {
    if (timer) clearTimeout(timer)
    timer = isNeeded() ? setTimeout(watch, ms) : null
  }

  async function watch(): Promise<void> {
    if (isWatching) return
    isWatching = true
    isPollingSoon = false
    try {
      await Promise.all([refuseUnusable(), look()])
    } catch (err) {
      log.warn({ err }, 'watching events failed')
      isPollingSoon = false
    } finally {
      isWatching = false
      schedule(isPollingSoon ? gatherMs : watchMs)
    }
  }

  async function look(): Promise<void> {
    const reached = await place()
    if (head !== null && head.id !== reached.id && !(await history.has(head))) for (const group of groups) group.reset()
    head = reached
    await Promise.all(groups.filter((group) => group.count() > 0).map((group) => group.look(reached.position)))
  }

  async function refuseUnusable(): Promise<void> {
    const accessIds = [...new Set(groups.flatMap((group) => [...group.accessIds()]))]
    const unusable = await findUnusable(accessIds)
    if (unusable.size > 0) for (const group of groups) group.refuse(unusable)
  }

  return {
    /** Starts to watch after a member has joined. */
    begin(): void {
      if (timer === null && !isWatching) schedule(watchMs)
    },

    /** Schedules a read soon after a commit of this process. */
    pollSoon(): void {
      if (!isNeeded() || isPollingSoon) return
      isPollingSoon = true
      if (!isWatching) schedule(gatherMs)
    },
  }
}
