// WebSocket framing (RFC 6455 section 5) for a dedicated tunnel connection. Binary messages form one stream of bytes, and their boundaries have no meaning.
import { ProtocolViolation } from './frames.ts'

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Encodes chunks as one binary message. Clients mask, servers do not. */
export function encodeMessage(chunks: Uint8Array[], isMasked: boolean): Uint8Array[] {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return encode(opcodes.binary, chunks, length, isMasked)
}

/** Encodes a close frame without a reason. */
export const encodeClose = (isMasked: boolean): Uint8Array[] => encode(opcodes.close, [], 0, isMasked)

function encode(opcode: number, chunks: Uint8Array[], length: number, isMasked: boolean): Uint8Array[] {
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const header = new Uint8Array(2 + lengthBytes + (isMasked ? 4 : 0))
  header[0] = 0x80 | opcode
  header[1] = (isMasked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  for (let i = 0; i < lengthBytes; i++) header[2 + i] = Math.floor(length / 256 ** (lengthBytes - 1 - i))
  if (!isMasked) return [header, ...chunks]
  const mask = crypto.getRandomValues(new Uint8Array(4))
  header.set(mask, 2 + lengthBytes)
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  applyMask(body, mask, 0)
  return [header, body]
}

function applyMask(bytes: Uint8Array, mask: Uint8Array, offset: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (mask[(offset + i) & 3] as number)
}

/** Parses the bytes of a WebSocket and passes on the payload of its messages as it arrives. Throws ProtocolViolation. */
export class MessageReader {
  readonly #isMasked: boolean
  readonly #on: { data(bytes: Uint8Array): void; reply(frame: Uint8Array[]): void; close(): void }
  #header = new Uint8Array(14)
  #filled = 0
  #needed = 2
  #opcode = 0
  #left = 0
  #offset = 0
  #mask = new Uint8Array(4)
  #control: number[] = []

  /** `isMasked` is true if the peer is the client. */
  constructor(isMasked: boolean, on: { data(bytes: Uint8Array): void; reply(frame: Uint8Array[]): void; close(): void }) {
    this.#isMasked = isMasked
    this.#on = on
  }

  push(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at)
        // Copied, because unmasking writes to the bytes.
        const piece = this.#isMasked ? new Uint8Array(bytes.subarray(at, at + taken)) : bytes.subarray(at, at + taken)
        if (this.#isMasked) applyMask(piece, this.#mask, this.#offset)
        at += taken
        this.#offset += taken
        this.#left -= taken
        this.#takePiece(piece)
        continue
      }
      this.#header[this.#filled++] = bytes[at++] as number
      if (this.#filled === 2) this.#readStart()
      if (this.#filled === this.#needed && this.#filled >= 2) this.#readHeader()
    }
  }

  #readStart(): void {
    const [first = 0, second = 0] = this.#header
    this.#opcode = first & 0x0f
    const length = second & 0x7f
    const isControl = this.#opcode >= 8
    if ((first & 0x70) !== 0) throw new ProtocolViolation('a WebSocket frame with an extension that was not negotiated')
    if (isControl && (length > 125 || (first & 0x80) === 0)) throw new ProtocolViolation('a WebSocket control frame that is too long')
    if (((second & 0x80) !== 0) !== this.#isMasked) throw new ProtocolViolation('a WebSocket frame masked the wrong way')
    if (this.#opcode === opcodes.text || !(Object.values(opcodes) as number[]).includes(this.#opcode))
      throw new ProtocolViolation('a WebSocket frame of the wrong kind')
    this.#needed = 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (this.#isMasked ? 4 : 0)
  }

  #readHeader(): void {
    const short = (this.#header[1] as number) & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    let length = lengthBytes === 0 ? short : 0
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + (this.#header[2 + i] as number)
    if (length > Number.MAX_SAFE_INTEGER) throw new ProtocolViolation('a WebSocket frame that is too long')
    if (this.#isMasked) this.#mask = this.#header.slice(2 + lengthBytes, 6 + lengthBytes)
    this.#filled = 0
    this.#needed = 2
    this.#offset = 0
    this.#left = length
    this.#control = []
    if (length === 0) this.#takePiece(new Uint8Array(0))
  }

  #takePiece(piece: Uint8Array): void {
    if (this.#opcode < 8) {
      if (piece.length > 0) this.#on.data(piece)
      return
    }
    this.#control.push(...piece)
    if (this.#left > 0) return
    if (this.#opcode === opcodes.close) this.#on.close()
    if (this.#opcode === opcodes.ping)
      this.#on.reply(encode(opcodes.pong, [new Uint8Array(this.#control)], this.#control.length, !this.#isMasked))
  }
}
