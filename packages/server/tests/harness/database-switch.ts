// A TCP address in front of PostgreSQL servers, which a test turns from one to another, or freezes so that connections stay open and silent.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type DatabaseSwitch = {
  port: number
  /** New connections go to this server. Those that exist stay where they are. */
  turnTo: (server: { host: string; port: number }) => void
  /** No byte passes on the connections that exist, and new ones are accepted without an answer. */
  freeze: () => void
  /** Lets the next COMMIT pass of a connection that has sent this text, and closes the connection instead of giving the answer. */
  loseCommitOf: (text: string) => void
  /** Closes the next connection that sends this text, before it is answered. */
  cutAt: (text: string) => void
  /** New connections pass again. Those that were frozen stay so. */
  thawNew: () => void
  stop: () => Promise<void>
}

/** The socket in a directory, or a TCP address. */
const optionsOf = ({ host, port }: { host: string; port: number }) =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

/** Starts it in front of a server. */
export async function startDatabaseSwitch(server: { host: string; port: number }): Promise<DatabaseSwitch> {
  let target = server
  let isFrozen = false
  let lost: string | null = null
  let cut: string | null = null
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
    const upstream = keep(connect(optionsOf(target)))
    client.pipe(upstream).pipe(client)
    let isMeant = false
    client.on('data', (chunk) => {
      if (cut !== null && chunk.includes(cut)) {
        cut = null
        return client.destroy()
      }
      isMeant ||= lost !== null && chunk.includes(lost)
      if (!isMeant || lost === null || !chunk.includes('COMMIT\0')) return
      lost = null
      upstream
        .unpipe(client)
        .once('data', () => client.destroy())
        .resume()
    })
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
    loseCommitOf: (text) => {
      lost = text
    },
    cutAt: (text) => {
      cut = text
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
