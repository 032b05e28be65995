// The frames of a tunnel connection, read and written on plain byte arrays. A frame is a nine-byte header (length, type, stream) and a payload.

/** The name in Upgrade, and as a WebSocket subprotocol. */
export const tunnelProtocol = 'callsign-tunnel/1'
export const tunnelWebSocketProtocol = 'callsign-tunnel.v1'

export const frameTypes = {
  /** JSON. The first frame, in which each side introduces itself. */
  hello: 1,
  /** Window (u32), length of JSON (u16), JSON, first bytes. Only the gateway opens streams. */
  open: 2,
  data: 3,
  /** Code (u32). The stream ends immediately in both directions. */
  reset: 4,
  /** Bytes (u32) that the peer may send in addition to earlier grants. */
  window: 5,
  /** Eight bytes that are returned unchanged. */
  ping: 6,
  pong: 7,
  /** JSON. Announces the end of the connection and the action to take then. */
  goaway: 8,
  /** JSON about a stream, for log output. */
  report: 9,
} as const

/** A flag in the type byte of open and data frames. The sender sends nothing more on this stream. */
const finFlag = 0x80
export const headerBytes = 9
/** Maximum payload of a sent data frame, and of any accepted frame. */
export const dataBytesMax = 64 * 1024
const payloadBytesMax = 128 * 1024

/** The reasons for resetting a stream. */
export const resetCodes = {
  cancelled: 1,
  /** No part of the request was delivered, so it may be sent elsewhere. */
  refused: 2,
  targetUnreachable: 3,
  targetLost: 4,
  protocolError: 5,
  /** The other node does not have this client. */
  notHere: 6,
  idle: 7,
} as const

/** The peer violated the protocol, so the connection has to end. */
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
 * Parses the bytes of a connection into frames. Data is passed on in pieces as it arrives, and the last piece carries the fin flag
 * of the frame. Other frames are passed on whole. Throws ProtocolViolation.
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
  #buffered: Uint8Array | null = null
  #bufferedBytes = 0

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
      else this.#buffer(piece)
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

  #buffer(piece: Uint8Array): void {
    if (this.#buffered === null && this.#left === 0) {
      this.#onFrame(this.#type, this.#isFin, this.#stream, piece)
      return
    }
    this.#buffered ??= new Uint8Array(piece.length + this.#left)
    this.#buffered.set(piece, this.#bufferedBytes)
    this.#bufferedBytes += piece.length
    if (this.#left > 0) return
    const whole = this.#buffered
    this.#buffered = null
    this.#bufferedBytes = 0
    this.#onFrame(this.#type, this.#isFin, this.#stream, whole)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses the payload of a JSON frame, which must be an object. Throws ProtocolViolation. */
export function readJson(payload: Uint8Array): Record<string, unknown> {
  try {
    const value = JSON.parse(decoder.decode(payload)) as unknown
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new ProtocolViolation('a frame that is not JSON')
}
