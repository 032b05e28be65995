// Watches for events and for revoked keys on behalf of everybody in this process who follows or waits: a few queries a tick, however many they are.
import type { Log } from '../../../core/log.ts'

/** Those on whose behalf is watched. */
export type Watchers = {
  count: () => number
  keyIds: () => Iterable<string>
  /** These keys hold no longer. */
  refuse: (keyIds: Set<string>) => void
  /** Everything up to this position can be read. */
  look: (reached: number) => Promise<void>
}

type Parts = {
  /** Places what is committed and resolves with the last position. */
  place: () => Promise<number>
  findUnusableKeys: (keyIds: string[]) => Promise<Set<string>>
  log: Log
}

/** Events of other nodes, and revoked keys, are seen within this. */
const watchMs = 400
/** Commits that come close together are looked at together. */
const gatherMs = 10

export function createWatch({ place, findUnusableKeys, log }: Parts, groups: Watchers[]) {
  let timer: NodeJS.Timeout | null = null
  let isWatching = false
  let isHurried = false

  const isNeeded = (): boolean => groups.some((group) => group.count() > 0)

  const schedule = (ms: number): void => {
    if (timer) clearTimeout(timer)
    timer = isNeeded() ? setTimeout(watch, ms) : null
  }

  async function watch(): Promise<void> {
    if (isWatching) return
    isWatching = true
    isHurried = false
    try {
      await Promise.all([refuseUnusable(), look()])
    } catch (err) {
      log.warn({ err }, 'the events cannot be watched')
      isHurried = false
    } finally {
      isWatching = false
      schedule(isHurried ? gatherMs : watchMs)
    }
  }

  async function look(): Promise<void> {
    const reached = await place()
    await Promise.all(groups.filter((group) => group.count() > 0).map((group) => group.look(reached)))
  }

  async function refuseUnusable(): Promise<void> {
    const keyIds = [...new Set(groups.flatMap((group) => [...group.keyIds()]))]
    const unusable = await findUnusableKeys(keyIds)
    if (unusable.size > 0) for (const group of groups) group.refuse(unusable)
  }

  return {
    /** Somebody has joined. */
    begin(): void {
      if (timer === null && !isWatching) schedule(watchMs)
    },

    /** Something was committed in this process. */
    hurry(): void {
      if (!isNeeded() || isHurried) return
      isHurried = true
      if (!isWatching) schedule(gatherMs)
    },
  }
}
