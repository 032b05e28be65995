// A TCP connection to a server that breaks off, or that hangs without closing, as a partition does it.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Link = {
  port: number
  /** Breaks connections off, and refuses new ones by closing them. */
  cut(): void
  /** Lets connections open without passing any byte on. */
  hang(): void
  mend(): void
  stop(): Promise<void>
}

export async function startLink(port: number): Promise<Link> {
  let state: 'open' | 'cut' | 'hung' = 'open'
  const pairs = new Set<[Socket, Socket]>()
  const breakAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }

  const server = createServer((client) => {
    client.on('error', () => {})
    if (state === 'cut') return void client.destroy()
    const upstream = connect({ host: '127.0.0.1', port })
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    const sides: [Socket, Socket][] = [
      [client, upstream],
      [upstream, client],
    ]
    for (const [from, to] of sides) {
      from.on('error', () => {})
      from.once('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
      from.pipe(to)
      if (state === 'hung') from.unpipe(to).pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      breakAll()
    },
    hang() {
      state = 'hung'
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
    },
    /** Connections that hung are broken off, because their bytes are lost. */
    mend() {
      if (state === 'hung') breakAll()
      state = 'open'
    },
    async stop() {
      server.close()
      breakAll()
      await once(server, 'close')
    },
  }
}
