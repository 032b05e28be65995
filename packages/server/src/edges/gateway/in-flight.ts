// What the gateway has under way: looked at every second, and ended when the process stops.

/** One exchange with a visitor. `place` belongs to the list that it is in. */
export type UnderWay = { place: number; check(nowMs: number): void; abort(): void; closeAfter(): void }

/**
 * Adds and removes in constant time, in no order. No Set, because the tables that a Set outgrows point to their successors: once one of them is
 * old to the garbage collector, it keeps every later one and each request in it until the next full collection.
 */
export class UnderWayList {
  readonly #items: UnderWay[] = []

  get size(): number {
    return this.#items.length
  }

  add(one: UnderWay): void {
    one.place = this.#items.length
    this.#items.push(one)
  }

  /** Does nothing for what is not in the list. */
  delete(one: UnderWay): void {
    if (this.#items[one.place] !== one) return
    const last = this.#items.pop() as UnderWay
    if (last === one) return
    this.#items[one.place] = last
    last.place = one.place
  }

  /** As it is now: what is done with one may remove it or others. */
  all(): UnderWay[] {
    return [...this.#items]
  }
}
