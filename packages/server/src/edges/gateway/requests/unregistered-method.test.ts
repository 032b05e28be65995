// Methods that Node's parser does not know: when the parser is shown another in their place, over real sockets and byte by byte.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { expectCost } from '../../../../../mail/tests/harness/cost.ts'
import { createUnregisteredMethods, readUnregisteredMethod, type UnregisteredMethods } from './unregistered-method.ts'

const isTunnel = (name: string) => name.startsWith('sales.')
const host = 'Host: sales.tunnel.test\r\n'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Pair = { publicClient: Socket; socket: Socket; methods: UnregisteredMethods; handedOver: Socket[] }

/** A public client, and the server's end of its connection. */
async function openConnection(): Promise<Pair> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const publicClient = connect((server.address() as AddressInfo).port, '127.0.0.1')
  publicClient.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const handedOver: Socket[] = []
  const methods = createUnregisteredMethods(isTunnel)
  methods.onConnection(socket, (connection) => handedOver.push(connection))
  ends.push(() => {
    publicClient.destroy()
    socket.destroy()
    server.close()
  })
  return { publicClient, socket, methods, handedOver }
}

test('an unknown method of a request to a tunnel is found, whole or not', () => {
  const read = (text: string) => readUnregisteredMethod(text, isTunnel)
  const length = 'Content-Length: 1\r\n'
  expect(read(`BAN / HTTP/1.1\r\n${host}${length}\r\nx`)).toEqual({ method: 'BAN', isWhole: true })
  expect(read(`BAN / HTTP/1.1\r\n${host}`)).toEqual({ method: 'BAN', isWhole: false })
  for (const method of ['get', 'TRACES', 'untrace', 'connected'])
    expect(read(`${method} / HTTP/1.1\r\n${host}\r\n`)).toEqual({ method, isWhole: true })
  for (const text of [
    `GET / HTTP/1.1\r\n${host}\r\n`,
    `POST / HTTP/1.1\r\n${host}${length}\r\nx`,
    `trace / HTTP/1.1\r\n${host}${length}\r\nx`,
    `Connect / HTTP/1.1\r\n${host}\r\n`,
    `BAN / HTTP/1.0\r\n${host}${length}\r\nx`,
    `BAN http://sales.tunnel.test/ HTTP/1.1\r\n${host}${length}\r\nx`,
    `BAN / HTTP/1.1\r\nHost: api.test\r\n${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${host}${host}${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${host}Content-Length : 1\r\n\r\nx`,
    `BAN / HTTP/1.1\r\n${host}X: 1\r\n Host: api.test\r\n\r\n`,
    `BAN / HTTP/1.1\r\n${host}X: 1\nY: 2\r\n\r\n`,
    `BAN / HTTP/1.1\r\n${host}X: 1\rY: 2\r\n\r\n`,
    `BAN / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`,
    `BAN /#a HTTP/1.1\r\n${host}\r\n`,
    `BAN /\u00e9 HTTP/1.1\r\n${host}\r\n`,
    `BAN  / HTTP/1.1\r\n${host}\r\n`,
    `\r\nBAN / HTTP/1.1\r\n${host}\r\n`,
    `BAN / HTTP/1.1\r\n${host}X: ${'x'.repeat(17_000)}`,
    `${'B'.repeat(33)} / HTTP/1.1\r\n${host}\r\n`,
    'BAN',
  ])
    expect(read(text), text.slice(0, 60)).toBeNull()
})

test('a method that Node does not know waits for its head, and is handed over as POST with the rest unchanged', async () => {
  const { publicClient, socket, handedOver } = await openConnection()
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

test('any other connection is handed over with its first bytes unchanged', async () => {
  const { publicClient, socket, handedOver } = await openConnection()
  const seen: string[] = []
  publicClient.write('G')
  socket.on('data', (bytes) => seen.push(String(bytes)))
  // Once as the first look, and once for the next reader.
  while (seen.length < 2) await once(socket, 'data')
  expect(handedOver).toEqual([socket])
  publicClient.write('ET / HTTP/1.1\r\n')
  while (seen.join('').length < 17) await once(socket, 'data')
  expect(seen.join('')).toBe('GGET / HTTP/1.1\r\n')
})

test('a stopping server closes silent connections at once, and those with half a head in the end', async () => {
  const silent = await openConnection()
  silent.methods.closeIdle()
  expect(silent.socket.destroyed).toBe(true)
  const half = await openConnection()
  half.publicClient.write('BAN / HTTP/1.1\r\n')
  await once(half.socket, 'data')
  half.methods.closeIdle()
  expect(half.socket.destroyed).toBe(false)
  half.methods.closeAll()
  expect(half.socket.destroyed).toBe(true)
})

test('a client that ends its side before its head is whole is disconnected', async () => {
  const { publicClient, socket, handedOver } = await openConnection()
  const closed = once(socket, 'close')
  publicClient.end('BAN / HTTP/1.1\r\n')
  await closed
  expect(handedOver).toEqual([])
})

test('a long run of blanks costs no time of its own', async () => {
  // Retrying from each blank would take seconds.
  await expectCost(() => {
    for (let i = 0; i < 20; i++) readUnregisteredMethod(`BAN / HTTP/1.1\r\n${host}X: a${' '.repeat(16_000)}\u0001\r\n\r\n`, isTunnel)
  }, 500)
})
