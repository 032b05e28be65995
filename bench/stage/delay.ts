// A line that takes its time: a TCP proxy that hands every byte on a fixed time after it came, in both directions, and holds back nothing else.
import { connect, createServer, type Socket } from 'node:net'

/** Bytes on their way in one direction of one connection. */
const onTheWayMax = 64 * 1024 * 1024

function carry(from: Socket, to: Socket, delayMs: number): void {
  let onTheWay = 0
  from.on('data', (bytes) => {
    onTheWay += bytes.length
    if (onTheWay > onTheWayMax) from.pause()
    setTimeout(() => {
      onTheWay -= bytes.length
      if (from.isPaused() && onTheWay < onTheWayMax / 2) from.resume()
      to.write(bytes)
    }, delayMs)
  })
  from.on('end', () => setTimeout(() => to.end(), delayMs))
  from.on('error', () => {})
  from.on('close', () => setTimeout(() => to.destroy(), delayMs))
}

process.once('message', ({ port, delayMs }: { port: number; delayMs: number }) => {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const onward = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    carry(socket, onward, delayMs)
    carry(onward, socket, delayMs)
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }))
})
process.once('disconnect', () => process.exit(0))
