// Domains that were found to have no mailboxes here, remembered for a moment: every arriving message asks it of its author's domain.
import { nowMs } from '../../../core/clock.ts'

/** A domain that another process verifies counts as foreign for this much longer at most. */
const believedMs = 1_000
const namesMax = 10_000

export class UnhostedNames {
  readonly #askedAtMs = new Map<string, number>()

  /** Records names that were not found. `askedAtMs` is when the question was put. */
  note(names: string[], askedAtMs: number): void {
    for (const name of names) {
      this.#askedAtMs.delete(name)
      this.#askedAtMs.set(name, askedAtMs)
      // Oldest first out: a map keeps the order of insertion.
      if (this.#askedAtMs.size > namesMax) this.#askedAtMs.delete(this.#askedAtMs.keys().next().value as string)
    }
  }

  has(name: string, atMs = nowMs()): boolean {
    const askedAtMs = this.#askedAtMs.get(name)
    return askedAtMs !== undefined && Math.abs(atMs - askedAtMs) <= believedMs
  }

  clear(): void {
    this.#askedAtMs.clear()
  }
}
