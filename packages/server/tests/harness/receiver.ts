// An endpoint that records posts, and answers at once, late or never, with any status.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from './certificate.ts'
import { waitFor } from './wait.ts'

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer; atMs: number }
/** The answer to give. `hang` never answers. */
export type Answering = { status: number; headers?: Record<string, string>; body?: string } | 'hang'
type Answer = (received: Received) => Answering | Promise<Answering>

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts one on a free loopback port, with TLS if a certificate is given. `answer` may read the request. */
export async function startReceiver(answer: Answer = () => ({ status: 200 }), certificate?: Certificate) {
  const received: Received[] = []
  let connections = 0
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', async () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks), atMs: Date.now() }
      received.push(one)
      const answering = await answer(one)
      if (answering === 'hang') return
      response.writeHead(answering.status, answering.headers).end(answering.body ?? 'taken')
    })
  }
  const server = certificate ? createTlsServer(certificate, listener) : createServer(listener)
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    /** The payloads, parsed. */
    payloads: () => received.map((one) => JSON.parse(one.body.toString())),
    /** Resolves with the posts once there are `count` of them. */
    waitFor: (count: number) => waitFor(`${count} posts to the receiver`, () => received.length >= count && received.slice(0, count)),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
