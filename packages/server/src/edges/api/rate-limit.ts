// Token buckets in memory, with a rate per second and a burst for each key or address.

type Bucket = { tokens: number; atMs: number }

/** Above this number the oldest buckets are dropped. A dropped bucket starts full again, so nothing is refused because of it. */
const bucketsMax = 20_000

/** Buckets of one rate, by name. */
export class TokenBuckets {
  readonly #perMs: number
  readonly #burst: number
  readonly #buckets = new Map<string, Bucket>()

  /** `perSecond` 0 disables the limit. */
  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000
    this.#burst = Math.max(1, burst)
  }

  /** Takes one token. Returns 0, or the milliseconds until one is available. */
  take(name: string, nowMs: number): number {
    if (this.#perMs === 0) return 0
    const bucket = this.#buckets.get(name) ?? this.#add(name, nowMs)
    // The wall clock may be set back.
    if (nowMs > bucket.atMs) bucket.tokens = Math.min(this.#burst, bucket.tokens + (nowMs - bucket.atMs) * this.#perMs)
    bucket.atMs = nowMs
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perMs)
    bucket.tokens--
    return 0
  }

  #add(name: string, nowMs: number): Bucket {
    if (this.#buckets.size >= bucketsMax) {
      let toDrop = bucketsMax / 10
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest)
        if (--toDrop <= 0) break
      }
    }
    const bucket = { tokens: this.#burst, atMs: nowMs }
    this.#buckets.set(name, bucket)
    return bucket
  }
}

/** Retry-After in whole seconds. */
export const retryAfterSeconds = (waitMs: number): string => String(Math.max(1, Math.ceil(waitMs / 1000)))
