// Runs the streams of a tunnel over a socket, bare or inside a WebSocket. It uses only the common interface of Node's sockets and imports none of them.
import { ProtocolViolation } from './frames.ts'
import { type MuxOptions, TunnelMux } from './mux.ts'
import { encodeClose, encodeMessage, MessageReader } from './web-socket.ts'

/** The subset of Node's net.Socket, or of any Duplex, in use here. */
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

/** The transport of the bytes, either bare or as WebSocket messages from the client's or the server's side. */
export type Wrapping = 'bare' | 'web-socket-server' | 'web-socket-client'

type Options = Omit<MuxOptions, 'write' | 'unsent' | 'onClose'> & {
  /** Called when the connection has ended. `reason` is a code or the socket's error message. */
  onClose(reason: string): void
  /** Maximum of unread bytes before the connection ends, because replies such as pongs do not wait for a window. */
  unreadBytesMax?: number
}

/** Maximum of bytes waiting in the socket. Streams wait beyond it. */
const socketBytesMax = 1024 * 1024
/** Time for the last frame to arrive before the socket is destroyed. */
const lingerMs = 2000

/** `head` holds bytes of the connection that have been read already. */
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
