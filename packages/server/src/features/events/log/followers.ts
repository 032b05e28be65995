// Open event streams of this process by organization, which wake up when there may be new events.
import { ApiError } from '../../../core/errors.ts'
import type { Watchers } from './watch.ts'

export type Follower = {
  readonly organizationId: string
  /** The session or the key, with whose end the stream ends. */
  readonly accessId: string
  /** Resolves with true when new events may exist, and with false when the stream has ended. */
  changed: () => Promise<boolean>
  leave: () => void
}

type Entry = Follower & { limitId: string; isOver: boolean; isWoken: boolean; wake: () => void }

const followersMax = 5000
const followersOfKeyMax = 100

export function createFollowers(findChanged: (organizationIds: string[], after: number) => Promise<string[]>) {
  const followers = new Set<Entry>()
  let head = 0

  function end(follower: Entry): void {
    follower.isOver = true
    followers.delete(follower)
    follower.wake()
  }

  const watchers: Watchers = {
    count: () => followers.size,
    accessIds: () => new Set([...followers].map((one) => one.accessId)),
    refuse(accessIds) {
      for (const follower of followers) if (accessIds.has(follower.accessId)) end(follower)
    },
    async look(reached) {
      if (reached <= head) return
      const changed = new Set(await findChanged([...new Set([...followers].map((one) => one.organizationId))], head))
      head = reached
      for (const follower of followers) if (changed.has(follower.organizationId)) follower.wake()
    },
    reset() {
      head = 0
      for (const follower of followers) follower.wake()
    },
  }

  return {
    watchers,

    /** Opens a stream. Throws 429 when this key or member, or all together, have too many. */
    join(organizationId: string, { accessId, limitId }: { accessId: string; limitId: string }): Follower {
      const ofKey = [...followers].filter((one) => one.limitId === limitId).length
      if (ofKey >= followersOfKeyMax || followers.size >= followersMax)
        throw new ApiError('rate_limited', `At most ${followersOfKeyMax} streams per key or member may be open. Close one first.`, {
          headers: { 'Retry-After': '10' },
        })
      let resume = () => {}
      const follower: Entry = {
        organizationId,
        accessId,
        limitId,
        isOver: false,
        isWoken: false,
        wake() {
          this.isWoken = true
          resume()
        },
        changed: () =>
          new Promise((resolve) => {
            const report = () => {
              resume = () => {}
              follower.isWoken = false
              resolve(!follower.isOver)
            }
            resume = report
            if (follower.isOver || follower.isWoken) report()
          }),
        leave: () => end(follower),
      }
      followers.add(follower)
      return follower
    },
  }
}
