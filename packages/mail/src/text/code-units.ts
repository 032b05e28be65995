// The code units of a text as numbers, for loops over whole texts: asking a string for each of them costs several times as much.

/** A place for the code units of one text at a time, which grows to the longest. */
export class CodeUnits {
  #units = new Uint16Array(0)
  #octets = Buffer.alloc(0)

  /** The code units of a text, and two NULs behind them. They stay until the next text. */
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
