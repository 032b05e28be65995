// Collects bytes up to a maximum in one growing buffer.
const firstBytes = 2048
const none = Buffer.alloc(0)

/** One growing buffer. A list of chunks would let a sender of one-byte chunks use a hundred times the limit in objects. */
export class BoundedBytes {
  readonly #bytesMax: number
  #held = none
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Appends a copy. Returns false when the chunk exceeds the maximum, and keeps the part up to it. */
  append(chunk: Buffer): boolean {
    const taken = Math.min(chunk.length, this.#bytesMax - this.#length)
    if (this.#length + taken > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(this.#held.length * 2, this.#length + taken, firstBytes)))
      this.#held.copy(larger, 0, 0, this.#length)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#length, 0, taken)
    this.#length += taken
    return taken === chunk.length
  }

  get bytes(): Buffer {
    return this.#held.subarray(0, this.#length)
  }
}
