// Bytes in memory, counted against one limit for all and a smaller one per owner, so that one owner cannot use up the memory of the others.

export type Owner = { name: string; bytesMax: number }

/** Memory that one use may take. */
export type Memory = {
  /** Counts more bytes. Returns false, and counts nothing, when a limit is reached. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** The part of a budget that some owners may take. */
export type Share = Memory & {
  /** Resolves when bytes were given back to the budget, or after this time. */
  whenGiven(waitMs: number): Promise<void>
}

export class ByteBudget {
  readonly #bytesMax: number
  #bytes = 0
  readonly #byOwner = new Map<string, number>()
  #onGiven: (() => void)[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes counted now. */
  get used(): number {
    return this.#bytes
  }

  take(bytes: number, owners: Owner[] = []): boolean {
    if (!this.fits(bytes, owners)) return false
    this.#bytes += bytes
    for (const { name } of owners) this.#byOwner.set(name, (this.#byOwner.get(name) ?? 0) + bytes)
    return true
  }

  /** True when `take` would succeed. */
  fits(bytes: number, owners: Owner[] = []): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false
    return owners.every(({ name, bytesMax }) => (this.#byOwner.get(name) ?? 0) + bytes <= bytesMax)
  }

  give(bytes: number, owners: Owner[] = []): void {
    this.#bytes -= bytes
    for (const { name } of owners) {
      const left = (this.#byOwner.get(name) ?? 0) - bytes
      if (left > 0) this.#byOwner.set(name, left)
      else this.#byOwner.delete(name)
    }
    const waiting = this.#onGiven
    this.#onGiven = []
    for (const wake of waiting) wake()
  }

  /** The part of the budget that these owners may take. */
  shareOf(owners: Owner[] = []): Share {
    return {
      take: (bytes) => this.take(bytes, owners),
      give: (bytes) => this.give(bytes, owners),
      whenGiven: (waitMs) => this.#whenGiven(waitMs),
    }
  }

  #whenGiven(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#onGiven.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
