// Checked connections kept between posts to one server, so that many posts share one TCP and TLS handshake.
import type { PostLine } from './post-line.ts'

/** Maximum age of a connection, because an address may be reassigned. */
const ageMsMax = 60_000
/** Time for which an idle connection is kept, which is also the maximum that the server may ask for. */
const idleMsMax = 10_000
/** A connection is closed this long before its server closes it, so that no request meets the close. */
const serverMarginMs = 2_000
const sweepMs = 1_000
const keptOfOriginMax = 256
const keptMax = 1024

type Kept = { line: PostLine; untilMs: number }

/** Lines by origin. A line that ends is removed at once. */
export class KeptConnections {
  readonly #idle = new Map<string, Kept[]>()
  #count = 0
  #isClosed = false
  #sweep: NodeJS.Timeout | undefined

  /** The most recently used line, or null. */
  take(origin: string): PostLine | null {
    const kept = this.#idle.get(origin)
    if (!kept) return null
    const nowMs = performance.now()
    for (let one = kept.pop(); one; one = kept.pop()) {
      this.#count--
      if (kept.length === 0) this.#idle.delete(origin)
      if (one.line.isUsable && one.untilMs > nowMs) return one.line
      one.line.close()
    }
    return null
  }

  /** Keeps an idle line whose server keeps it for `keptMs`, or closes it when enough are kept. */
  give(origin: string, line: PostLine, keptMs: number): void {
    const kept = this.#idle.get(origin) ?? []
    const nowMs = performance.now()
    const untilMs = Math.min(nowMs + Math.min(idleMsMax, keptMs - serverMarginMs), line.openedMs + ageMsMax)
    if (this.#isClosed || !line.isUsable || untilMs <= nowMs || kept.length >= keptOfOriginMax || this.#count >= keptMax) {
      line.close()
      return
    }
    kept.push({ line, untilMs })
    this.#idle.set(origin, kept)
    this.#count++
    line.onClose ??= () => this.#forget(origin, line)
    this.#sweep ??= setInterval(() => this.#closeOld(), sweepMs).unref()
  }

  /** One timer for all lines. */
  #closeOld(): void {
    const nowMs = performance.now()
    for (const [origin, kept] of this.#idle) {
      for (const one of kept) if (one.untilMs <= nowMs) one.line.close()
      this.#replace(
        origin,
        kept.filter((one) => one.untilMs > nowMs),
      )
    }
    if (this.#count > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  #forget(origin: string, line: PostLine): void {
    const kept = this.#idle.get(origin)
    if (kept)
      this.#replace(
        origin,
        kept.filter((one) => one.line !== line),
      )
  }

  #replace(origin: string, kept: Kept[]): void {
    this.#count += kept.length - (this.#idle.get(origin)?.length ?? 0)
    if (kept.length > 0) this.#idle.set(origin, kept)
    else this.#idle.delete(origin)
  }

  /** Closes idle lines, and keeps none from now on. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#sweep)
    for (const kept of this.#idle.values()) for (const { line } of kept) line.close()
    this.#idle.clear()
    this.#count = 0
  }
}
