// One stream of a tunnel connection: bytes both ways, each with its own end, and never more than the other side has room for.
import { dataBytesMax, resetCodes } from './tunnel-frames.ts'
import type { ReceiveWindow } from './tunnel-window.ts'

/** What a stream asks of its connection. */
export type StreamHost = {
  readonly isBlocked: boolean
  nowMs(): number
  roundTripMs(): number | null
  sendData(stream: number, bytes: Uint8Array, isFin: boolean): void
  sendReset(stream: number, code: number): void
  sendWindow(stream: number, bytes: number): void
  /** The stream has something to send once the connection takes more. */
  await(stream: TunnelStream): void
  forget(stream: TunnelStream): void
}

/**
 * Who a stream tells what happens on it. An object that may serve many streams, and not functions made for each use of one: functions hung on a
 * stream that lives long keep what they close over until the garbage collector's next full round.
 */
export type StreamListener = {
  /** Bytes of the other side; tell `taken` when they have gone on. */
  onData(bytes: Uint8Array, stream: TunnelStream): void
  /** The other side says no more. */
  onEnd(stream: TunnelStream): void
  /** The stream is over, at once and in both directions; the connection may be. */
  onReset(code: number, stream: TunnelStream): void
  /** After `write` has returned false: there is room again. */
  onDrain(stream: TunnelStream): void
}

const nobody: StreamListener = { onData() {}, onEnd() {}, onReset() {}, onDrain() {} }
const nothing = new Uint8Array(0)

export class TunnelStream {
  readonly id: number
  /** What the opener said of it. */
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

  /** Sends bytes, or keeps them until there is room; false asks the caller to wait for the listener's `onDrain`. */
  write(bytes: Uint8Array): boolean {
    if (this.#isClosed || this.#isEnded) return true
    this.#pending.push(bytes)
    this.flush()
    if (this.#pending.length === 0) return true
    this.#wantsDrain = true
    return false
  }

  /** Says that nothing more comes, behind what was written. */
  end(bytes?: Uint8Array): void {
    if (this.#isClosed || this.#isEnded) return
    if (bytes && bytes.length > 0) this.#pending.push(bytes)
    this.#isEnded = true
    this.#isFinPending = true
    this.flush()
  }

  /** Ends the stream at once. Does nothing when it has ended both ways already. */
  reset(code: number): void {
    if (this.#isClosed) return
    this.#host.sendReset(this.id, code)
    this.#close()
  }

  /** The reader is done with this many bytes. */
  taken(bytes: number): void {
    if (this.#isClosed || this.#isRemoteEnded) return
    const granted = this.#window.take(bytes, this.#host.nowMs(), this.#host.roundTripMs())
    if (granted > 0) this.#host.sendWindow(this.id, granted)
  }

  /** Sends what waits, as far as window and connection allow. */
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

  /** The opener's first bytes went with the opening itself. */
  noteOpened(bytes: number, isFin: boolean): void {
    this.#sendOpen -= bytes
    if (isFin) this.#isEnded = true
  }

  /** Bytes from the connection; false when they are more than the window. */
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

  /** The connection is gone. */
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
