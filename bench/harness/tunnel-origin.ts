// Origin of the tunnel figures, in its own process. It serves a kilobyte, downloads and uploads of any size, and event streams that stay open.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const small = Buffer.alloc(1024, 'k')
const piece = Buffer.alloc(64 * 1024, 'd')
const eventEveryMs = 1000

/** Resolves when the response is writable again, or the public client has disconnected. */
const wake = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url as string, 'http://origin')
  if (pathname === '/small') {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': small.length }).end(small)
  } else if (pathname === '/download') {
    const bytes = Number(searchParams.get('bytes'))
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
    for (let left = bytes; left > 0 && !response.destroyed; left -= piece.length) {
      if (!response.write(left >= piece.length ? piece : piece.subarray(0, left))) await wake(response)
    }
    response.end()
  } else if (pathname === '/upload') {
    let bytes = 0
    for await (const chunk of request) bytes += (chunk as Buffer).length
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ bytes }))
  } else if (pathname === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    const send = () => response.write('data: tick\n\n')
    send()
    const timer = setInterval(send, eventEveryMs)
    response.once('close', () => clearInterval(timer))
  } else {
    response.writeHead(404).end()
  }
})
// The load keeps connections for as long as it runs.
server.keepAliveTimeout = 600_000
server.requestTimeout = 0
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit(0))
