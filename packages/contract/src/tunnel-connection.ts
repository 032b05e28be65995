// Puts the streams of a tunnel on a socket, bare or inside a WebSocket. It asks of the socket only what Node's have, and imports none of it.
import { ProtocolViolation } from './tunnel-frames.ts'
import { type MuxOptions, TunnelMux } from './tunnel-mux.ts'
import { encodeClose, encodeMessage, MessageReader } from './tunnel-web-socket.ts'

/** The part of Node's net.Socket, or of any Duplex, that is used here. */
export type SocketLike = {
  readonly writableLength: number
  cork(): void
  uncork(): void
  write(bytes: Uint8Array): boolean
  end(): unknown
  destroy(): unknown
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown
  on(event: 'drain' | 'close' | 'end', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** How the bytes travel: as they are, or as the messages of a WebSocket whose one or other end we are. */
export type Wrapping = 'bare' | 'web-socket-server' | 'web-socket-client'

type Options = Omit<MuxOptions, 'write' | 'unsent' | 'onClose'> & {
  /** The connection is over; `reason` is a word, or what the socket said. */
  onClose(reason: string): void
  /** More than so many bytes that the other side does not read end the connection: what answers it, such as a pong, waits for no window. */
  unreadBytesMax?: number
}

/** Waiting in the socket: beyond it streams wait. */
const socketBytesMax = 1024 * 1024
/** After our last word the socket may stay open for so long, so that it arrives. */
const lingerMs = 2000

/** `head`: bytes of the connection that have been read already. */
export function connectMux(socket: SocketLike, wrapping: Wrapping, head: Uint8Array, options: Options): TunnelMux {
  const isWebSocket = wrapping !== 'bare'
  const isClient = wrapping === 'web-socket-client'
  let problem = 'closed'
  const { unreadBytesMax = Number.POSITIVE_INFINITY } = options
  const look = () => {
    if (socket.writableLength > unreadBytesMax) mux.close('unread')
  }
  const mux = new TunnelMux({
    ...options,
    unsent: () => socket.writableLength,
    write(chunks) {
      const pieces = isWebSocket ? encodeMessage(chunks, isClient) : chunks
      if (pieces.length > 1) socket.cork()
      for (const piece of pieces) socket.write(piece)
      if (pieces.length > 1) socket.uncork()
      look()
      return socket.writableLength < socketBytesMax
    },
    onClose(reason) {
      if (isWebSocket && reason !== 'closed') for (const chunk of encodeClose(isClient)) socket.write(chunk)
      socket.end()
      const timer = setTimeout(() => socket.destroy(), reason === 'unread' ? 0 : lingerMs)
      ;(timer as { unref?: () => void }).unref?.()
      socket.on('close', () => clearTimeout(timer))
      options.onClose(reason)
    },
  })
  const messages = isWebSocket
    ? new MessageReader(!isClient, {
        data: (bytes) => mux.receive(bytes),
        reply: (frame) => {
          for (const chunk of frame) socket.write(chunk)
          look()
        },
        close: () => mux.close('closed'),
      })
    : null
  const receive = (bytes: Uint8Array) => {
    if (!messages) return mux.receive(bytes)
    try {
      messages.push(bytes)
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error
      mux.close(`protocol: ${error.message}`)
    }
  }
  socket.on('drain', () => mux.drained())
  socket.on('error', (error) => {
    problem = error.message
  })
  socket.on('end', () => mux.close(problem))
  socket.on('close', () => mux.close(problem))
  if (head.length > 0) receive(head)
  socket.on('data', receive)
  return mux
}
