// Who follows the events of which organization in this process: one watch for all of them, which also sees keys being revoked.
import { ApiError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'

type Parts = {
  /** Places what is committed and resolves with the last position. */
  place: () => Promise<number>
  findChanged: (organizationIds: string[], after: number) => Promise<string[]>
  findUnusableKeys: (keyIds: string[]) => Promise<Set<string>>
  log: Log
}

export type Follower = {
  readonly organizationId: string
  readonly keyId: string
  /** Resolves when there may be more to read, true, or when the following is over, false. */
  changed: () => Promise<boolean>
  leave: () => void
}

type Entry = Follower & { isOver: boolean; isWoken: boolean; wake: () => void }

/** Events of other nodes, and revoked keys, are seen within this. */
const watchMs = 400
/** Commits that come close together are looked at together. */
const gatherMs = 10
const followersMax = 5000
const followersOfKeyMax = 100

export function createFollowers({ place, findChanged, findUnusableKeys, log }: Parts) {
  const followers = new Set<Entry>()
  let head = 0
  let timer: NodeJS.Timeout | null = null
  let isWatching = false
  let isHurried = false

  const schedule = (ms: number): void => {
    if (timer) clearTimeout(timer)
    timer = followers.size === 0 ? null : setTimeout(watch, ms)
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
    if (reached <= head) return
    const changed = new Set(await findChanged([...new Set([...followers].map((one) => one.organizationId))], head))
    head = reached
    for (const follower of followers) if (changed.has(follower.organizationId)) follower.wake()
  }

  async function refuseUnusable(): Promise<void> {
    const unusable = await findUnusableKeys([...new Set([...followers].map((one) => one.keyId))])
    for (const follower of followers) if (unusable.has(follower.keyId)) end(follower)
  }

  function end(follower: Entry): void {
    follower.isOver = true
    followers.delete(follower)
    follower.wake()
  }

  return {
    /** Joins with the position that was read up to; 429 when this key, or everybody together, follows too much already. */
    join(organizationId: string, keyId: string): Follower {
      const ofKey = [...followers].filter((one) => one.keyId === keyId).length
      if (ofKey >= followersOfKeyMax || followers.size >= followersMax)
        throw new ApiError('rate_limited', `At most ${followersOfKeyMax} streams of one key may be open.`, {
          headers: { 'Retry-After': '10' },
        })
      let resume = () => {}
      const follower: Entry = {
        organizationId,
        keyId,
        isOver: false,
        isWoken: false,
        wake() {
          this.isWoken = true
          resume()
        },
        changed: () =>
          new Promise((resolve) => {
            const settle = () => {
              resume = () => {}
              follower.isWoken = false
              resolve(!follower.isOver)
            }
            resume = settle
            if (follower.isOver || follower.isWoken) settle()
          }),
        leave: () => end(follower),
      }
      followers.add(follower)
      if (followers.size === 1) schedule(watchMs)
      return follower
    },

    /** Something was committed in this process. */
    hurry(): void {
      if (followers.size === 0 || isHurried) return
      isHurried = true
      if (!isWatching) schedule(gatherMs)
    },
  }
}
