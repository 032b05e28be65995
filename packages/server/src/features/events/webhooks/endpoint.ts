// Concurrency window of one endpoint. It opens with fast successes and closes with failures, so that a failing endpoint does not delay others.

const windowAtFirst = 4
const windowMax = 32
/** Rows claimed ahead of the window of an endpoint that answers quickly: one claim for many posts. */
const aheadMax = 8
/** An attempt that takes longer than this says that the endpoint is slow. */
const quickMs = 1000
/** In a row, failures beyond these put a pause before the next attempt, each longer than the one before. */
const failuresAtOnce = 5
const pauseMs = 100
const pauseMsMax = 5000
/** Retry-After holds for the delivery that got it; the others wait for it only this long. */
const retryAfterMsMax = 60_000

/** State of one endpoint in this process. It is lost with the process: rows in the database decide which deliveries are due. */
export class Endpoint {
  readonly webhookId: string
  /** There may be rows that are due. */
  isHot = false
  /** Posts under way. */
  running = 0
  #window = windowAtFirst
  #failures = 0
  #pausedUntilMs = 0

  constructor(webhookId: string) {
    this.webhookId = webhookId
  }

  /** Number of posts that may run in parallel. */
  get window(): number {
    return this.#window
  }

  /** Number of rows to hold: the running ones and those that wait in the queue. */
  get holdMax(): number {
    return this.#failures > 0 || this.#window < windowMax / 2 ? this.#window : this.#window * aheadMax
  }

  /** Milliseconds until the next attempt may begin; 0 when now. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs)
  }

  /** True when nothing is to be remembered: the next one starts like a new one. */
  get isForgettable(): boolean {
    return !this.isHot && this.running === 0 && this.#failures === 0
  }

  succeeded(durationMs: number): void {
    this.#failures = 0
    this.#pausedUntilMs = 0
    this.#window = durationMs <= quickMs ? Math.min(windowMax, this.#window + 1) : Math.max(1, this.#window >> 1)
  }

  failed(nowMs: number, retryAfterMs: number | null): void {
    this.#failures++
    this.#window = Math.max(1, this.#window >> 1)
    const beyond = this.#failures - failuresAtOnce
    const ownMs = beyond <= 0 ? 0 : Math.min(pauseMsMax, pauseMs * 2 ** Math.min(beyond - 1, 10))
    const askedMs = Math.min(retryAfterMs ?? 0, retryAfterMsMax)
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.max(ownMs, askedMs))
  }
}
