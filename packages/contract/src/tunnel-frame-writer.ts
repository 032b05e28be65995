// Frames on their way out of a tunnel connection: gathered for as long as that pays, and written together.
import { frameTypes, headerBytes, writeHeader } from './tunnel-frames.ts'

/** `extra` goes behind the payload. */
export type Frame = { type: number; isFin: boolean; stream: number; payload: Uint8Array; extra: Uint8Array | null }

type Transport = {
  /** Sends these bytes in order; false when it has enough for now. */
  write(chunks: Uint8Array[]): boolean
  /** Runs a function after what the process is at. */
  defer(work: () => void): void
  allocate(bytes: number): Uint8Array
}

/** A payload up to this size is copied beside its header; a larger one goes as it is. */
const copiedBytesMax = 8 * 1024
/** What waits to be written together; more is written at once, while it is in the processor's cache. */
const groupBytesMax = 64 * 1024
/**
 * So many frames are written together. The first of a turn goes alone: the other side wakes up and begins while the others are made. Without it both
 * take turns at waiting for each other; writing each frame alone costs more than the waiting.
 */
const groupFramesMax = 8

export class FrameWriter {
  readonly #transport: Transport
  readonly #onWritten: (isFull: boolean) => void
  #queue: Frame[] = []
  #queuedBytes = 0
  #isFlushDue = false
  #hasWrittenInTurn = false

  /** `onWritten` is told after each write whether the transport has enough. */
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
    // Not with an opening: writing may end the connection, and whoever opens a stream does not listen yet.
    if (frame.type !== frameTypes.data) return
    if (this.#queuedBytes < groupBytesMax && this.#queue.length < (this.#hasWrittenInTurn ? groupFramesMax : 1)) return
    this.#hasWrittenInTurn = true
    this.flush()
  }

  /** Writes what is there: small payloads are copied together with the headers. */
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
