// Output of the command. Results go to standard output as text or JSON. Notes and errors go to standard error.
import type { Writable } from 'node:stream'

/** A stream that may be a terminal. */
export type Screen = Writable & { isTTY?: boolean }

export class Output {
  readonly isJson: boolean
  readonly #out: Screen
  readonly #error: Screen
  #isGathering = false

  constructor(isJson: boolean, out: Screen, error: Screen) {
    this.isJson = isJson
    this.#out = out
    this.#error = error
  }

  /** The result: `value` as JSON, or the lines of `text`. */
  result(value: unknown, text: () => string): void {
    this.#out.write(this.isJson ? `${JSON.stringify(value, null, 2)}\n` : withNewline(printable(text())))
  }

  /** Text of the current event loop phase, written in one call. */
  gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    this.#out.cork()
    process.nextTick(() => {
      this.#isGathering = false
      this.#out.uncork()
    })
  }

  /** Prints one of several results on a line of its own. */
  line(value: unknown): void {
    this.#out.write(`${JSON.stringify(value)}\n`)
  }

  /** The terminal that results are drawn on. null if standard output is not a terminal, or with --json. */
  get terminal(): Screen | null {
    return this.#out.isTTY && !this.isJson ? this.#out : null
  }

  /** Prints a value unchanged, including control characters, such as a private key. */
  raw(text: string): void {
    this.#out.write(withNewline(text))
  }

  /** Prints a note on standard error. */
  note(text: string): void {
    this.#error.write(`${printable(text)}\n`)
  }

  /** Prints progress for a person at the terminal. */
  progress(text: string): void {
    if (this.#error.isTTY && !this.isJson) this.note(text)
  }

  failure(error: { code: string; message: string; [more: string]: unknown }): void {
    this.#error.write(this.isJson ? `${JSON.stringify({ error }, null, 2)}\n` : `callsign: ${printable(error.message)}\n`)
  }
}

const withNewline = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/**
 * Removes everything that would control a terminal from text of others. These are escape sequences, other control characters, and marks that change
 * the direction of writing. Lines and tabs stay.
 */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them
  text.replace(/\r\n/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')

/** Formats rows in columns with headings. Returns an empty text for an empty list. */
export function table(headings: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  const lines = [headings, ...rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, ' ')))]
  const widths = headings.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)))
  return lines.map((line) => line.map((cell, i) => (i === line.length - 1 ? cell : cell.padEnd(widths[i] as number))).join('  ')).join('\n')
}
