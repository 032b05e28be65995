// The code units of a text as numbers. Loops over an array take a fraction of the time of `charCodeAt`.

/** A reusable buffer for the code units of one text. It grows to the longest text. */
export class CodeUnits {
  #units = new Uint16Array(0)
  #octets = Buffer.alloc(0)

  /** The code units of a text, followed by two NULs. Valid until the next call. */
  of(text: string): Uint16Array<ArrayBuffer> {
    if (this.#units.length < text.length + 2) {
      this.#units = new Uint16Array(text.length + 2)
      this.#octets = Buffer.from(this.#units.buffer)
    }
    this.#octets.write(text, 'utf16le')
    this.#units.fill(0, text.length, text.length + 2)
    return this.#units
  }
}
