// A cache limited by bytes, or by another size. It drops the values that were not read for the longest time.

export type CacheLimits<Value> = {
  sizeMax: number
  /** A larger value is not kept. */
  valueSizeMax: number
  sizeOf: (value: Value, key: string) => number
}

export class LruCache<Value> {
  readonly #limits: CacheLimits<Value>
  /** Least recently read first: a map keeps the order of insertion. */
  readonly #entries = new Map<string, { value: Value; size: number }>()
  #size = 0

  constructor(limits: CacheLimits<Value>) {
    this.#limits = limits
  }

  /** Does not count as a read. */
  has(key: string): boolean {
    return this.#entries.has(key)
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Replaces the value of the key, also by none when the new value is too large. */
  keep(key: string, value: Value): void {
    this.#drop(key)
    const { sizeMax, valueSizeMax, sizeOf } = this.#limits
    const size = sizeOf(value, key)
    if (size > valueSizeMax) return
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= sizeMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
