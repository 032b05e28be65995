// Checked connections between two posts to one server: held for a moment, so that many posts need not dial and shake hands each.
import type { Socket } from 'node:net'
import type { Client } from 'undici'

/** A connection whose peer the guard has checked, with the HTTP client that speaks on it and on no other. */
export type Line = { client: Client; socket: Socket; openedMs: number; isWatched: boolean }

/** An address may change hands: no connection serves for longer than this. */
const ageMsMax = 60_000
const keptOfOriginMax = 256
const keptMax = 1024

/** Lines by origin. A line that ends by itself is forgotten at once. */
export class KeptConnections {
  readonly #idle = new Map<string, Line[]>()
  #count = 0
  #isClosed = false

  /** The line that was used last, or null. */
  take(origin: string): Line | null {
    const lines = this.#idle.get(origin)
    for (let line = lines?.pop(); line; line = lines?.pop()) {
      this.#count--
      if (lines?.length === 0) this.#idle.delete(origin)
      if (isUsable(line)) return line
      close(line)
    }
    return null
  }

  /** Keeps a line on which nothing is under way, or closes it when there are enough. */
  give(origin: string, line: Line): void {
    const lines = this.#idle.get(origin) ?? []
    if (this.#isClosed || !isUsable(line) || lines.length >= keptOfOriginMax || this.#count >= keptMax) {
      close(line)
      return
    }
    lines.push(line)
    this.#idle.set(origin, lines)
    this.#count++
    if (line.isWatched) return
    line.isWatched = true
    line.socket.once('close', () => this.#forget(origin, line))
  }

  #forget(origin: string, line: Line): void {
    const lines = this.#idle.get(origin)
    const index = lines?.indexOf(line) ?? -1
    if (!lines || index === -1) return
    lines.splice(index, 1)
    this.#count--
    if (lines.length === 0) this.#idle.delete(origin)
  }

  /** Closes what is idle, and keeps nothing from now on. */
  close(): void {
    this.#isClosed = true
    for (const lines of this.#idle.values()) for (const line of lines) close(line)
    this.#idle.clear()
    this.#count = 0
  }
}

const isUsable = ({ socket, client, openedMs }: Line): boolean =>
  !socket.destroyed && socket.writable && !client.closed && !client.destroyed && performance.now() - openedMs < ageMsMax

/** Ends a line with whatever is under way on it. */
export function close({ client, socket }: Line): void {
  // Its errors have been reported through the request or do not matter any more.
  client.destroy().catch(() => {})
  socket.destroy()
}
