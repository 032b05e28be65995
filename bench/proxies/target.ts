// The local server behind the tunnel: echoes headers, streams events, answers late, counts an upload as it arrives, and echoes a WebSocket.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

export type Target = Awaited<ReturnType<typeof startTarget>>

/** Starts it on a free loopback port. `lateMs` is the delay of the path /late. */
export async function startTarget(lateMs: number) {
  let arrived = 0
  const paths: Record<string, (request: IncomingMessage) => Promise<string>> = {
    '/headers': async ({ headers }) => JSON.stringify(headers),
    '/late': async () => {
      await delay(lateMs)
      return 'late'
    },
    '/upload': async (request) => {
      arrived = 0
      const hash = createHash('sha256')
      for await (const chunk of request) {
        arrived += (chunk as Buffer).length
        hash.update(chunk as Buffer)
      }
      return hash.digest('hex')
    },
  }
  const server = createServer((request, response) => {
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
      // The second event follows the reader's request for it.
      waiting.push(() => response.end('data: second\n\n'))
      return
    }
    const answer = paths[request.url ?? '']
    if (!answer) response.writeHead(404).end()
    else answer(request).then((text) => response.end(text))
  })
  const waiting: (() => void)[] = []
  new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${data}`)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Bytes of the latest upload that have arrived. */
    arrived: () => arrived,
    sendSecondEvent: () => waiting.shift()?.(),
    close: () => server.close(),
  }
}
