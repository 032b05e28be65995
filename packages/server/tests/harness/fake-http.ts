// A small HTTP server for fake suppliers. It reads the body, passes the request to a function, and can cut a connection.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type FakeRequest = { method: string; url: URL; headers: IncomingHttpHeaders; body: Buffer; json: () => Record<string, unknown> }
/** `cut` ends the connection without an answer. */
export type FakeAnswer = { status: number; json?: unknown; bytes?: Buffer; type?: string; headers?: Record<string, string> } | 'cut'

export async function startFake(answer: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', async () => {
      const body = Buffer.concat(chunks)
      const url = new URL(request.url ?? '/', 'http://fake')
      const said = await answer({
        method: request.method ?? '',
        url,
        headers: request.headers,
        body,
        json: () => JSON.parse(body.toString()) as Record<string, unknown>,
      })
      if (said === 'cut') return void request.socket.destroy()
      const bytes = said.bytes ?? Buffer.from(JSON.stringify(said.json ?? {}))
      response.writeHead(said.status, { 'content-type': said.type ?? 'application/json', ...said.headers }).end(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
