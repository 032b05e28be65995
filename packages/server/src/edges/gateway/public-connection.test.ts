// A connection of a visitor that is slow, or leaves, or sends more than it should: over a real socket, with answers made here.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { BareResponse } from './bare-response.ts'
import { VisitorConnection } from './public-connection.ts'

const request = (more = '') => `GET / HTTP/1.1\r\nHost: sales.tunnel.test\r\n${more}\r\n`
/** More than the kernel takes for a visitor that does not read. */
const large = Buffer.alloc(16 * 1024 * 1024, 'callsign')

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Pair = { visitor: Socket; socket: Socket; connection: VisitorConnection; handedOver: Socket[] }

/** A visitor that does not read yet, and the connection at our end. */
async function meet(serve: (response: BareResponse, socket: Socket) => void): Promise<Pair> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const visitor = connect((server.address() as AddressInfo).port, '127.0.0.1')
  visitor.on('error', () => {})
  visitor.pause()
  const [socket] = (await once(server, 'connection')) as [Socket]
  const handedOver: Socket[] = []
  const connection = new VisitorConnection(
    socket,
    {
      visitorOf: () => ({ address: '192.0.2.7', protocol: 'http', port: 80, isTrusted: false, trusts: () => false }),
      findHandle: () => 'sales',
      mayStay: () => true,
      serve: (_handle, _head, response) => serve(response, socket),
    },
    (given) => handedOver.push(given),
    () => {},
  )
  ends.push(() => {
    visitor.destroy()
    socket.destroy()
    server.close()
  })
  return { visitor, socket, connection, handedOver }
}

function answer(response: BareResponse, body: Buffer): void {
  response.writeHead(200, 'OK', ['Content-Length', String(body.length)])
  response.end(body)
}

/** Reads until so many bytes have come. */
async function take(visitor: Socket, bytes: number): Promise<void> {
  visitor.resume()
  while (visitor.bytesRead < bytes) await once(visitor, 'data')
}

test('who does not take its answers gets no more of them, and all once it does', async () => {
  const unsent: number[] = []
  const { visitor } = await meet((response, socket) => {
    unsent.push(socket.writableLength)
    answer(response, large)
  })
  visitor.write(request().repeat(4))
  await take(visitor, 4 * large.length)
  expect(unsent).toEqual([0, 0, 0, 0])
})

test('nothing is served behind the last answer, however long that takes, and nothing handed over', async () => {
  let served = 0
  const { visitor, socket, handedOver } = await meet((response) => {
    served++
    answer(response, large)
  })
  visitor.write(request('Connection: close\r\n'))
  await once(socket, 'data')
  visitor.write(request())
  await once(socket, 'data')
  visitor.write('POST / HTTP/1.1\r\nHost: sales.tunnel.test\r\nContent-Length: 2\r\n\r\nhi')
  await once(socket, 'data')
  expect(served).toBe(1)
  expect(handedOver).toEqual([])
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await take(visitor, large.length)
  await closed
})

test('a visitor that is slow to take its answer is not idle, and is once it has it', async () => {
  const { visitor, socket, connection } = await meet((response) => answer(response, large))
  visitor.write(request())
  await once(socket, 'data')
  const laterMs = performance.now() + 200_000
  connection.check(laterMs)
  expect(socket.destroyed).toBe(false)
  await take(visitor, large.length)
  connection.check(laterMs + 65_500)
  expect(socket.destroyed).toBe(false)
  connection.check(laterMs + 66_500)
  expect(socket.destroyed).toBe(true)
})

test('a visitor that takes nothing at all is let go, and so is one that ends', async () => {
  for (const leave of [(socket: Socket) => socket.emit('timeout'), (_socket: Socket, visitor: Socket) => visitor.destroy()]) {
    const { visitor, socket } = await meet((response) => answer(response, large))
    visitor.write(request())
    await once(socket, 'data')
    expect(socket.timeout).toBe(300_000)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    leave(socket, visitor)
    await closed
  }
})

test('to be closed again and again is to be closed once', async () => {
  const { visitor, socket, connection } = await meet((response) => answer(response, large))
  visitor.write(request())
  await once(socket, 'data')
  const before = socket.listenerCount('finish')
  for (let i = 0; i < 20; i++) connection.closeIfIdle()
  expect(socket.listenerCount('finish')).toBe(before + 1)
})

test('the next request begins when who answered the one before is done with it', async () => {
  const small = Buffer.from('ok')
  let isAnswering = false
  const seen: boolean[] = []
  const { visitor } = await meet((response) => {
    seen.push(isAnswering)
    setImmediate(() => {
      isAnswering = true
      answer(response, small)
      isAnswering = false
    })
  })
  let text = ''
  visitor.on('data', (bytes) => {
    text += bytes
  })
  visitor.write(request().repeat(3))
  visitor.resume()
  while (text.split('ok').length < 4) await once(visitor, 'data')
  expect(seen).toEqual([false, false, false])
})

test('what is behind an answer that fills the socket for a moment is handed over once', async () => {
  const body = Buffer.alloc(128 * 1024, 'callsign')
  const { visitor, handedOver } = await meet((response) => {
    // In a turn of its own, as the answers of targets come.
    setImmediate(() => answer(response, body))
  })
  visitor.write(`${request()}POST / HTTP/1.1\r\nHost: sales.tunnel.test\r\nContent-Length: 2\r\n\r\nhi`)
  await take(visitor, body.length)
  await new Promise((resolve) => setImmediate(resolve))
  expect(handedOver.length).toBe(1)
})
