// The end of a response whose client does not read it, over a real socket.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { refusal, writeRefusal } from './error-response.ts'
import { AnswerBody } from './response-body.ts'

/** More than the kernel buffers for a client that does not read. */
const large = Buffer.alloc(16 * 1024 * 1024, 'callsign')

const answer = (isLast: boolean) => (response: ServerResponse) => {
  const body = new AnswerBody(response)
  body.start(() => response.writeHead(200, isLast ? { 'content-length': large.length } : {}))
  body.write(large, isLast)
  body.end([])
}
const refuse = (response: ServerResponse) =>
  writeRefusal(response, { method: 'GET', wantsPage: false }, { ...refusal(421, 'misdirected_request', ''), headers: [], body: large })

test.each([
  ['with its last bytes', answer(true)],
  ['without a length', answer(false)],
  ['of the gateway itself', refuse],
])('a response %s has a time limit to be read, until the client reads on', async (_name, write) => {
  const server = createServer({ keepAliveTimeout: 65_000, keepAliveTimeoutBuffer: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const publicClient = connect((server.address() as AddressInfo).port, '127.0.0.1')
  publicClient.pause()
  publicClient.write('GET / HTTP/1.1\r\nHost: sales.tunnel.test\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  const socket = response.socket as Socket
  write(response)
  expect(socket.timeout).toBe(300_000)
  publicClient.resume()
  await once(response, 'finish')
  expect(socket.timeout).toBe(65_000)
  publicClient.destroy()
  server.closeAllConnections()
  server.close()
})
