// Checked connections kept between posts to one server, so that many posts share one TCP and TLS handshake.
import type { Socket } from 'node:net'
import type { Client } from 'undici'

/** A connection with a checked peer, and the HTTP client that uses only this connection. */
export type Line = { client: Client; socket: Socket; openedMs: number; isWatched: boolean }

/** Maximum age of a connection, because an address may be reassigned. */
const ageMsMax = 60_000
const keptOfOriginMax = 256
const keptMax = 1024

/** Lines by origin. A line that ends is removed at once. */
export class KeptConnections {
  readonly #idle = new Map<string, Line[]>()
  #count = 0
  #isClosed = false

  /** The most recently used line, or null. */
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

  /** Keeps an idle line, or closes it when enough are kept. */
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

  /** Closes idle lines, and keeps none from now on. */
  close(): void {
    this.#isClosed = true
    for (const lines of this.#idle.values()) for (const line of lines) close(line)
    this.#idle.clear()
    this.#count = 0
  }
}

const isUsable = ({ socket, client, openedMs }: Line): boolean =>
  !socket.destroyed && socket.writable && !client.closed && !client.destroyed && performance.now() - openedMs < ageMsMax

/** Ends a line with the request in flight on it. */
export function close({ client, socket }: Line): void {
  // Its errors were reported through the request or do not matter any more.
  client.destroy().catch(() => {})
  socket.destroy()
}
