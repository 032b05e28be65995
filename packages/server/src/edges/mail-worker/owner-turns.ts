// Turns between the owners of waiting work: the least used time first, a limit of running tasks per owner, and an end for owners that used much.
import { nowMs } from '../../core/clock.ts'

export type TurnSettings = {
  /** Tasks of one owner that run at a time. */
  runningPerOwnerMax: number
  /** The time that an owner can use up at once. While others wait, its tasks end when it is used up. */
  ownerMsMax: number
  /** A task may run for this time in any case. */
  taskMsMin: number
}

export interface OwnerTurns<Item> {
  /** Appends an item to the queue of its owner. */
  add(owner: string, item: Item): void
  /** Removes and starts the next item: that of the owner that used the least time lately. Null when nothing waits that may run. */
  next(): { owner: string; item: Item } | null
  /** Ends the run of an item, and takes its time from its owner. */
  finish(owner: string, usedMs: number): void
  /** The time after which a task of this owner ends when another owner waits. */
  allowedMs(owner: string): number
  /** True when an item waits that may run now. `besides` leaves out the items of one owner. */
  isWaiting(besides?: string): boolean
  /** Removes all items. */
  clear(): Item[]
}

/** An owner's time comes back at this share of real time. */
const refill = 0.1
const accountsMax = 1000

type Account = { usedMs: number; atMs: number }

export function createOwnerTurns<Item>({ runningPerOwnerMax, ownerMsMax, taskMsMin }: TurnSettings): OwnerTurns<Item> {
  const queues = new Map<string, Item[]>()
  const running = new Map<string, number>()
  const accounts = new Map<string, Account>()

  const mayRun = (owner: string): boolean => (running.get(owner) ?? 0) < runningPerOwnerMax
  function usedMs(owner: string): number {
    const account = accounts.get(owner)
    return account === undefined ? 0 : Math.max(0, account.usedMs - (nowMs() - account.atMs) * refill)
  }

  function forgetRested(): void {
    if (accounts.size <= accountsMax) return
    for (const owner of accounts.keys()) if (usedMs(owner) === 0) accounts.delete(owner)
  }

  return {
    add(owner, item) {
      const queue = queues.get(owner)
      if (queue) queue.push(item)
      else queues.set(owner, [item])
    },

    next() {
      const owner = [...queues.keys()]
        .filter(mayRun)
        .reduce<string | undefined>((least, one) => (least === undefined || usedMs(one) < usedMs(least) ? one : least), undefined)
      if (owner === undefined) return null
      const [item, ...rest] = queues.get(owner) as [Item, ...Item[]]
      // Owners that used as much follow each other.
      queues.delete(owner)
      if (rest.length > 0) queues.set(owner, rest)
      running.set(owner, (running.get(owner) ?? 0) + 1)
      return { owner, item }
    },

    finish(owner, ms) {
      const left = (running.get(owner) ?? 0) - 1
      if (left > 0) running.set(owner, left)
      else running.delete(owner)
      accounts.set(owner, { usedMs: Math.min(ownerMsMax, usedMs(owner) + ms), atMs: nowMs() })
      forgetRested()
    },

    allowedMs: (owner) => Math.max(taskMsMin, ownerMsMax - usedMs(owner)),

    isWaiting: (besides) => [...queues.keys()].some((owner) => owner !== besides && mayRun(owner)),

    clear() {
      const items = [...queues.values()].flat()
      queues.clear()
      return items
    },
  }
}
