// Outgoing frames of a tunnel connection, buffered briefly and written together.
import { frameTypes, headerBytes, writeHeader } from './frames.ts'

/** `extra` follows the payload. */
export type Frame = { type: number; isFin: boolean; stream: number; payload: Uint8Array; extra: Uint8Array | null }

type Transport = {
  /** Sends these bytes in order. Returns false to request backpressure. */
  write(chunks: Uint8Array[]): boolean
  /** Runs a function after the current event loop phase. */
  defer(work: () => void): void
  allocate(bytes: number): Uint8Array
}

/** Payloads up to this size are copied beside their header. Larger ones are written without a copy. */
const copiedBytesMax = 8 * 1024
/** Maximum bytes per combined write. Above it the buffer is written while it is in the processor's cache. */
const groupBytesMax = 64 * 1024
/**
 * Maximum frames per combined write. The first frame of an event loop phase is sent alone, so that the peer can start while the others are built.
 * Otherwise both sides alternate between waiting and working. Writing every frame alone costs more than that wait.
 */
const groupFramesMax = 8

export class FrameWriter {
  readonly #transport: Transport
  readonly #onWritten: (isFull: boolean) => void
  #queue: Frame[] = []
  #queuedBytes = 0
  #isFlushDue = false
  #hasWrittenInTurn = false

  /** `onWritten` is called after each write, with false if the transport requests backpressure. */
  constructor(transport: Transport, onWritten: (isFull: boolean) => void) {
    this.#transport = transport
    this.#onWritten = onWritten
  }

  get queuedBytes(): number {
    return this.#queuedBytes
  }

  send(frame: Frame): void {
    this.#queue.push(frame)
    this.#queuedBytes += headerBytes + frame.payload.length + (frame.extra?.length ?? 0)
    if (!this.#isFlushDue) {
      this.#isFlushDue = true
      this.#transport.defer(() => {
        this.#isFlushDue = false
        this.#hasWrittenInTurn = false
        this.flush()
      })
    }
    // Open frames wait, because a write may end the connection before the opener has attached its listener.
    if (frame.type !== frameTypes.data) return
    if (this.#queuedBytes < groupBytesMax && this.#queue.length < (this.#hasWrittenInTurn ? groupFramesMax : 1)) return
    this.#hasWrittenInTurn = true
    this.flush()
  }

  /** Writes the buffer. Small payloads are copied together with the headers. */
  flush(): void {
    if (this.#queue.length === 0) return
    const frames = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    let copied = 0
    for (const { payload, extra } of frames)
      copied += headerBytes + (payload.length <= copiedBytesMax ? payload.length : 0) + (extra?.length ?? 0)
    const bytes = this.#transport.allocate(copied)
    const chunks: Uint8Array[] = []
    let from = 0
    let at = 0
    for (const { type, isFin, stream, payload, extra } of frames) {
      writeHeader(bytes, at, type, isFin, stream, payload.length + (extra?.length ?? 0))
      at += headerBytes
      if (payload.length <= copiedBytesMax) {
        bytes.set(payload, at)
        at += payload.length
        if (extra) {
          bytes.set(extra, at)
          at += extra.length
        }
      } else {
        chunks.push(bytes.subarray(from, at), payload)
        from = at
      }
    }
    if (at > from) chunks.push(bytes.subarray(from, at))
    this.#onWritten(!this.#transport.write(chunks))
  }
}
