// The frames of a tunnel connection: a header of nine bytes (length, type, stream) and a payload; written and read on plain byte arrays.

/** The name in Upgrade, and as a WebSocket subprotocol. */
export const tunnelProtocol = 'callsign-tunnel/1'
export const tunnelWebSocketProtocol = 'callsign-tunnel.v1'

export const frameTypes = {
  /** JSON: what each side says of itself, first. */
  hello: 1,
  /** Window (u32), length of JSON (u16), JSON, first bytes. The gateway opens streams, nobody else. */
  open: 2,
  data: 3,
  /** Code (u32): the stream ends at once in both directions. */
  reset: 4,
  /** Bytes (u32) that the other side may send beyond what it had been told. */
  window: 5,
  /** Eight bytes that come back as they are. */
  ping: 6,
  pong: 7,
  /** JSON: the connection is to end, and what to do then. */
  goaway: 8,
  /** JSON about a stream, for people who watch. */
  report: 9,
} as const

/** In the type byte: the sender says nothing more on this stream. Goes with open and data. */
const finFlag = 0x80
export const headerBytes = 9
/** The largest payload of a data frame that we send, and of any frame that we take. */
export const dataBytesMax = 64 * 1024
const payloadBytesMax = 128 * 1024

/** Why a stream was reset. */
export const resetCodes = {
  cancelled: 1,
  /** Nothing of the request was given to anybody: it may be sent elsewhere. */
  refused: 2,
  targetUnreachable: 3,
  targetLost: 4,
  protocolError: 5,
  /** The other node has no such client. */
  notHere: 6,
  idle: 7,
} as const

/** The peer broke the protocol: the connection is of no use any more. */
export class ProtocolViolation extends Error {
  override name = 'ProtocolViolation'
}

/** Writes a header at the beginning of `target`. */
export function writeHeader(target: Uint8Array, at: number, type: number, isFin: boolean, stream: number, length: number): void {
  target[at] = length >>> 24
  target[at + 1] = length >>> 16
  target[at + 2] = length >>> 8
  target[at + 3] = length
  target[at + 4] = isFin ? type | finFlag : type
  target[at + 5] = stream >>> 24
  target[at + 6] = stream >>> 16
  target[at + 7] = stream >>> 8
  target[at + 8] = stream
}

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0

export function uint32(value: number): Uint8Array {
  return new Uint8Array([value >>> 24, value >>> 16, value >>> 8, value])
}

export type OnFrame = (type: number, isFin: boolean, stream: number, payload: Uint8Array) => void

/**
 * Takes the bytes of a connection as they come and hands out frames. Data is handed out in pieces as it arrives, its last piece with the fin flag
 * of the frame; other frames whole. Throws ProtocolViolation.
 */
export class FrameReader {
  readonly #onFrame: OnFrame
  readonly #header = new Uint8Array(headerBytes)
  #headerFilled = 0
  #isInFrame = false
  #type = 0
  #isFin = false
  #stream = 0
  #left = 0
  #gathered: Uint8Array | null = null
  #gatheredFilled = 0

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame
  }

  push(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (!this.#isInFrame) {
        if (this.#headerFilled === 0 && bytes.length - at >= headerBytes) {
          this.#begin(bytes, at)
          at += headerBytes
        } else {
          const taken = Math.min(headerBytes - this.#headerFilled, bytes.length - at)
          this.#header.set(bytes.subarray(at, at + taken), this.#headerFilled)
          this.#headerFilled += taken
          at += taken
          if (this.#headerFilled < headerBytes) return
          this.#headerFilled = 0
          this.#begin(this.#header, 0)
        }
        if (this.#left === 0) {
          this.#isInFrame = false
          this.#onFrame(this.#type, this.#isFin, this.#stream, bytes.subarray(0, 0))
        }
        continue
      }
      const taken = Math.min(this.#left, bytes.length - at)
      const piece = bytes.subarray(at, at + taken)
      at += taken
      this.#left -= taken
      this.#isInFrame = this.#left > 0
      if (this.#type === frameTypes.data) this.#onFrame(this.#type, this.#isFin && this.#left === 0, this.#stream, piece)
      else this.#gather(piece)
    }
  }

  #begin(bytes: Uint8Array, at: number): void {
    this.#left = readUint32(bytes, at)
    const type = bytes[at + 4] as number
    this.#isFin = (type & finFlag) !== 0
    this.#type = type & ~finFlag
    this.#stream = readUint32(bytes, at + 5)
    if (this.#left > payloadBytesMax) throw new ProtocolViolation('a frame is too large')
    if (this.#type < frameTypes.hello || this.#type > frameTypes.report) throw new ProtocolViolation('a frame has an unknown type')
    this.#isInFrame = true
  }

  #gather(piece: Uint8Array): void {
    if (this.#gathered === null && this.#left === 0) {
      this.#onFrame(this.#type, this.#isFin, this.#stream, piece)
      return
    }
    this.#gathered ??= new Uint8Array(piece.length + this.#left)
    this.#gathered.set(piece, this.#gatheredFilled)
    this.#gatheredFilled += piece.length
    if (this.#left > 0) return
    const whole = this.#gathered
    this.#gathered = null
    this.#gatheredFilled = 0
    this.#onFrame(this.#type, this.#isFin, this.#stream, whole)
  }
}
