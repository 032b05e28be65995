// Session of one tunnel client: opens streams for requests over its own connection, or over a link to its node, and keeps idle streams for
// reuse.

import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelMux } from '@callsign/contract/tunnel-mux'
import type { StreamListener, TunnelStream } from '@callsign/contract/tunnel-stream'
import type { TargetAddress } from '../requests/request-head.ts'
import { AnswerHeads } from '../responses/response-reader.ts'

/** A stream is a connection to the target. Targets close theirs after a few idle seconds, so idle streams end before that. */
const idleMsMax = 4000
const idleStreamsMax = 64
/** Milliseconds during which reports are batched. One write and one wake-up of the client per report would slow down the requests. */
const reportEveryMs = 50
/** Request and response bodies stop at a quarter of it. */
const chokedBytes = 4 * 1024 * 1024

/** An idle stream is closed when bytes arrive: they would be taken for the response to the next request. */
const kept: StreamListener = {
  onData: (_bytes, stream) => stream.reset(resetCodes.protocolError),
  onEnd: (stream) => stream.end(),
  onReset() {},
  onDrain() {},
}

/** Discards bytes of a stream that no request uses any more. */
const dropping: StreamListener = {
  onData: (bytes, stream) => stream.taken(bytes.length),
  onEnd: (stream) => stream.end(),
  onReset() {},
  onDrain() {},
}

export class ClientSession {
  readonly id: string
  readonly tunnelId: string
  /** Null for a target that gets the Host of the public request. */
  readonly target: TargetAddress | null
  /** True when the client asks for a report of each request. */
  readonly wantsReports: boolean
  readonly isRemote: boolean
  isDraining = false
  /** Cached response heads of the client's target. */
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
    targetScheme: 'http' | 'https'
    wantsReports: boolean
    mux: TunnelMux
    /** Sent in every opening, for the node that relays the stream. */
    about?: Record<string, unknown>
  }) {
    this.id = options.id
    this.tunnelId = options.tunnelId
    const { hostHeader: host, targetScheme } = options
    this.target = host === null ? null : { host, origin: `${targetScheme}://${host}` }
    this.wantsReports = options.wantsReports
    this.isRemote = options.about !== undefined
    this.#mux = options.mux
    this.#about = options.about ?? null
  }

  /** Number of requests in flight. */
  get load(): number {
    return this.#busy
  }
  /** True while the client does not read. Its unread bytes wait in memory here, so it gets no new requests. */
  get isChoked(): boolean {
    return !this.isRemote && this.#mux.unsentBytes > chokedBytes
  }
  get isOpen(): boolean {
    return !this.#mux.isClosed
  }

  isOver(mux: TunnelMux): boolean {
    return this.#mux === mux
  }

  /** Opens a stream with its first bytes. The caller ends it with `release` or `keep`. */
  open(first: Uint8Array): TunnelStream {
    this.#busy++
    return this.#mux.open(first, this.#about)
  }

  /** Takes an idle stream that an earlier request left open, or null. */
  reuse(): TunnelStream | null {
    for (;;) {
      const stream = this.#idle.pop()?.stream
      if (!stream) return null
      if (stream.isClosed || stream.isRemoteEnded) continue
      this.#busy++
      return stream
    }
  }

  /** Ends a request whose stream is not reused. Later bytes of the stream are discarded. */
  release(stream: TunnelStream | null = null): void {
    this.#busy--
    if (stream) stream.listener = dropping
  }

  /** Ends a request and keeps its stream for the next one. */
  keep(stream: TunnelStream, nowMs: number): void {
    this.#busy--
    stream.listener = kept
    this.#idle.push({ stream, sinceMs: nowMs })
    if (this.#idle.length > idleStreamsMax) this.#idle.shift()?.stream.end()
  }

  /** Ends streams that were idle for longer than `idleMsMax`. */
  sweep(nowMs: number): void {
    while (this.#idle.length > 0 && nowMs - (this.#idle[0]?.sinceMs as number) > idleMsMax) this.#idle.shift()?.stream.end()
  }

  /** Accepts no new requests. Those in flight continue. */
  startDraining(): void {
    this.isDraining = true
    this.#sendReports()
    for (const { stream } of this.#idle.splice(0)) stream.end()
  }

  /** Queues a report of a request for the client. */
  report(stream: TunnelStream, about: Record<string, unknown>): void {
    this.#reports.push({ stream: stream.id, about })
    // Sent at once: the relaying node must still know the stream, and a draining connection may end at any moment.
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
