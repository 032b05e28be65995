// Decodes the chunked transfer coding as its bytes arrive (RFC 9112 §7.1).

/** Limit of a line with a chunk's size and extensions, and of all trailers together. */
const linesBytesMax = 16 * 1024
const sizePattern = /^([0-9a-fA-F]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
const trailerPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/

/** Chunks that do not follow the grammar. */
export class BadChunks extends Error {
  override name = 'BadChunks'
}

export class ChunkReader {
  #next: 'size' | 'data' | 'data-end' | 'trailer' | 'end' = 'size'
  #line = ''
  #left = 0
  #trailerBytes = 0

  /** Reads from an offset, and gives the data to `take`. Returns the offset behind the last trailer, or null before it. Throws BadChunks. */
  read(bytes: Buffer, from: number, take: (data: Buffer) => void): number | null {
    let at = from
    while (at < bytes.length) {
      if (this.#next === 'data') {
        const end = Math.min(bytes.length, at + this.#left)
        take(bytes.subarray(at, end))
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#next = 'data-end'
        continue
      }
      const feed = bytes.indexOf(10, at)
      const end = feed < 0 ? bytes.length : feed + 1
      if (this.#line.length + end - at > linesBytesMax) throw new BadChunks('A line of the chunks is too long.')
      this.#line += bytes.toString('latin1', at, end)
      at = end
      if (feed < 0) break
      this.#endLine()
      if (this.#next === 'end') return at
    }
    return null
  }

  #endLine(): void {
    if (!this.#line.endsWith('\r\n')) throw new BadChunks('A line of the chunks does not end with CRLF.')
    const line = this.#line.slice(0, -2)
    this.#line = ''
    if (this.#next === 'size') {
      const size = sizePattern.exec(line)?.[1]
      if (size === undefined) throw new BadChunks('The size of a chunk is not hexadecimal.')
      this.#left = Number.parseInt(size, 16)
      this.#next = this.#left === 0 ? 'trailer' : 'data'
    } else if (this.#next === 'data-end') {
      if (line !== '') throw new BadChunks('A chunk is longer than its size.')
      this.#next = 'size'
    } else if (line === '') this.#next = 'end'
    else {
      this.#trailerBytes += line.length
      if (!trailerPattern.test(line) || this.#trailerBytes > linesBytesMax) throw new BadChunks('A trailer is not a field.')
    }
  }
}
