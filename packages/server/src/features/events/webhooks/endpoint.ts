// Concurrency window of one endpoint. It opens with fast successes and closes with failures, so that a failing endpoint does not delay others.

const windowInitial = 4
const windowMax = 32
/** Windows claimed at once for a fast endpoint, so that one claim serves many posts. */
const aheadMax = 8
/** An endpoint is slow when an attempt takes longer than this. */
const quickMs = 1000
/** Further failures in a row delay the next attempt by exponential backoff, from `pauseMs` to `pauseMsMax`. */
const failuresWithoutPauseMax = 5
const pauseMs = 100
const pauseMsMax = 5000
/** Retry-After applies to its own delivery. It delays the endpoint's other deliveries by at most this. */
const retryAfterMsMax = 60_000

/** State of one endpoint in this process. The rows in the database decide which deliveries are due, so a restart may lose it. */
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
