// Holds the bytes of one message during its transfer, within a budget shared by all sessions.

const firstBlockBytes = 16 * 1024
const blockBytesMax = 1024 * 1024

/** Octets of message data held by all sessions of one server. */
export class MemoryBudget {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false
    this.#bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }

  get used(): number {
    return this.#bytes
  }
}

/**
 * Copies appended bytes into blocks of growing size. Chunks may be one byte long, and keeping each would cost a hundred times its size. The
 * first block is kept for the session's next message.
 */
export class MessageBuffer {
  readonly #budget: MemoryBudget
  readonly #full: Buffer[] = []
  #first: Buffer | null = null
  #block: Buffer = Buffer.alloc(0)
  #used = 0
  #fullBytes = 0
  #taken = 0

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** Appends chunk[from, to). Returns false when the budget is used up, after which the held bytes are useless. */
  append(chunk: Buffer, from: number, to: number): boolean {
    let index = from
    while (index < to) {
      if (this.#used === this.#block.length && !this.#grow()) return false
      const copied = chunk.copy(this.#block, this.#used, index, to)
      this.#used += copied
      index += copied
    }
    return true
  }

  /** The whole message in a buffer of its own, which counts in the budget until `clear`. */
  take(): Buffer {
    const message = Buffer.allocUnsafeSlow(this.#fullBytes + this.#used)
    let at = 0
    for (const block of this.#full) at += block.copy(message, at)
    this.#block.copy(message, at, 0, this.#used)
    this.#dropBlocks()
    return message
  }

  /** Discards everything and returns the memory to the budget. */
  clear(): void {
    this.#budget.give(this.#taken)
    this.#taken = 0
    this.#dropBlocks()
  }

  #dropBlocks(): void {
    this.#full.length = 0
    this.#fullBytes = 0
    this.#used = 0
    this.#block = this.#first ?? this.#block
  }

  #grow(): boolean {
    const bytes = this.#first === null ? firstBlockBytes : Math.min(this.#block.length * 2, blockBytesMax)
    if (!this.#budget.take(bytes)) return false
    this.#taken += bytes
    if (this.#used > 0) {
      this.#full.push(this.#block)
      this.#fullBytes += this.#used
    }
    this.#block = Buffer.allocUnsafeSlow(bytes)
    this.#first ??= this.#block
    this.#used = 0
    return true
  }
}
