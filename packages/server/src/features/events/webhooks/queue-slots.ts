// Per-endpoint queues of claimed deliveries, so that a slow endpoint does not delay the others.
import { Endpoint } from './endpoint.ts'

/** A claimed row that has waited this long for its turn is given back. */
const turnMsMax = 30_000
/** Posts under way that answer in good time, and all of them: what hangs does not count against what does not. */
const quickMax = 256
const runningMax = 768
const quickMs = 1_000
/** One claim's rows and endpoints. */
const claimRowsMax = 512
const claimEndpointsMax = 64

export type Want = { webhookId: string; limit: number }
type Waiting<T> = { item: T; claimedMs: number }
type Line<T> = { endpoint: Endpoint; queue: Waiting<T>[] }

/** A post to begin; `isOver` has to be called when it is. */
export type Turn<T> = { endpoint: Endpoint; item: T; isOver: () => void }

export class Turns<T> {
  readonly #lines = new Map<string, Line<T>>()
  readonly #running = new Set<{ startedMs: number }>()

  get running(): number {
    return this.#running.size
  }

  #lineOf(webhookId: string): Line<T> {
    let line = this.#lines.get(webhookId)
    if (!line) {
      line = { endpoint: new Endpoint(webhookId), queue: [] }
      this.#lines.set(webhookId, line)
    }
    return line
  }

  /** There may be rows of these webhooks that are due. */
  heat(webhookIds: string[]): void {
    for (const id of webhookIds) this.#lineOf(id).endpoint.isHot = true
  }

  /** Forgets endpoints that there is nothing to remember of. */
  forgetIdle(): void {
    for (const [id, { endpoint, queue }] of this.#lines) if (endpoint.isForgettable && queue.length === 0) this.#lines.delete(id)
  }

  /** Number of posts that may begin now. */
  #room(nowMs: number): number {
    let lingering = 0
    // In the order of their beginning.
    for (const run of this.#running) {
      if (run.startedMs > nowMs - quickMs) break
      lingering++
    }
    return Math.min(quickMax - (this.#running.size - lingering), runningMax - this.#running.size)
  }

  /** Deliveries to claim, for every endpoint that is due and has room. */
  wants(nowMs: number): Want[] {
    const wants: Want[] = []
    let rows = this.#room(nowMs) > 0 ? claimRowsMax : 0
    for (const [webhookId, { endpoint, queue }] of this.#lines) {
      if (wants.length === claimEndpointsMax || rows <= 0) break
      const limit = Math.min(endpoint.holdMax - endpoint.running - queue.length, rows)
      // A queue that is still well filled is not topped up row by row.
      if (!endpoint.isHot || limit < 1 || queue.length > endpoint.window || endpoint.waitMs(nowMs) > 0) continue
      wants.push({ webhookId, limit })
      rows -= limit
    }
    return wants
  }

  /** A claim begins; what is said to be due from now on counts for the next one. */
  beginClaim(wants: Want[]): void {
    for (const { webhookId } of wants) this.#lineOf(webhookId).endpoint.isHot = false
  }

  /** A claim brought this much: an endpoint that got all it wanted may have more. The others go first next time. */
  endClaim(wants: Want[], countOf: (webhookId: string) => number): void {
    for (const { webhookId, limit } of wants) {
      const line = this.#lineOf(webhookId)
      if (countOf(webhookId) === limit) line.endpoint.isHot = true
      this.#lines.delete(webhookId)
      this.#lines.set(webhookId, line)
    }
  }

  add(webhookId: string, item: T, claimedMs: number): void {
    this.#lineOf(webhookId).queue.push({ item, claimedMs })
  }

  /** Takes everything out of an endpoint's line; it is hot then, and the milliseconds are how long it pauses. */
  empty(webhookId: string, nowMs: number): { items: T[]; waitMs: number } {
    const { endpoint, queue } = this.#lineOf(webhookId)
    endpoint.isHot = true
    return { items: queue.splice(0).map((one) => one.item), waitMs: endpoint.waitMs(nowMs) }
  }

  /** The endpoints with a line. */
  webhookIds(): string[] {
    return [...this.#lines.keys()]
  }

  /** Takes the deliveries that may begin now, round robin over the queues. `stale`: webhooks to give back, because they pause or waited too long. */
  take(nowMs: number): { turns: Turn<T>[]; stale: string[] } {
    const turns: Turn<T>[] = []
    const stale = new Set<string>()
    let left = this.#room(nowMs)
    for (let isAny = true; isAny && left > 0; ) {
      isAny = false
      for (const [webhookId, { endpoint, queue }] of this.#lines) {
        if (left <= 0) break
        const first = queue[0]
        if (!first || stale.has(webhookId) || endpoint.running >= endpoint.window) continue
        if (endpoint.waitMs(nowMs) > 0 || nowMs - first.claimedMs > turnMsMax) {
          stale.add(webhookId)
          continue
        }
        queue.shift()
        turns.push(this.#begin(endpoint, first.item, nowMs))
        left--
        isAny = true
      }
    }
    return { turns, stale: [...stale] }
  }

  #begin(endpoint: Endpoint, item: T, startedMs: number): Turn<T> {
    const run = { startedMs }
    endpoint.running++
    this.#running.add(run)
    return {
      endpoint,
      item,
      isOver: () => {
        if (this.#running.delete(run)) endpoint.running--
      },
    }
  }
}
