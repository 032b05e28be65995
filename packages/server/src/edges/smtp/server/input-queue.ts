// Queue of received chunks that were not read yet, first in first out.

export class InputQueue {
  #chunks: Buffer[] = []
  /** Offset in the first chunk from which reading continues. */
  offset = 0
  #bytes = 0

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  /** Octets in the queue. */
  get bytes(): number {
    return this.#bytes
  }

  /** The chunk to read from `offset` on. It exists unless the queue is empty. */
  get first(): Buffer {
    return this.#chunks[0]!
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The first chunk has been read up to `next`. */
  advance(next: number): void {
    this.#bytes -= next - this.offset
    this.offset = next
    if (next < this.first.length) return
    this.#chunks.shift()
    this.offset = 0
  }

  clear(): void {
    this.#chunks = []
    this.offset = 0
    this.#bytes = 0
  }
}
