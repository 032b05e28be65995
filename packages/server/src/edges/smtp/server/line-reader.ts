// Splits the command stream into lines that end in CRLF only.

/**
 * `more` means that the chunk is used up, `bare` a CR or LF on its own, and `endless` a line too long to skip. `next` is the index to
 * continue from.
 */
type LineStep = { kind: 'line' | 'too-long'; line: Buffer; next: number } | { kind: 'more' | 'bare' | 'nul' | 'endless' }

const cr = 13
const lf = 10
const more: LineStep = { kind: 'more' }

/**
 * Reads one stream byte by byte, so that the result does not depend on chunk boundaries. Holds at most `bytesMax` of a line. A longer one
 * is skipped up to `skipBytesMax` and reported at its end with its first bytes.
 */
export class LineReader {
  readonly #held: Buffer
  readonly #skipBytesMax: number
  /** Octets of the line so far, without the CR. */
  #length = 0
  #sawCr = false

  /** `bytesMax` counts the CRLF. */
  constructor(bytesMax: number, skipBytesMax: number) {
    this.#held = Buffer.allocUnsafeSlow(bytesMax - 2)
    this.#skipBytesMax = skipBytesMax
  }

  /** Reads the next line of the chunk from `start`. A returned line is valid until the next call. */
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
