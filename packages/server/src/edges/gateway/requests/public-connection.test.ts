// Public connections that are slow, close early or send too much, over a real socket and with responses written by the test.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { BareResponse } from '../responses/bare-response.ts'
import { PublicConnection } from './public-connection.ts'

const request = (more = '') => `GET / HTTP/1.1\r\nHost: sales.tunnel.test\r\n${more}\r\n`
/** More than the kernel buffers for a client that does not read. */
const large = Buffer.alloc(16 * 1024 * 1024, 'callsign')

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Pair = { publicClient: Socket; socket: Socket; connection: PublicConnection; handedOver: Socket[] }

/** A public client that does not read yet, and the server's end of its connection. */
async function openConnection(serve: (response: BareResponse, socket: Socket) => void): Promise<Pair> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const publicClient = connect((server.address() as AddressInfo).port, '127.0.0.1')
  publicClient.on('error', () => {})
  publicClient.pause()
  const [socket] = (await once(server, 'connection')) as [Socket]
  const handedOver: Socket[] = []
  const connection = new PublicConnection(
    socket,
    {
      publicClientOf: () => ({ address: '192.0.2.7', protocol: 'http', port: 80, isTrusted: false, trusts: () => false }),
      findHandle: () => 'sales',
      mayStay: () => true,
      serve: (_handle, _head, response) => serve(response, socket),
    },
    (given) => handedOver.push(given),
    () => {},
  )
  ends.push(() => {
    publicClient.destroy()
    socket.destroy()
    server.close()
  })
  return { publicClient, socket, connection, handedOver }
}

function answer(response: BareResponse, body: Buffer): void {
  response.writeHead(200, 'OK', ['Content-Length', String(body.length)])
  response.end(body)
}

/** Reads until this many bytes have arrived. */
async function take(publicClient: Socket, bytes: number): Promise<void> {
  publicClient.resume()
  while (publicClient.bytesRead < bytes) await once(publicClient, 'data')
}

test('a client that does not read gets no further responses until it reads', async () => {
  const unsent: number[] = []
  const { publicClient } = await openConnection((response, socket) => {
    unsent.push(socket.writableLength)
    answer(response, large)
  })
  publicClient.write(request().repeat(4))
  await take(publicClient, 4 * large.length)
  expect(unsent).toEqual([0, 0, 0, 0])
})

test('nothing is served behind the last answer, however long that takes, and nothing handed over', async () => {
  let served = 0
  const { publicClient, socket, handedOver } = await openConnection((response) => {
    served++
    answer(response, large)
  })
  publicClient.write(request('Connection: close\r\n'))
  await once(socket, 'data')
  publicClient.write(request())
  await once(socket, 'data')
  publicClient.write('POST / HTTP/1.1\r\nHost: sales.tunnel.test\r\nContent-Length: 2\r\n\r\nhi')
  await once(socket, 'data')
  expect(served).toBe(1)
  expect(handedOver).toEqual([])
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await take(publicClient, large.length)
  await closed
})

test('a slow reader is idle only after it has read its response', async () => {
  const { publicClient, socket, connection } = await openConnection((response) => answer(response, large))
  publicClient.write(request())
  await once(socket, 'data')
  const laterMs = performance.now() + 200_000
  connection.check(laterMs)
  expect(socket.destroyed).toBe(false)
  await take(publicClient, large.length)
  connection.check(laterMs + 65_500)
  expect(socket.destroyed).toBe(false)
  connection.check(laterMs + 66_500)
  expect(socket.destroyed).toBe(true)
})

test('a client that reads nothing is disconnected, and so is one that ends its side', async () => {
  for (const leave of [(socket: Socket) => socket.emit('timeout'), (_socket: Socket, publicClient: Socket) => publicClient.destroy()]) {
    const { publicClient, socket } = await openConnection((response) => answer(response, large))
    publicClient.write(request())
    await once(socket, 'data')
    expect(socket.timeout).toBe(300_000)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    leave(socket, publicClient)
    await closed
  }
})

test('to be closed again and again is to be closed once', async () => {
  const { publicClient, socket, connection } = await openConnection((response) => answer(response, large))
  publicClient.write(request())
  await once(socket, 'data')
  const before = socket.listenerCount('finish')
  for (let i = 0; i < 20; i++) connection.closeIfIdle()
  expect(socket.listenerCount('finish')).toBe(before + 1)
})

test('the next request starts when the response before it has been completed', async () => {
  const small = Buffer.from('ok')
  let isAnswering = false
  const seen: boolean[] = []
  const { publicClient } = await openConnection((response) => {
    seen.push(isAnswering)
    setImmediate(() => {
      isAnswering = true
      answer(response, small)
      isAnswering = false
    })
  })
  let text = ''
  publicClient.on('data', (bytes) => {
    text += bytes
  })
  publicClient.write(request().repeat(3))
  publicClient.resume()
  while (text.split('ok').length < 4) await once(publicClient, 'data')
  expect(seen).toEqual([false, false, false])
})

test('bytes after a response that fills the socket are handed over once', async () => {
  const body = Buffer.alloc(128 * 1024, 'callsign')
  const { publicClient, handedOver } = await openConnection((response) => {
    // In a task of its own, as responses of targets arrive.
    setImmediate(() => answer(response, body))
  })
  publicClient.write(`${request()}POST / HTTP/1.1\r\nHost: sales.tunnel.test\r\nContent-Length: 2\r\n\r\nhi`)
  await take(publicClient, body.length)
  await new Promise((resolve) => setImmediate(resolve))
  expect(handedOver.length).toBe(1)
})

test('a method that Node does not know waits for its head, and is handed over as POST with the rest unchanged', async () => {
  const { publicClient, socket, handedOver } = await openConnection(() => {})
  const rest = ' / HTTP/1.1\r\nHost: sales.tunnel.test\r\nContent-Length: 2\r\n\r\nhiGET /next'
  const seen: string[] = []
  socket.on('data', (bytes) => seen.push(String(bytes)))
  for (const piece of ['BAN ', rest.slice(1, 40)]) {
    publicClient.write(piece)
    await once(socket, 'data')
    expect(handedOver).toEqual([])
  }
  publicClient.write(rest.slice(40))
  while (seen.length < 4) await new Promise((resolve) => setImmediate(resolve))
  expect(handedOver).toEqual([socket])
  expect(seen.at(-1)).toBe(`POST${rest}`)
})
