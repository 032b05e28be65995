// List of the public requests in flight. They are checked every second, and aborted when the process stops.

/** One public request in flight. `place` is its index in the list. */
export type InFlight = { place: number; check(nowMs: number): void; abort(): void; closeAfter(): void }

/**
 * Adds and removes in constant time, without order. Not a Set: the tables that a Set outgrows point to their successors.
 * Once the garbage collector treats one of them as old, it keeps every later table and its requests until the next full collection.
 */
export class InFlightList {
  readonly #items: InFlight[] = []

  get size(): number {
    return this.#items.length
  }

  add(one: InFlight): void {
    one.place = this.#items.length
    this.#items.push(one)
  }

  /** Ignores requests that are not in the list. */
  delete(one: InFlight): void {
    if (this.#items[one.place] !== one) return
    const last = this.#items.pop() as InFlight
    if (last === one) return
    this.#items[one.place] = last
    last.place = one.place
  }

  /** A copy, so that the caller may remove entries while it iterates. */
  all(): InFlight[] {
    return [...this.#items]
  }
}
