// One stream of a tunnel connection carries bytes both ways. Each direction ends by itself and respects the peer's flow-control window.
import { dataBytesMax, resetCodes } from './frames.ts'
import type { ReceiveWindow } from './window.ts'

/** The connection, as used by its streams. */
export type StreamHost = {
  readonly isBlocked: boolean
  nowMs(): number
  roundTripMs(): number | null
  sendData(stream: number, bytes: Uint8Array, isFin: boolean): void
  sendReset(stream: number, code: number): void
  sendWindow(stream: number, bytes: number): void
  /** Queues the stream to send when the connection accepts more. */
  await(stream: TunnelStream): void
  forget(stream: TunnelStream): void
}

/**
 * Receives the events of a stream. It is one object that may serve many streams instead of functions per stream. Functions attached to a
 * long-lived stream keep their closures alive until the next full garbage collection.
 */
export type StreamListener = {
  /** Bytes from the peer. Call `taken` when they have been passed on. */
  onData(bytes: Uint8Array, stream: TunnelStream): void
  /** The peer has ended its direction. */
  onEnd(stream: TunnelStream): void
  /** The stream has ended in both directions. The connection may have ended too. */
  onReset(code: number, stream: TunnelStream): void
  /** Called when there is room again after `write` has returned false. */
  onDrain(stream: TunnelStream): void
}

const nobody: StreamListener = { onData() {}, onEnd() {}, onReset() {}, onDrain() {} }
const nothing = new Uint8Array(0)

export class TunnelStream {
  readonly id: number
  /** The metadata sent by the opener. */
  readonly about: Record<string, unknown>
  readonly #host: StreamHost
  readonly #window: ReceiveWindow
  #sendOpen: number
  #pending: Uint8Array[] = []
  #isFinPending = false
  #isEnded = false
  #isRemoteEnded = false
  #isClosed = false
  #wantsDrain = false
  listener: StreamListener = nobody

  constructor(id: number, about: Record<string, unknown>, sendOpen: number, window: ReceiveWindow, host: StreamHost) {
    this.id = id
    this.about = about
    this.#sendOpen = sendOpen
    this.#window = window
    this.#host = host
  }

  get isClosed(): boolean {
    return this.#isClosed
  }
  get isRemoteEnded(): boolean {
    return this.#isRemoteEnded
  }

  /** Sends bytes, or buffers them until there is room. Returns false to request backpressure until the listener's `onDrain`. */
  write(bytes: Uint8Array): boolean {
    if (this.#isClosed || this.#isEnded) return true
    this.#pending.push(bytes)
    this.flush()
    if (this.#pending.length === 0) return true
    this.#wantsDrain = true
    return false
  }

  /** Ends the sending direction after the bytes written before. */
  end(bytes?: Uint8Array): void {
    if (this.#isClosed || this.#isEnded) return
    if (bytes && bytes.length > 0) this.#pending.push(bytes)
    this.#isEnded = true
    this.#isFinPending = true
    this.flush()
  }

  /** Ends the stream immediately. Has no effect if both directions have ended. */
  reset(code: number): void {
    if (this.#isClosed) return
    this.#host.sendReset(this.id, code)
    this.#close()
  }

  /** The reader has processed this many bytes. */
  taken(bytes: number): void {
    if (this.#isClosed || this.#isRemoteEnded) return
    const granted = this.#window.take(bytes, this.#host.nowMs(), this.#host.roundTripMs())
    if (granted > 0) this.#host.sendWindow(this.id, granted)
  }

  /** Sends buffered bytes as far as window and connection allow. */
  flush(): void {
    while (this.#pending.length > 0) {
      if (this.#host.isBlocked || this.#sendOpen <= 0) {
        if (this.#host.isBlocked) this.#host.await(this)
        return
      }
      const first = this.#pending[0] as Uint8Array
      const size = Math.min(first.length, this.#sendOpen, dataBytesMax)
      if (size === first.length) this.#pending.shift()
      else this.#pending[0] = first.subarray(size)
      this.#sendOpen -= size
      const isFin = this.#isFinPending && this.#pending.length === 0
      if (isFin) this.#isFinPending = false
      this.#host.sendData(this.id, size === first.length ? first : first.subarray(0, size), isFin)
    }
    if (this.#isFinPending) {
      this.#isFinPending = false
      this.#host.sendData(this.id, nothing, true)
    }
    if (this.#wantsDrain) {
      this.#wantsDrain = false
      this.listener.onDrain(this)
    }
    this.#closeWhenDone()
  }

  /** The opener's first bytes were part of the open frame. */
  noteOpened(bytes: number, isFin: boolean): void {
    this.#sendOpen -= bytes
    if (isFin) this.#isEnded = true
  }

  /** Receives bytes from the connection. Returns false if they exceed the window. */
  receive(bytes: Uint8Array, isFin: boolean): boolean {
    if (this.#isClosed) return true
    if (this.#isRemoteEnded) return false
    if (bytes.length > 0) {
      if (!this.#window.receive(bytes.length, this.#host.nowMs())) return false
      this.listener.onData(bytes, this)
    }
    if (isFin && !this.#isClosed) {
      this.#isRemoteEnded = true
      this.listener.onEnd(this)
      this.#closeWhenDone()
    }
    return true
  }

  receiveWindow(bytes: number): boolean {
    this.#sendOpen += bytes
    if (this.#sendOpen > 0x7fffffff) return false
    this.flush()
    return true
  }

  receiveReset(code: number): void {
    if (this.#isClosed) return
    this.#close()
    this.listener.onReset(code, this)
  }

  /** The connection has ended. */
  lose(): void {
    this.receiveReset(resetCodes.targetLost)
  }

  #closeWhenDone(): void {
    if (this.#isEnded && this.#isRemoteEnded && this.#pending.length === 0 && !this.#isFinPending) this.#close()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pending = []
    this.#window.close()
    this.#host.forget(this)
  }
}
