// What carries requests to one client: its own connection here, or the way to it over another node; with streams that wait to be used again.
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelMux } from '@callsign/contract/tunnel-mux'
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'
import { AnswerHeads } from './response-reader.ts'

/** A stream is a connection to the target; targets close theirs after a few idle seconds, and this has to be sooner. */
const idleMsMax = 4000
const idleStreamsMax = 64
/** Reports wait this long for others: a write for each, and a client that wakes up for it, would slow down the requests themselves. */
const reportEveryMs = 50
/** Bodies stop at a quarter of it. */
const chokedBytes = 4 * 1024 * 1024

/** Nothing may come before the next request: it would be taken for its answer. */
const kept: StreamListener = {
  onData: (_bytes, stream) => stream.reset(resetCodes.protocolError),
  onEnd: (stream) => stream.end(),
  onReset() {},
  onDrain() {},
}

export class Carrier {
  readonly id: string
  readonly tunnelId: string
  readonly hostHeader: string | null
  /** Set when the client wants to know of each request. */
  readonly wantsReports: boolean
  readonly isRemote: boolean
  isDraining = false
  /** Of the client's target. */
  readonly heads = new AnswerHeads()
  readonly #mux: TunnelMux
  readonly #about: Record<string, unknown> | null
  readonly #idle: { stream: TunnelStream; sinceMs: number }[] = []
  #busy = 0
  #reports: { stream: number; about: Record<string, unknown> }[] = []
  #reportTimer: NodeJS.Timeout | null = null

  constructor(options: {
    id: string
    tunnelId: string
    hostHeader: string | null
    wantsReports: boolean
    mux: TunnelMux
    /** Said in every opening, for the node that passes it on. */
    about?: Record<string, unknown>
  }) {
    this.id = options.id
    this.tunnelId = options.tunnelId
    this.hostHeader = options.hostHeader
    this.wantsReports = options.wantsReports
    this.isRemote = options.about !== undefined
    this.#mux = options.mux
    this.#about = options.about ?? null
  }

  /** Requests under way. */
  get load(): number {
    return this.#busy
  }
  /** True while the client does not read: what it is sent waits in memory here, and more would wait with it. */
  get isChoked(): boolean {
    return !this.isRemote && this.#mux.unsentBytes > chokedBytes
  }
  get isOpen(): boolean {
    return !this.#mux.isClosed
  }

  isOver(mux: TunnelMux): boolean {
    return this.#mux === mux
  }

  /** A new stream with its first bytes. `release` or `keep` has to follow. */
  open(first: Uint8Array): TunnelStream {
    this.#busy++
    return this.#mux.open(first, this.#about)
  }

  /** A stream that another request has left open, or null. */
  reuse(): TunnelStream | null {
    for (;;) {
      const stream = this.#idle.pop()?.stream
      if (!stream) return null
      if (stream.isClosed || stream.isRemoteEnded) continue
      this.#busy++
      return stream
    }
  }

  /** The request is over and the stream with it. */
  release(): void {
    this.#busy--
  }

  /** The request is over, and the stream may take another. */
  keep(stream: TunnelStream, nowMs: number): void {
    this.#busy--
    stream.listener = kept
    this.#idle.push({ stream, sinceMs: nowMs })
    if (this.#idle.length > idleStreamsMax) this.#idle.shift()?.stream.end()
  }

  /** Ends streams that have waited too long. */
  sweep(nowMs: number): void {
    while (this.#idle.length > 0 && nowMs - (this.#idle[0]?.sinceMs as number) > idleMsMax) this.#idle.shift()?.stream.end()
  }

  /** Takes no more requests than it has. */
  startDraining(): void {
    this.isDraining = true
    this.#sendReports()
    for (const { stream } of this.#idle.splice(0)) stream.end()
  }

  /** Tells the client of a request, soon. */
  report(stream: TunnelStream, about: Record<string, unknown>): void {
    this.#reports.push({ stream: stream.id, about })
    // A node that passes it on has to know the stream still, and a connection that drains may end any moment.
    if (this.isRemote || this.isDraining) this.#sendReports()
    else this.#reportTimer ??= setTimeout(() => this.#sendReports(), reportEveryMs).unref()
  }

  #sendReports(): void {
    if (this.#reportTimer) clearTimeout(this.#reportTimer)
    this.#reportTimer = null
    const reports = this.#reports.splice(0)
    if (!this.isChoked) for (const { stream, about } of reports) this.#mux.report(stream, about)
  }
}
