// Collects the text of a file up to a number of characters, and text in it that its readers cannot see.
import { cutText } from '@callsign/mail/mime/storable-text'

/** Characters of hidden text that are kept for the search for indicators. */
const hiddenCharactersMax = 20_000

export class BoundedText {
  readonly #charactersMax: number
  readonly #pieces: string[] = []
  #characters = 0
  #isFull = false
  #isTruncated = false
  readonly #hidden: string[] = []
  #hiddenCharacters = 0

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** True when nothing more is stored, so that the reader may stop. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** True when the file has more text than is stored. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /** Characters that still fit. */
  get room(): number {
    return this.#charactersMax - this.#characters
  }

  write(text: string): void {
    if (this.#isFull || text === '') return
    const part = cutText(text, this.room)
    if (part.length < text.length) {
      this.#isFull = true
      this.#isTruncated = true
    }
    this.#pieces.push(part)
    this.#characters += part.length
  }

  /** Text that is left out, or that a reader of the file hardly sees. */
  hide(text: string): void {
    const part = cutText(text, hiddenCharactersMax - this.#hiddenCharacters)
    if (part === '') return
    this.#hidden.push(part)
    this.#hiddenCharacters += part.length
  }

  /** Notes that the file has more text than was written. */
  truncate(): void {
    this.#isTruncated = true
  }

  /** The whole text, without empty space at its ends and with at most one empty line in a row. */
  toText(): string {
    // Line by line, because a pattern for spaces before a line end takes quadratic time for a long run of spaces.
    const lines = this.#pieces.join('').split('\n')
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  }

  get hidden(): string {
    return this.#hidden.join('')
  }
}
