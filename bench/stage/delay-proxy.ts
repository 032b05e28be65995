// A TCP proxy that holds every byte for a while each way: half of a round trip. Bandwidth is not limited; a stalled reader stalls the sender.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

const [targetPort, delayMs] = process.argv.slice(2).map(Number) as [number, number]
/** On its way at once, in each direction: the largest window that Linux gives a connection unless told otherwise (tcp_rmem). */
const inFlightMax = 6 * 1024 * 1024

function carry(from: Socket, to: Socket): void {
  let inFlight = 0
  from.on('data', (chunk) => {
    inFlight += chunk.length
    if (inFlight > inFlightMax) from.pause()
    setTimeout(() => {
      const landed = () => {
        inFlight -= chunk.length
        if (inFlight <= inFlightMax) from.resume()
      }
      if (to.destroyed) landed()
      else to.write(chunk, landed)
    }, delayMs)
  })
  from.on('end', () => setTimeout(() => to.end(), delayMs))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), delayMs))
}

const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
  const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  carry(near, far)
  carry(far, near)
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit(0))
