// Adapts a stream of a tunnel to a Duplex of Node, for servers that accept connections.
import type { Duplex } from 'node:stream'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import type { Node } from './node.ts'

export function toDuplex({ stream: { Duplex } }: Node, stream: TunnelStream): Duplex {
  let onRoom: (() => void) | null = null
  let unread = 0
  let isReading = false
  const duplex = new Duplex({
    allowHalfOpen: true,
    read() {
      isReading = true
      const bytes = unread
      unread = 0
      if (bytes > 0) stream.taken(bytes)
    },
    write(chunk: Buffer, _encoding, done) {
      if (stream.write(chunk)) done()
      else onRoom = done
    },
    writev(chunks, done) {
      let hasRoom = true
      for (const { chunk } of chunks) hasRoom = stream.write(chunk)
      if (hasRoom) done()
      else onRoom = done
    },
    final(done) {
      stream.end()
      done()
    },
    destroy(error, done) {
      stream.reset(resetCodes.targetLost)
      onRoom?.()
      done(error)
    },
  })
  stream.listener = {
    onDrain() {
      const done = onRoom
      onRoom = null
      done?.()
    },
    onData(bytes) {
      // push returns false for backpressure. read() is called when the reader wants more.
      if (duplex.push(bytes) || isReading) stream.taken(bytes.length)
      else unread += bytes.length
      isReading = false
    },
    onEnd: () => void duplex.push(null),
    onReset: () => void duplex.destroy(),
  }
  // The socket methods that servers use.
  Object.assign(duplex, {
    setNoDelay: () => duplex,
    setKeepAlive: () => duplex,
    setTimeout: () => duplex,
    remoteAddress: '127.0.0.1',
    encrypted: false,
  })
  return duplex
}
