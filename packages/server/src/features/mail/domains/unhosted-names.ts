// Caches domains without mailboxes here for a second, because every arriving message looks up its author's domain.
import { nowMs } from '../../../core/clock.ts'

/** The longest time that a domain verified by another process is still treated as foreign. */
const cachedMs = 1_000
const namesMax = 10_000

export class UnhostedNames {
  readonly #askedAtMs = new Map<string, number>()

  /** Records names that were not found. `askedAtMs` is the time before the query. */
  note(names: string[], askedAtMs: number): void {
    for (const name of names) {
      this.#askedAtMs.delete(name)
      this.#askedAtMs.set(name, askedAtMs)
      // Evicts the oldest entry: a map keeps insertion order.
      if (this.#askedAtMs.size > namesMax) this.#askedAtMs.delete(this.#askedAtMs.keys().next().value as string)
    }
  }

  has(name: string, atMs = nowMs()): boolean {
    const askedAtMs = this.#askedAtMs.get(name)
    return askedAtMs !== undefined && Math.abs(atMs - askedAtMs) <= cachedMs
  }

  clear(): void {
    this.#askedAtMs.clear()
  }
}
