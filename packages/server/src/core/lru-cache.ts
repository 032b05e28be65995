// A cache limited by bytes. It drops the values that were not read for the longest time.

export type CacheLimits<Value> = {
  bytesMax: number
  /** A larger value is not kept. */
  valueBytesMax: number
  sizeOf: (value: Value, key: string) => number
}

export class LruCache<Value> {
  readonly #limits: CacheLimits<Value>
  /** Least recently read first: a map keeps the order of insertion. */
  readonly #entries = new Map<string, { value: Value; bytes: number }>()
  #bytes = 0

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
    const { bytesMax, valueBytesMax, sizeOf } = this.#limits
    const bytes = sizeOf(value, key)
    if (bytes > valueBytesMax) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}
