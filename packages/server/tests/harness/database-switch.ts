// A TCP address in front of PostgreSQL servers, which a test turns from one to another, or freezes so that connections stay open and silent.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type DatabaseSwitch = {
  port: number
  /** New connections go to this server. Those that exist stay where they are. */
  turnTo: (server: { host: string; port: number }) => void
  /** No byte passes on the connections that exist, and new ones are accepted without an answer. */
  freeze: () => void
  /** New connections pass again. Those that were frozen stay so. */
  thawNew: () => void
  stop: () => Promise<void>
}

/** Starts it in front of a server's socket. */
export async function startDatabaseSwitch(server: { host: string; port: number }): Promise<DatabaseSwitch> {
  let target = server
  let isFrozen = false
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const listener = createServer((client) => {
    keep(client)
    if (isFrozen) return
    const upstream = keep(connect({ path: `${target.host}/.s.PGSQL.${target.port}` }))
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    turnTo: (next) => {
      target = next
    },
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.unpipe().pause().removeAllListeners('close')
    },
    thawNew: () => {
      isFrozen = false
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
