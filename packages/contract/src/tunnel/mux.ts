// Multiplexes many streams over one connection. This is the whole protocol without the sockets, the same on both sides.
import { FrameWriter } from './frame-writer.ts'
import { dataBytesMax, FrameReader, frameTypes, ProtocolViolation, readJson, readUint32, resetCodes, uint32 } from './frames.ts'
import { type StreamHost, TunnelStream } from './stream.ts'
import { ReceiveWindow, WindowBudget, windowBytesFirst, windowBytesMax } from './window.ts'

/** The transport of a connection. */
export type MuxOptions = {
  /** Sends these bytes in order. false requests backpressure until `drained` is called. */
  write(chunks: Uint8Array[]): boolean
  /** Written bytes that have not been sent. */
  unsent(): number
  /** Runs a function after the current event loop phase, so that the writes of one phase are sent together. */
  defer(work: () => void): void
  allocate(bytes: number): Uint8Array
  /** A stream opened by the peer. Absent where the peer must not open streams. */
  onOpen?(stream: TunnelStream): void
  onHello?(about: Record<string, unknown>): void
  onGoaway?(about: Goaway): void
  onReport?(stream: number, about: Record<string, unknown>): void
  /** Called when the connection and its streams have ended. The transport is to be closed. */
  onClose(reason: string): void
  budget: WindowBudget
  streamsMax?: number
  /** Idle milliseconds before the peer is pinged. Default 10,000. */
  pingEveryMs?: number
  /** Milliseconds after the ping at which a silent connection ends. Default 10,000. */
  deadAfterMs?: number
}

/** With `code` drain, connect again, here or elsewhere. With another code, reconnect only after its cause has been fixed. */
export type Goaway = { code: 'drain' | 'disabled' | 'revoked' | 'deleted' | 'protocol'; reason: string }

const checkEveryMs = 1000
const roundTripsKept = 8

const encoder = new TextEncoder()

export class TunnelMux implements StreamHost {
  readonly #options: MuxOptions
  readonly #reader: FrameReader
  readonly #streams = new Map<number, TunnelStream>()
  #lastStream = 0
  #peerWindow = windowBytesFirst
  readonly #writer: FrameWriter
  #isTransportFull = false
  #waiting = new Set<TunnelStream>()
  #isClosed = false
  #lastHeardMs: number
  /** Callbacks of the pings in flight, oldest first. */
  #pings: (() => void)[] = []
  #roundTrips: number[] = []
  #timer: ReturnType<typeof setInterval>

  constructor(options: MuxOptions) {
    this.#options = options
    this.#writer = new FrameWriter(options, (isFull) => {
      if (isFull) this.#isTransportFull = true
      else this.#resume()
    })
    this.#reader = new FrameReader((type, isFin, stream, payload) => this.#take(type, isFin, stream, payload))
    this.#lastHeardMs = this.nowMs()
    this.#timer = setInterval(() => this.#check(), Math.min(checkEveryMs, (options.pingEveryMs ?? 10_000) / 2))
    ;(this.#timer as { unref?: () => void }).unref?.()
    this.#ping()
  }

  get streamCount(): number {
    return this.#streams.size
  }
  /** Number of streams opened so far. */
  get streamsOpened(): number {
    return this.#lastStream
  }
  get isClosed(): boolean {
    return this.#isClosed
  }
  get isBlocked(): boolean {
    return this.#isTransportFull
  }

  /** Bytes that wait to be sent. */
  get unsentBytes(): number {
    return this.#writer.queuedBytes + this.#options.unsent()
  }

  nowMs(): number {
    return performance.now()
  }

  /** The shortest of the latest round trips. null before the first. */
  roundTripMs(): number | null {
    return this.#roundTrips.length === 0 ? null : Math.min(...this.#roundTrips)
  }

  hello(about: Record<string, unknown>): void {
    this.#send(frameTypes.hello, false, 0, encoder.encode(JSON.stringify({ ...about, window: windowBytesFirst })))
  }

  goaway(about: Goaway): void {
    this.#send(frameTypes.goaway, false, 0, encoder.encode(JSON.stringify(about)))
  }

  /** Calls back when the peer has read everything sent so far, and everything the peer sent before that has arrived here. */
  sync(onDone: () => void): void {
    this.#pings.push(onDone)
    this.#send(frameTypes.ping, false, 0, new Uint8Array(8))
  }

  report(stream: number, about: Record<string, unknown>): void {
    this.#send(frameTypes.report, false, stream, encoder.encode(JSON.stringify(about)))
  }

  /** Opens a stream with its first bytes, at most `dataBytesMax`. */
  open(first: Uint8Array, about: Record<string, unknown> | null = null): TunnelStream {
    if (first.length > dataBytesMax) throw new RangeError('the first bytes of a stream exceed the limit')
    const window = new ReceiveWindow(this.#options.budget.firstWindow(), this.#options.budget)
    window.startAhead()
    const { size } = window
    const id = ++this.#lastStream
    const stream = new TunnelStream(id, about ?? {}, this.#peerWindow, window, this)
    if (this.#isClosed) {
      // The connection ended before the listener was attached, so the listener is notified in the next microtask.
      queueMicrotask(() => stream.lose())
      return stream
    }
    this.#streams.set(id, stream)
    const json = about ? encoder.encode(JSON.stringify(about)) : null
    const head = this.#options.allocate(6 + (json?.length ?? 0))
    head.set(uint32(size), 0)
    head[4] = (json?.length ?? 0) >>> 8
    head[5] = json?.length ?? 0
    if (json) head.set(json, 6)
    stream.noteOpened(first.length, false)
    this.#send(frameTypes.open, false, id, head, first)
    return stream
  }

  /** Reads bytes of the connection. A protocol violation closes it. */
  receive(bytes: Uint8Array): void {
    if (this.#isClosed) return
    this.#lastHeardMs = this.nowMs()
    try {
      this.#reader.push(bytes)
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error
      this.goaway({ code: 'protocol', reason: error.message })
      this.close(`protocol: ${error.message}`)
    }
  }

  /** The transport accepts more bytes. */
  drained(): void {
    this.#isTransportFull = false
    this.#resume()
  }

  /** Ends the connection and its streams. Queued bytes are still sent if possible. */
  close(reason: string): void {
    if (this.#isClosed) return
    this.#writer.flush()
    // Writing may have ended the connection already.
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const stream of [...this.#streams.values()]) stream.lose()
    this.#streams.clear()
    this.#waiting.clear()
    this.#options.onClose(reason)
  }

  sendData(stream: number, bytes: Uint8Array, isFin: boolean): void {
    this.#send(frameTypes.data, isFin, stream, bytes)
  }
  sendReset(stream: number, code: number): void {
    this.#send(frameTypes.reset, false, stream, uint32(code))
  }
  sendWindow(stream: number, bytes: number): void {
    this.#send(frameTypes.window, false, stream, uint32(bytes))
  }
  await(stream: TunnelStream): void {
    this.#waiting.add(stream)
  }
  forget(stream: TunnelStream): void {
    this.#streams.delete(stream.id)
    this.#waiting.delete(stream)
  }

  #send(type: number, isFin: boolean, stream: number, payload: Uint8Array, extra: Uint8Array | null = null): void {
    if (!this.#isClosed) this.#writer.send({ type, isFin, stream, payload, extra })
  }

  /** Lets waiting streams send in order. */
  #resume(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const stream of waiting) {
      if (this.isBlocked) this.#waiting.add(stream)
      else stream.flush()
    }
  }

  #take(type: number, isFin: boolean, id: number, payload: Uint8Array): void {
    if (type === frameTypes.data || type === frameTypes.window || type === frameTypes.reset) {
      const stream = this.#streams.get(id)
      if (!stream) {
        // The stream may have ended here while the frame was in flight.
        if (id === 0 || id > this.#lastStream) throw new ProtocolViolation('a frame for a stream that was never opened')
        return
      }
      if (type === frameTypes.data) {
        if (!stream.receive(payload, isFin)) throw new ProtocolViolation('more data than the window')
      } else {
        if (payload.length !== 4) throw new ProtocolViolation('a frame of the wrong length')
        const value = readUint32(payload, 0)
        if (type === frameTypes.reset) stream.receiveReset(value)
        else if (!stream.receiveWindow(value)) throw new ProtocolViolation('a window that is too large')
      }
      return
    }
    switch (type) {
      case frameTypes.open:
        this.#takeOpen(isFin, id, payload)
        return
      case frameTypes.ping:
        if (payload.length !== 8) throw new ProtocolViolation('a ping of the wrong length')
        this.#send(frameTypes.pong, false, 0, payload.slice())
        return
      case frameTypes.pong:
        this.#pings.shift()?.()
        return
      case frameTypes.hello: {
        const about = readJson(payload)
        const { window } = about
        if (typeof window !== 'number' || !Number.isInteger(window) || window < dataBytesMax || window > windowBytesMax)
          throw new ProtocolViolation('a hello without a window')
        this.#peerWindow = window
        this.#options.onHello?.(about)
        return
      }
      case frameTypes.goaway:
        this.#options.onGoaway?.(readJson(payload) as unknown as Goaway)
        return
      default:
        this.#options.onReport?.(id, readJson(payload))
        return
    }
  }

  #takeOpen(isFin: boolean, id: number, payload: Uint8Array): void {
    const { onOpen } = this.#options
    if (!onOpen) throw new ProtocolViolation('this side opens the streams')
    if (id !== this.#lastStream + 1 || payload.length < 6) throw new ProtocolViolation('a stream was not opened in order')
    this.#lastStream = id
    const window = readUint32(payload, 0)
    const jsonLength = ((payload[4] as number) << 8) | (payload[5] as number)
    if (payload.length < 6 + jsonLength) throw new ProtocolViolation('an opening that is cut short')
    if (this.#streams.size >= (this.#options.streamsMax ?? 4096)) {
      this.sendReset(id, resetCodes.refused)
      return
    }
    const about = jsonLength > 0 ? readJson(payload.subarray(6, 6 + jsonLength)) : {}
    const own = new ReceiveWindow(windowBytesFirst, this.#options.budget)
    const stream = new TunnelStream(id, about, window, own, this)
    this.#streams.set(id, stream)
    const ahead = own.startAhead()
    if (ahead > 0) this.sendWindow(id, ahead)
    onOpen(stream)
    const first = payload.subarray(6 + jsonLength)
    if ((first.length > 0 || isFin) && !stream.receive(first, isFin)) throw new ProtocolViolation('more data than the window')
  }

  #ping(): void {
    const sentMs = this.nowMs()
    this.sync(() => {
      this.#roundTrips.push(this.nowMs() - sentMs)
      if (this.#roundTrips.length > roundTripsKept) this.#roundTrips.shift()
    })
  }

  #check(): void {
    const silentMs = this.nowMs() - this.#lastHeardMs
    const { pingEveryMs = 10_000, deadAfterMs = 10_000 } = this.#options
    if (silentMs > pingEveryMs + deadAfterMs) {
      this.close('silent')
      return
    }
    const isUnanswered = this.#pings.length > 0
    if (silentMs >= pingEveryMs ? !isUnanswered : !isUnanswered && this.#streams.size > 0) this.#ping()
  }
}

export { WindowBudget }
