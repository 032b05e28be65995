// Holds the bytes of one message during its transfer, in memory within a budget, and beyond a megabyte in a file.
import type { Share } from '../../../core/byte-budget.ts'
import { nowMs } from '../../../core/clock.ts'
import { type Spool, SpoolFile } from './spool.ts'

const firstBlockBytes = 16 * 1024
const blockBytesMax = 1024 * 1024

/**
 * Copies appended bytes into blocks of growing size. Chunks may be one byte long, and keeping each would cost a hundred times its size. The
 * first block is kept for the session's next message.
 */
export class MessageBuffer {
  readonly #budget: Share
  readonly #spool: Spool | null
  readonly #full: Buffer[] = []
  #first: Buffer | null = null
  #block: Buffer = Buffer.alloc(0)
  #used = 0
  #fullBytes = 0
  #taken = 0
  #file: SpoolFile | null = null
  /** Octets in the file, which come before those in memory. */
  #spooledBytes = 0

  /** Without a spool everything stays in memory. */
  constructor(budget: Share, spool: Spool | null) {
    this.#budget = budget
    this.#spool = spool
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

  /** Counts memory for the octets in the file, and waits for it at most `waitMs`. Returns false when there is none. */
  async claimMemory(waitMs: number): Promise<boolean> {
    const bytes = this.#spooledBytes
    const untilMs = nowMs() + waitMs
    while (!this.#budget.take(bytes)) {
      const leftMs = untilMs - nowMs()
      if (leftMs <= 0) return false
      await this.#budget.whenGiven(leftMs)
    }
    this.#taken += bytes
    return true
  }

  /** Octets in the file. `claimMemory` comes before `take` when there are some. */
  get spooledBytes(): number {
    return this.#spooledBytes
  }

  /** The whole message in a buffer of its own, which counts in the budget until `clear`. */
  take(): Buffer | Promise<Buffer> {
    const message = Buffer.allocUnsafeSlow(this.#spooledBytes + this.#fullBytes + this.#used)
    let at = this.#spooledBytes
    for (const block of this.#full) at += block.copy(message, at)
    this.#block.copy(message, at, 0, this.#used)
    this.#dropBlocks()
    return this.#file ? this.#file.read(message, this.#spooledBytes).then(() => message) : message
  }

  /** Discards everything and returns memory and disk space to their budgets. */
  clear(): void {
    this.#budget.give(this.#taken)
    this.#taken = 0
    this.#dropBlocks()
    if (this.#spooledBytes > 0) this.#spool?.space.give(this.#spooledBytes)
    this.#spooledBytes = 0
    this.#file?.close()
    this.#file = null
  }

  #dropBlocks(): void {
    this.#full.length = 0
    this.#fullBytes = 0
    this.#used = 0
    this.#block = this.#first ?? this.#block
  }

  /** Moves all octets in memory to the file. Returns false when the disk is full. */
  #spill(spool: Spool): boolean {
    const bytes = this.#fullBytes + this.#used
    if (!spool.space.take(bytes)) return false
    this.#spooledBytes += bytes
    try {
      this.#file ??= new SpoolFile(spool.folder)
      for (const block of this.#full) this.#file.write(block)
      this.#file.write(this.#block.subarray(0, this.#used))
    } catch {
      return false
    }
    this.#full.length = 0
    this.#fullBytes = 0
    this.#used = 0
    this.#budget.give(this.#taken - this.#block.length)
    this.#taken = this.#block.length
    return true
  }

  #grow(): boolean {
    if (this.#spool !== null && this.#block.length === blockBytesMax) return this.#spill(this.#spool)
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
