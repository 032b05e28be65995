// Buffers small chunks in one growing buffer. As objects, chunks of a few bytes would take hundreds of times their size in memory.

/** Bytes up to which a chunk is copied into the buffer. */
export const smallChunkBytesMax = 1024

const nothing = Buffer.alloc(0)

export class BufferedBytes {
  #buffer: Buffer = nothing
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Appends a copy of the chunk. The buffer doubles when it is full. */
  add(piece: Uint8Array): void {
    if (this.#size + piece.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#size + piece.length))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#size)
    this.#size += piece.length
  }

  /** Returns all buffered bytes and empties the buffer. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.#size)
    this.#buffer = nothing
    this.#size = 0
    return all
  }
}
