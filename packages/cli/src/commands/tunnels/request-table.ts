// Shows the requests of a tunnel as they arrive. A terminal gets a table that stays in place, other outputs get lines or, with --json, JSON lines.
import type { ReportedRequest } from '@callsign/sdk'
import { type Output, printable, type Screen } from '../../terminal/output.ts'

const shownMax = 12
const clearBelow = '\u001b[J'
const up = (lines: number) => (lines > 0 ? `\u001b[${lines}A\r` : '\r')
const widthOf = (screen: Screen) => (screen as { columns?: number }).columns ?? 100

const sizeOf = (bytes: number): string =>
  bytes < 1000
    ? `${bytes} B`
    : bytes < 1e6
      ? `${(bytes / 1e3).toFixed(1)} kB`
      : bytes < 1e9
        ? `${(bytes / 1e6).toFixed(1)} MB`
        : `${(bytes / 1e9).toFixed(2)} GB`

export class RequestTable {
  readonly #output: Output
  #latest: ReportedRequest[] = []
  #count = 0
  #failed = 0
  #drawn = 0
  #timer: NodeJS.Timeout | null = null

  constructor(output: Output) {
    this.#output = output
  }

  /** A request has ended. */
  add(request: ReportedRequest): void {
    this.#output.gather()
    if (this.#output.isJson) {
      this.#output.line({ event: 'request', ...request })
      return
    }
    this.#count++
    if (request.error !== null || (request.status ?? 500) >= 500) this.#failed++
    if (!this.#output.terminal) {
      this.#output.result(request, () => lineOf(request))
      return
    }
    this.#latest.push(request)
    if (this.#latest.length > shownMax) this.#latest.shift()
    // Drawn at most ten times per second, not once per request.
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#draw()
    }, 100)
  }

  /** Prints a note above the table. */
  say(sentence: string): void {
    const { terminal } = this.#output
    if (!terminal) {
      this.#output.note(sentence)
      return
    }
    terminal.write(`${up(this.#drawn)}${clearBelow}${printable(sentence)}\n`)
    this.#drawn = 0
    this.#draw()
  }

  close(): void {
    if (this.#timer) {
      clearTimeout(this.#timer)
      this.#draw()
    }
    this.#timer = null
  }

  #draw(): void {
    const { terminal } = this.#output
    if (!terminal || this.#count === 0) return
    const width = widthOf(terminal)
    const lines = [
      `${this.#count} requests, ${this.#failed} failed`,
      'TIME      METHOD   STATUS  TIME     SIZE      PATH',
      ...this.#latest.map(lineOf),
    ].map((line) =>
      printable(line)
        .replace(/\s*\n\s*/g, ' ')
        .slice(0, width - 1),
    )
    terminal.write(`${up(this.#drawn)}${clearBelow}${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }
}

function lineOf({ at, method, status, error, duration_ms, response_bytes, path }: ReportedRequest): string {
  const took = duration_ms < 10_000 ? `${duration_ms} ms` : `${Math.round(duration_ms / 1000)} s`
  const cells = [
    at.slice(11, 19),
    method.padEnd(7),
    String(status ?? '-').padEnd(6),
    took.padEnd(7),
    sizeOf(response_bytes).padEnd(8),
    path,
  ]
  return `${cells.join('  ')}${error === null ? '' : `  (${error})`}`
}
