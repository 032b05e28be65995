// Per-endpoint queues of claimed deliveries and their concurrency windows, so that a slow endpoint does not delay the others.

/** A claimed delivery that has waited this long for a slot is released. */
const queuedMsMax = 30_000
/** Limit of posts that have run for less than `quickMs`. Slow posts do not count, so that hanging endpoints do not delay the others. */
const quickMax = 256
/** Limit of all running posts. */
const runningMax = 768
/** An attempt that takes longer than this is slow. */
const quickMs = 1_000
/** Limits of rows and endpoints per claim. */
const claimRowsMax = 512
const claimEndpointsMax = 64

const windowInitial = 4
const windowMax = 32
/** Windows claimed at once for a fast endpoint, so that one claim serves many posts. */
const aheadMax = 8
/** Further failures in a row delay the next attempt by exponential backoff, from `pauseMs` to `pauseMsMax`. */
const failuresWithoutPauseMax = 5
const pauseMs = 100
const pauseMsMax = 5000
/** Retry-After applies to its own delivery. It delays the endpoint's other deliveries by at most this. */
const retryAfterMsMax = 60_000

export type Want = { webhookId: string; limit: number }
type Queued<T> = { item: T; claimedMs: number }
type Queue<T> = { endpoint: Endpoint; items: Queued<T>[] }

/** A post to start. The caller must call `isOver` when it has ended. */
export type Slot<T> = { endpoint: Endpoint; item: T; isOver: () => void }

export class QueueSlots<T> {
  readonly #queues = new Map<string, Queue<T>>()
  readonly #running = new Set<{ startedMs: number }>()

  get running(): number {
    return this.#running.size
  }

  #queueOf(webhookId: string): Queue<T> {
    let queue = this.#queues.get(webhookId)
    if (!queue) {
      queue = { endpoint: new Endpoint(webhookId), items: [] }
      this.#queues.set(webhookId, queue)
    }
    return queue
  }

  /** Marks webhooks that may have due deliveries. */
  markDue(webhookIds: string[]): void {
    for (const id of webhookIds) this.#queueOf(id).endpoint.isDue = true
  }

  /** Forgets idle endpoints without a queue. */
  forgetIdle(): void {
    for (const [id, { endpoint, items }] of this.#queues) if (endpoint.isForgettable && items.length === 0) this.#queues.delete(id)
  }

  /** Number of posts that may start now. */
  #room(nowMs: number): number {
    let slow = 0
    // In order of their start.
    for (const run of this.#running) {
      if (run.startedMs > nowMs - quickMs) break
      slow++
    }
    return Math.min(quickMax - (this.#running.size - slow), runningMax - this.#running.size)
  }

  /** Deliveries to claim, for every endpoint that is due and has room. */
  wants(nowMs: number): Want[] {
    const wants: Want[] = []
    let rows = this.#room(nowMs) > 0 ? claimRowsMax : 0
    for (const [webhookId, { endpoint, items }] of this.#queues) {
      if (wants.length === claimEndpointsMax || rows <= 0) break
      const limit = Math.min(endpoint.holdMax - endpoint.running - items.length, rows)
      // A queue above the window is not refilled row by row.
      if (!endpoint.isDue || limit < 1 || items.length > endpoint.window || endpoint.waitMs(nowMs) > 0) continue
      wants.push({ webhookId, limit })
      rows -= limit
    }
    return wants
  }

  /** Starts a claim. Webhooks marked from now on count for the next one. */
  beginClaim(wants: Want[]): void {
    for (const { webhookId } of wants) this.#queueOf(webhookId).endpoint.isDue = false
  }

  /** Ends a claim. An endpoint that reached its limit stays due, and moves behind the others. */
  endClaim(wants: Want[], countOf: (webhookId: string) => number): void {
    for (const { webhookId, limit } of wants) {
      const queue = this.#queueOf(webhookId)
      if (countOf(webhookId) === limit) queue.endpoint.isDue = true
      this.#queues.delete(webhookId)
      this.#queues.set(webhookId, queue)
    }
  }

  add(webhookId: string, item: T, claimedMs: number): void {
    this.#queueOf(webhookId).items.push({ item, claimedMs })
  }

  /** Empties the queue of an endpoint and marks it due. `waitMs` is its remaining backoff. */
  empty(webhookId: string, nowMs: number): { items: T[]; waitMs: number } {
    const { endpoint, items } = this.#queueOf(webhookId)
    endpoint.isDue = true
    return { items: items.splice(0).map((one) => one.item), waitMs: endpoint.waitMs(nowMs) }
  }

  /** Webhooks with a queue. */
  webhookIds(): string[] {
    return [...this.#queues.keys()]
  }

  /** Takes the deliveries that may start now, round robin over the queues. `stale` lists webhooks in backoff or with a wait that is too long. */
  take(nowMs: number): { taken: Slot<T>[]; stale: string[] } {
    const taken: Slot<T>[] = []
    const stale = new Set<string>()
    let left = this.#room(nowMs)
    for (let isAny = true; isAny && left > 0; ) {
      isAny = false
      for (const [webhookId, { endpoint, items }] of this.#queues) {
        if (left <= 0) break
        const first = items[0]
        if (!first || stale.has(webhookId) || endpoint.running >= endpoint.window) continue
        if (endpoint.waitMs(nowMs) > 0 || nowMs - first.claimedMs > queuedMsMax) {
          stale.add(webhookId)
          continue
        }
        items.shift()
        taken.push(this.#begin(endpoint, first.item, nowMs))
        left--
        isAny = true
      }
    }
    return { taken, stale: [...stale] }
  }

  #begin(endpoint: Endpoint, item: T, startedMs: number): Slot<T> {
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

/**
 * One endpoint in this process. Its window opens with fast successes and closes with failures. The rows in the database decide which deliveries are due, so a restart
 * may lose it.
 */
export class Endpoint {
  readonly webhookId: string
  /** True when due deliveries may exist. */
  isDue = false
  /** Running posts. */
  running = 0
  #window = windowInitial
  #failures = 0
  #pausedUntilMs = 0

  constructor(webhookId: string) {
    this.webhookId = webhookId
  }

  /** Number of posts that may run in parallel. */
  get window(): number {
    return this.#window
  }

  /** Limit of claimed rows, running and queued. */
  get holdMax(): number {
    return this.#failures > 0 || this.#window < windowMax / 2 ? this.#window : this.#window * aheadMax
  }

  /** Milliseconds until the next attempt may start, or 0. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs)
  }

  /** True when a new instance would behave the same. */
  get isForgettable(): boolean {
    return !this.isDue && this.running === 0 && this.#failures === 0
  }

  succeeded(durationMs: number): void {
    this.#failures = 0
    this.#pausedUntilMs = 0
    this.#window = durationMs <= quickMs ? Math.min(windowMax, this.#window + 1) : Math.max(1, this.#window >> 1)
  }

  failed(nowMs: number, retryAfterMs: number | null): void {
    this.#failures++
    this.#window = Math.max(1, this.#window >> 1)
    const beyond = this.#failures - failuresWithoutPauseMax
    const ownMs = beyond <= 0 ? 0 : Math.min(pauseMsMax, pauseMs * 2 ** Math.min(beyond - 1, 10))
    const askedMs = Math.min(retryAfterMs ?? 0, retryAfterMsMax)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.max(ownMs, askedMs))
  }
}
