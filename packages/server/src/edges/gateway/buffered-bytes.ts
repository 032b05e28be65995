// Bytes that come in pieces and are kept for a while: in one buffer, because a crumb of a few bytes would cost hundreds of times its size as an object.

/** A piece of up to so many bytes is a crumb. */
export const crumbBytesMax = 1024

const nothing = Buffer.alloc(0)

export class GatheredBytes {
  #buffer: Buffer = nothing
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Copies the piece behind what is there; the buffer doubles when it is full. */
  add(piece: Uint8Array): void {
    if (this.#size + piece.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#size + piece.length))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#size)
    this.#size += piece.length
  }

  /** All of it; nothing is left. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.#size)
    this.#buffer = nothing
    this.#size = 0
    return all
  }
}
