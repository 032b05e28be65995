// Connection rate limit with one token bucket per client.
import { nowMs } from '../../../core/clock.ts'

const minuteMs = 60_000
/** Number of clients above which full buckets are dropped. A new bucket is full as well. */
const bucketsMax = 10_000

export class ConnectionRate {
  readonly #perMinute: number
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>()

  /** 0 disables the limit. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** False when this client has connected too often. */
  take(client: string, atMs = nowMs()): boolean {
    if (this.#perMinute === 0) return true
    const bucket = this.#buckets.get(client)
    const tokens = bucket ? this.#tokensAt(bucket, atMs) : this.#perMinute
    if (!bucket && this.#buckets.size >= bucketsMax) this.#forgetFull(atMs)
    this.#buckets.set(client, { tokens: Math.max(0, tokens - 1), atMs })
    return tokens >= 1
  }

  #tokensAt(bucket: { tokens: number; atMs: number }, atMs: number): number {
    return Math.min(this.#perMinute, bucket.tokens + (Math.max(0, atMs - bucket.atMs) * this.#perMinute) / minuteMs)
  }

  #forgetFull(atMs: number): void {
    for (const [client, bucket] of this.#buckets) if (this.#tokensAt(bucket, atMs) >= this.#perMinute) this.#buckets.delete(client)
    // In a flood from very many clients the buckets are cleared to limit memory.
    if (this.#buckets.size >= bucketsMax) this.#buckets.clear()
  }
}
