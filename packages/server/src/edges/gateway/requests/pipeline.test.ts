// Pipelined requests over a real socket to Node's HTTP server, with responses written by the test.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { isLateUnread } from '../../../core/open-response.ts'
import { waitForTurn } from './pipeline.ts'

const get = 'GET / HTTP/1.1\r\nHost: sales.tunnel.test\r\n\r\n'
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function open(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  onError?: (error: Error, socket: Socket) => void,
): Promise<Socket> {
  const server = createServer({ headersTimeout: 100, requestTimeout: 0, connectionsCheckingInterval: 20 }, onRequest)
  if (onError) server.on('clientError', onError)
  server.maxRequestsPerSocket = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  ends.push(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  return socket
}

test('the next request starts when the response before it has been completed', async () => {
  let isAnswering = false
  const seen: boolean[] = []
  const socket = await open((request, response) =>
    waitForTurn(request, response).then(() => {
      seen.push(isAnswering)
      setImmediate(() => {
        isAnswering = true
        response.end('ok')
        isAnswering = false
      })
    }),
  )
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.write(get.repeat(3))
  while (text.split('ok').length < 4) await once(socket, 'data')
  expect(seen).toEqual([false, false, false])
})

test('a client that does not read gets no further responses until it reads', async () => {
  const large = Buffer.alloc(16 * 1024 * 1024, 'callsign')
  const unsent: number[] = []
  const socket = await open((request, response) =>
    waitForTurn(request, response).then(() => {
      unsent.push(request.socket.writableLength)
      response.end(large)
    }),
  )
  socket.pause()
  socket.write(get.repeat(4))
  socket.resume()
  while (socket.bytesRead < 4 * large.length) await once(socket, 'data')
  expect(unsent).toEqual([0, 0, 0, 0])
})

test('a client that sends without end has a bounded number of requests waiting', async () => {
  const total = 20_000
  let [received, served, waitingMax] = [0, 0, 0]
  const socket = await open((request, response) => {
    received++
    waitingMax = Math.max(waitingMax, received - served)
    waitForTurn(request, response).then(() => {
      served++
      response.end()
    })
  })
  socket.resume()
  socket.write(get.repeat(total))
  while (served < total) await once(socket, 'data')
  // Node reads 64 KB at a time.
  expect(waitingMax).toBeLessThanOrEqual((2 * 65_536) / get.length)
})

test('a client that leaves is noticed while its requests wait', async () => {
  const left = Promise.withResolvers<void>()
  let received = 0
  const socket = await open((request, response) => {
    if (++received === 1) response.once('close', () => left.resolve())
    void waitForTurn(request, response)
    if (received === 3) socket.destroy()
  })
  socket.write(get.repeat(3))
  await left.promise
})

test.each([
  ['is read', 2, false],
  ['is not read, because many requests wait', 20, true],
])('a late head on a connection that %s', async (_name, requests, isUnread) => {
  const late = Promise.withResolvers<boolean>()
  const socket = await open(
    (request, response) => void waitForTurn(request, response),
    (error, serverSocket) => late.resolve(isLateUnread(error, serverSocket)),
  )
  socket.write(`${get.repeat(requests)}GET / HT`)
  expect(await late.promise).toBe(isUnread)
})
