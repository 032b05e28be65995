// Cuts the command stream into lines that end in CRLF and nothing else.

/** `more`: the chunk is used up. `bare`: CR or LF on its own. `endless`: too long even to skip. `next` is where reading goes on. */
type LineStep = { kind: 'line' | 'too-long'; line: Buffer; next: number } | { kind: 'more' | 'bare' | 'nul' | 'endless' }

const cr = 13
const lf = 10
const more: LineStep = { kind: 'more' }

/**
 * Reads one stream byte by byte, so that what it finds cannot depend on how the bytes were cut into chunks. It holds at most
 * `bytesMax` of a line; a longer one is skipped up to `skipBytesMax` and reported at its end with its beginning.
 */
export class LineReader {
  readonly #held: Buffer
  readonly #skipBytesMax: number
  /** Octets of the line so far, the CR left out. */
  #length = 0
  #sawCr = false

  /** `bytesMax` counts the CRLF. */
  constructor(bytesMax: number, skipBytesMax: number) {
    this.#held = Buffer.allocUnsafeSlow(bytesMax - 2)
    this.#skipBytesMax = skipBytesMax
  }

  /** Reads the next line of the chunk from `start`. A line handed out is good until the next call. */
  read(chunk: Buffer, start: number): LineStep {
    const held = this.#held
    for (let index = start; index < chunk.length; index++) {
      const byte = chunk[index] as number
      if (this.#sawCr) return byte === lf ? this.#end(index + 1) : { kind: 'bare' }
      if (byte === cr) this.#sawCr = true
      else if (byte === lf) return { kind: 'bare' }
      else if (byte === 0) return { kind: 'nul' }
      else {
        if (this.#length < held.length) held[this.#length] = byte
        if (++this.#length > this.#skipBytesMax) return { kind: 'endless' }
      }
    }
    return more
  }

  #end(next: number): LineStep {
    const length = this.#length
    this.#length = 0
    this.#sawCr = false
    return { kind: length > this.#held.length ? 'too-long' : 'line', line: this.#held.subarray(0, length), next }
  }
}
