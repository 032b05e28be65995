// Output of the command. Results go to standard output as text or JSON. Notes and errors go to standard error.
import type { Writable } from 'node:stream'

/** A stream that may be a terminal. */
export type Screen = Writable & { isTTY?: boolean }

export class Output {
  readonly isJson: boolean
  readonly #out: Screen
  readonly #error: Screen
  readonly #hasColors: boolean
  #isGathering = false

  /** `hasColors` applies to streams that are terminals. */
  constructor(isJson: boolean, out: Screen, error: Screen, hasColors = false) {
    this.isJson = isJson
    this.#out = out
    this.#error = error
    this.#hasColors = hasColors
  }

  /** The result: `value` as JSON, or the lines of `text`, which gets the width of the terminal. */
  result(value: unknown, text: (width: number | undefined) => string): void {
    if (this.isJson) {
      this.#out.write(`${this.#json(value, 2)}\n`)
      return
    }
    const lines = printable(text(this.width))
    if (lines === '') this.progress('Nothing to list.')
    else this.#out.write(withNewline(this.#hasColors && this.#out.isTTY ? lines.replace(headingLine, painted(faint)) : lines))
  }

  /** JSON for standard output. On a terminal, characters that steer it are escaped. */
  #json(value: unknown, indent?: number): string {
    const json = JSON.stringify(value, null, indent)
    return this.#out.isTTY ? escapeControls(json) : json
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
    this.#out.write(`${this.#json(value)}\n`)
  }

  /** The width of the terminal that results are printed on, or undefined. */
  get width(): number | undefined {
    return this.terminal ? (this.terminal as { columns?: number }).columns : undefined
  }

  /** The terminal that results are drawn on. null if standard output is not a terminal, or with --json. */
  get terminal(): Screen | null {
    return this.#out.isTTY && !this.isJson ? this.#out : null
  }

  /** Prints a value unchanged, including control characters, such as a private key. */
  raw(text: string): void {
    this.#out.write(withNewline(text))
  }

  /** Prints bytes unchanged, such as a raw message. */
  bytes(bytes: Uint8Array): void {
    this.#out.write(bytes)
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
    const json = JSON.stringify({ error }, null, 2)
    const name = this.#hasColors && this.#error.isTTY ? painted(red)('callsign:') : 'callsign:'
    this.#error.write(this.isJson ? `${this.#error.isTTY ? escapeControls(json) : json}\n` : `${name} ${printable(error.message)}\n`)
  }
}

/** Colors are wanted unless NO_COLOR has a value (no-color.org) or the terminal has none. */
export const wantsColors = ({ NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean => !NO_COLOR && TERM !== 'dumb'

/** The headings of a table, which are the first line: words in capitals, with the gap of columns between them. */
const headingLine = /^[A-Z][A-Z ]*(?: {2,}[A-Z][A-Z ]*)+(?=\n)/
const faint = 2
const red = 31
const painted = (color: number) => (text: string) => `\u001b[${color}m${text}\u001b[0m`

const withNewline = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** Control characters and marks that change the direction of writing, without line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Replaces everything that would control a terminal in text of others. Lines and tabs stay. */
export const printable = (text: string): string => text.replace(/\r\n/g, '\n').replace(controls, '\ufffd')

/** Escapes the characters of JSON text that would control a terminal. The parsed value is the same. */
const escapeControls = (json: string): string =>
  json.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const columnMin = 4
const gap = 2

/** Narrows the widest columns until a line fits. The first column keeps its width, because it is copied. */
function fit(widths: number[], widthMax: number): number[] {
  const fitted = [...widths]
  let excess = fitted.reduce((sum, width) => sum + width + gap, -gap) - widthMax
  while (excess > 0) {
    const widest = fitted.indexOf(Math.max(...fitted.slice(1)), 1)
    if (widest < 0 || (fitted[widest] as number) <= columnMin) break
    fitted[widest] = (fitted[widest] as number) - 1
    excess--
  }
  return fitted
}

const cut = (cell: string, width: number): string => (cell.length > width ? `${cell.slice(0, width - 1)}…` : cell)

/** A value on one line, because line breaks could imitate further fields or rows. */
export const oneLine = (value: string): string => value.replace(/\s+/g, ' ')

/** Formats rows in columns with headings, narrowed to `widthMax` if possible. Returns an empty text for an empty list. */
export function table(headings: string[], rows: string[][], widthMax?: number): string {
  if (rows.length === 0) return ''
  const lines = [headings, ...rows.map((row) => row.map((cell) => oneLine(printable(cell))))]
  const widths = fit(
    headings.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length))),
    widthMax ?? Number.POSITIVE_INFINITY,
  )
  const place = (cell: string, width: number, isLast: boolean) => (isLast ? cut(cell, width) : cut(cell, width).padEnd(width))
  return lines
    .map((line) => line.map((cell, i) => place(cell, widths[i] as number, i === line.length - 1)).join(' '.repeat(gap)))
    .join('\n')
}
