// Public connections: pipelined requests, the framing of responses, and clients that send much, leave early or do not read.
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { type Origin, sendRaw, startOrigin, visit } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
let listener: TunnelListener
let port: number
const host = 'sales.tunnel.localhost'
beforeAll(async () => {
  harness = await startHarness()
  origin = await startOrigin()
  await harness.createAgent('sales')
  listener = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('sales', origin.port)
  port = Number(new URL(harness.baseUrl).port)
})
afterAll(async () => {
  await listener.close(0)
  await harness.stop()
  await origin.stop()
})

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
const last = 'Connection: close\r\n'
const count = (text: string, part: string) => text.split(part).length - 1

test('one connection serves its requests in order, with either reader', async () => {
  const api = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const post = `POST /echo HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\n\r\nhello`
  const answers = await sendRaw(port, get('/slow?ms=100') + get('/one') + post + get('/two') + api + get('/three', last))
  expect(answers.match(/HTTP\/1\.1 \d+|slow|hello from \/\w+|hello(?! from)|"status"/g)).toEqual([
    ...['HTTP/1.1 200', 'slow', 'HTTP/1.1 200', 'hello from /one', 'HTTP/1.1 200', 'hello', 'HTTP/1.1 200', 'hello from /two'],
    ...['HTTP/1.1 200', '"status"', 'HTTP/1.1 200', 'hello from /three'],
  ])
})

test("the API shares a proxy's connection with tunnels", async () => {
  const answers = await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n${get('/after', last)}`)
  expect(answers.match(/HTTP\/1\.1 200|"status"|hello from \/\w+/g)).toEqual([
    'HTTP/1.1 200',
    '"status"',
    'HTTP/1.1 200',
    'hello from /after',
  ])
})

test('a request that arrives byte by byte is one request', async () => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  for (const byte of get('/crumbs', last)) await new Promise<void>((resolve) => socket.write(byte, () => resolve()))
  await new Promise((resolve) => socket.once('close', resolve))
  expect(text).toContain('hello from /crumbs')
})

test('hundreds of pipelined requests on one connection are all answered', async () => {
  const requests = Array.from({ length: 2000 }, (_, i) => get(`/many/${i}`, i === 1999 ? last : ''))
  const answers = await sendRaw(port, requests.join(''))
  expect(answers.match(/(?<=hello from \/many\/)\d+/g)?.map(Number)).toEqual(requests.map((_, i) => i))
})

test('an expectation that cannot be met closes the connection behind an open response', async () => {
  const answers = await sendRaw(port, get('/slow?ms=100') + get('/tea', 'Expect: tea\r\n'))
  expect(answers).toBe('')
  expect(await sendRaw(port, get('/tea', 'Expect: tea\r\n'))).toMatch(/^HTTP\/1\.1 417 /)
})

test('an upgrade behind an open response is served in its turn, as a request without one', async () => {
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const alone = await sendRaw(port, get('/socket', upgrade), (text) => text.includes('\r\n\r\n'))
  expect(alone).toMatch(/^HTTP\/1\.1 101 /)
  const answers = await sendRaw(port, get('/slow?ms=100') + get('/socket', upgrade), (text) => text.includes('hello'))
  expect(answers.match(/HTTP\/1\.1 \d+|slow|hello from \/\w+/g)).toEqual(['HTTP/1.1 200', 'slow', 'HTTP/1.1 200', 'hello from /socket'])
  const events = `GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${harness.organizationKey}\r\n${upgrade}\r\n`
  const own = await sendRaw(port, get('/slow?ms=100') + events, (text) => text.includes('text/event-stream'))
  expect(own.match(/HTTP\/1\.1 \d+|slow/g)).toEqual(['HTTP/1.1 200', 'slow', 'HTTP/1.1 200'])
})

test('a refusal keeps the connection', async () => {
  const nobody = get('/x').replace('sales', 'nobody')
  const answers = await sendRaw(port, nobody + nobody.replace('GET', 'HEAD') + get('/here', last))
  expect(answers.match(/HTTP\/1\.1 \d+|X-Tunnel-Error: \w+|no tunnel of this name|hello from/g)).toEqual([
    ...['HTTP/1.1 404', 'X-Tunnel-Error: tunnel_not_found', 'no tunnel of this name', 'HTTP/1.1 404', 'X-Tunnel-Error: tunnel_not_found'],
    ...['HTTP/1.1 200', 'hello from'],
  ])
})

test('a refusal of a request that Node has read keeps it too, unless more of it may come', async () => {
  const nobody = (start: string, more = '') => `${start} HTTP/1.1\r\nHost: nobody.tunnel.localhost\r\n${more}\r\n`
  const start = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  // A result known for a name is answered before Node has read the whole request.
  await visit(port, 'nobody.tunnel.localhost', '/known')
  const answers = await sendRaw(port, start + nobody('GET /x').repeat(2) + nobody('POST /x', 'Content-Length: 2\r\n'))
  expect(answers.match(/HTTP\/1\.1 \d+|Connection: \S+/g)).toEqual([
    ...['HTTP/1.1 200', 'Connection: keep-alive', 'HTTP/1.1 404', 'Connection: keep-alive'],
    ...['HTTP/1.1 404', 'Connection: keep-alive', 'HTTP/1.1 404', 'Connection: close'],
  ])
})

test('a client learns whether its connection stays open', async () => {
  const text = await sendRaw(port, get('/') + get('/', last))
  const [first = '', second = ''] = text.split(/(?=HTTP\/1\.1 200)/)
  expect(first).toMatch(/^Connection: keep-alive\r\nKeep-Alive: timeout=65\r$/m)
  expect(second).toMatch(/^Connection: close\r$/m)
  expect(second).not.toContain('Keep-Alive')
})

test.each([
  ['a length', '/headers', /\r\nContent-Length: 2\r\n[\s\S]*\r\n\r\nok$/],
  ['chunks', '/bytes?size=5', /\r\nTransfer-Encoding: chunked\r\n[\s\S]*\r\n\r\n5\r\ncalls\r\n0\r\n\r\n$/i],
  ['trailers', '/trailers', /\r\ntrailer: X-Sum\r\n[\s\S]*\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n$/i],
  ['nothing (204)', '/status?code=204', /^HTTP\/1\.1 204 No Content\r\n(?![\s\S]*transfer-encoding)[\s\S]*\r\n\r\n$/i],
  ['nothing (304)', '/status?code=304', /^HTTP\/1\.1 304 Not Modified\r\n(?![\s\S]*transfer-encoding)[\s\S]*\r\n\r\n$/i],
  [
    'hints before it',
    '/early',
    /^HTTP\/1\.1 103 Early Hints\r\nlink: [\s\S]*\r\n\r\nHTTP\/1\.1 102 Processing\r\n[\s\S]*HTTP\/1\.1 200 OK\r\n/i,
  ],
])('an answer with %s has exactly one end', async (_name, path, shape) => {
  const text = await sendRaw(port, get(path) + get('/behind', last))
  expect(count(text, 'hello from /behind')).toBe(1)
  expect(text.slice(0, text.lastIndexOf('HTTP/1.1 200'))).toMatch(shape)
})

test('HEAD has the head of GET and no body', async () => {
  const text = await sendRaw(port, get('/bytes?size=5000&length').replace('GET', 'HEAD') + get('/behind', last))
  expect(text).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*?content-length: 5000\r\n[\s\S]*?\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*hello from \/behind/,
  )
})

test('a client that disconnects ends its request, and so does a half-closed one', async () => {
  for (const leave of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.end()]) {
    const gone = new Promise<void>((resolve) => {
      origin.server.once('request', (request) => request.socket.once('close', () => resolve()))
    })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const seen = origin.seen.length
    socket.write(get('/hang'))
    await waitFor('the request at the target', () => origin.seen.length > seen)
    leave(socket)
    await gone
    socket.destroy()
  }
})

test('an incomplete answer is cut off in the middle of its chunks', async () => {
  const broken = await startOrigin((_request, response) => {
    response.write('half', () => setImmediate(() => response.destroy()))
  })
  const other = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('sales', broken.port)
  await listener.close()
  const text = await sendRaw(port, get('/'))
  expect(text).toMatch(/\r\n\r\n4\r\nhalf\r\n$/)
  listener = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('sales', origin.port)
  await other.close()
  await broken.stop()
})

test('a client that sends while it waits is not read from', async () => {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.write(get('/slow?ms=300') + get(`/${'x'.repeat(10_000)}`).repeat(2000))
  await waitFor('the first answer', () => text.includes('slow'))
  // 64 KB are here and more in the kernel, and the rest is still at the client.
  const left = socket.writableLength
  socket.destroy()
  expect(left).toBeGreaterThan(5_000_000)
})

test('a stopping server closes idle connections, and marks in-flight answers as the last', async () => {
  const other = await startHarness()
  await other.createAgent('sales')
  const client = new Callsign({ url: other.baseUrl, apiKey: other.organizationKey })
  const target = await client.tunnels.listen('sales', origin.port)
  const otherPort = Number(new URL(other.baseUrl).port)
  const open = async (bytes: string) => {
    const socket = connect(otherPort, '127.0.0.1')
    const seen = { text: '', isClosed: false }
    socket.on('data', (chunk) => {
      seen.text += chunk
    })
    socket.on('close', () => {
      seen.isClosed = true
    })
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    if (bytes !== '') socket.write(bytes)
    return seen
  }
  const silent = await open('')
  const idle = await open(get('/idle'))
  await waitFor('an idle connection', () => idle.text.includes('hello from /idle'))
  const busy = await open(get('/slow?ms=700'))
  await waitFor('a request under way', () => origin.seen.at(-1)?.url === '/slow?ms=700')
  await other.stop()
  await waitFor('the ends of all', () => silent.isClosed && idle.isClosed && busy.isClosed)
  expect(silent.text).toBe('')
  expect(busy.text).toMatch(/\r\nConnection: close\r\n[\s\S]*slow/)
  await target.close(0)
})

test('clients with many header names and large heads are served', async () => {
  const headers = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-many-${i}`, 'v'.repeat(100)]))
  expect((await visit(port, host, '/plain', { headers })).status).toBe(200)
  expect(origin.seen.at(-1)?.headers['x-many-99']).toBe('v'.repeat(100))
  expect((await visit(port, host, '/plain', { headers: { 'x-large': 'v'.repeat(17_000) } })).status).toBe(431)
})
