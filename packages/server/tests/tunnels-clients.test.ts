// The tunnel client. Covers every kind of target, restricted networks, several clients, and connections that are cut.
import { createServer, request as httpRequest } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  Callsign,
  type ListenOptions,
  type ReportedRequest,
  type TunnelChange,
  type TunnelListener,
  type TunnelTarget,
} from '../../sdk/src/index.ts'
import { createCertificate } from './harness/certificate.ts'
import { type Origin, startOrigin, visit } from './harness/origin.ts'
import { findFreePort } from './harness/peer-process.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
let port: number
const host = 'sales.tunnel.localhost'
const cleanups: (() => unknown)[] = []
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_TUNNEL_PING_SECONDS: '1' })
  origin = await startOrigin()
  await harness.createAgent('sales')
  port = Number(new URL(harness.baseUrl).port)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})
afterAll(async () => {
  await harness.stop()
  await origin.stop()
})

async function listen(target: TunnelTarget, options: ListenOptions = {}, url = harness.baseUrl): Promise<TunnelListener> {
  const listener = await new Callsign({ url, apiKey: harness.organizationKey }).tunnels.listen('sales', target, options)
  cleanups.push(() => listener.close(0))
  return listener
}
const body = async (path: string, options = {}) => (await visit(port, host, path, options)).body.toString()

/** A TCP proxy to the server that can be cut, held or stopped. */
async function startWire() {
  const sockets = new Set<Socket>()
  let isHeld = false
  let heldBytes = 0
  const server = createNetServer((socket) => {
    const onward = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (!isHeld) to.write(bytes)
        else if (from === onward) heldBytes += bytes.length
      })
      from.on('close', () => to.destroy())
      from.on('error', () => {})
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const hold = () => {
    isHeld = true
  }
  /** Bytes that the server has sent since the link was held. */
  const held = () => heldBytes
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, hold, held }
}

test('a Node handler serves without a port', async () => {
  await listen((request, response) => {
    response.writeHead(201, { 'x-from': 'handler' })
    request.pipe(response)
  })
  const answer = await visit(port, host, '/', { method: 'POST', body: 'to the handler' })
  expect([answer.status, answer.headers['x-from'], answer.body.toString()]).toEqual([201, 'handler', 'to the handler'])
  expect((await visit(port, host, '/', { method: 'POST', body: Buffer.alloc(3_000_000, 'z') })).body.length).toBe(3_000_000)
})

test('a fetch handler gets web Requests, streams its answer, and sets cookies one by one', async () => {
  const errors: unknown[] = []
  const handler: TunnelTarget = {
    fetch: async (request) => {
      const url = new URL(request.url)
      if (url.pathname === '/fail') throw new Error('on purpose')
      const headers = new Headers({ 'content-type': 'text/plain' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response(`${request.method} ${request.url} ${await request.text()}`, { status: 202, headers })
    },
  }
  await listen(handler, { onError: (error) => errors.push(error) })
  const answer = await visit(port, host, '/path?q=1', { method: 'POST', body: 'body' })
  expect(answer.status).toBe(202)
  expect(answer.body.toString()).toBe(`POST http://${host}/path?q=1 body`)
  expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  expect((await visit(port, host, '*', { method: 'OPTIONS' })).body.toString()).toBe(`OPTIONS http://${host}/ `)
  expect((await visit(port, host, '/fail')).status).toBe(500)
  expect(errors).toEqual([new Error('on purpose')])
})

test('Host is the target’s own by default', async () => {
  const hostSeen = async (options: ListenOptions) => {
    const listener = await listen(origin.port, options)
    await body('/plain')
    await listener.close(0)
    return origin.seen.at(-1)?.headers.host
  }
  expect(await hostSeen({})).toBe(`localhost:${origin.port}`)
  expect(await hostSeen({ hostHeader: 'preserve' })).toBe(host)
  expect(await hostSeen({ hostHeader: 'app.test:1234' })).toBe('app.test:1234')
})

test('targets are whole servers on this machine by default', async () => {
  await expect(listen('http://192.0.2.1:80')).rejects.toThrow(/not on this machine/)
  await expect(listen('http://localhost:3000/path')).rejects.toThrow(/without a path/)
  await expect(listen('ftp://localhost')).rejects.toThrow(TypeError)
  await expect(listen('not a target')).rejects.toThrow(TypeError)
  await listen(`http://127.0.0.1:${origin.port}`)
  expect(await body('/x')).toBe('hello from /x')
})

test('the client connects through an HTTP proxy by CONNECT', async () => {
  const asked: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request, socket: Socket, head: Buffer) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => proxy.close())
  await listen(origin.port, { proxy: `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`, connections: 1 })
  expect(await body('/proxied')).toBe('hello from /proxied')
  expect(asked).toEqual([`127.0.0.1:${port} Basic ${btoa('user:pass')}`])
})

test('the client connects as a WebSocket where nothing else passes', async () => {
  // A proxy that knows WebSockets and no other Upgrade.
  const strict = createServer((request, response) => {
    const onward = httpRequest(
      {
        port,
        host: '127.0.0.1',
        path: request.url,
        method: request.method,
        headers: { ...request.headers, connection: 'close', upgrade: '' },
      },
      (answer) => {
        response.writeHead(answer.statusCode as number, answer.headers)
        answer.pipe(response)
      },
    )
    request.pipe(onward)
  })
  strict.on('upgrade', (request, socket: Socket, head: Buffer) => {
    if (request.headers.upgrade !== 'websocket') return void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    const onward = connect(port, '127.0.0.1', () => {
      const lines = request.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${request.rawHeaders[i + 1]}`] : []))
      onward.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    socket.on('error', () => onward.destroy())
    onward.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => strict.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => strict.close())
  const changes: TunnelChange[] = []
  await listen(
    origin.port,
    { connections: 1, onChange: (change) => changes.push(change) },
    `http://127.0.0.1:${(strict.address() as AddressInfo).port}`,
  )
  expect(changes).toMatchObject([{ state: 'connected', transport: 'web-socket' }])
  const upload = Buffer.alloc(2_000_000, 'w')
  expect((await visit(port, host, '/echo', { method: 'POST', body: upload })).body.equals(upload)).toBe(true)
})

test('requests are reported to a client on request', async () => {
  const reports: ReportedRequest[] = []
  await listen(origin.port, { onRequest: (request) => reports.push(request) })
  await visit(port, host, '/echo?x=1', { method: 'POST', body: '12345' })
  await waitFor('the report', () => reports.length === 1)
  expect(reports[0]).toMatchObject({
    method: 'POST',
    path: '/echo?x=1',
    status: 200,
    error: null,
    request_bytes: 5,
    response_bytes: 5,
    remote_address: '127.0.0.1',
  })
})

test('a client that closes right after a request still gets its report', async () => {
  const reports: ReportedRequest[] = []
  const isOver = Promise.withResolvers<void>()
  const closing = await startOrigin((request, response) => {
    request.socket.once('close', () => isOver.resolve())
    response.setHeader('connection', 'close').end('bye')
  })
  cleanups.push(closing.stop)
  const listener = await listen(closing.port, { onRequest: (request) => reports.push(request) })
  await visit(port, host, '/last')
  // The request leaves nothing open that closing would wait for. Reports are sent 50 ms later.
  await isOver.promise
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
  await listener.close()
  expect(reports).toMatchObject([{ path: '/last', status: 200 }])
})

test('two clients share the load, and when one disconnects, requests without effect go to the other', async () => {
  const other = await startOrigin((_request, response) => void response.end('the other'))
  cleanups.push(other.stop)
  const first = await listen(origin.port, { connections: 1 })
  await listen(other.port, { connections: 1 })
  // Both are busy, so each takes one.
  const answers = await Promise.all(Array.from({ length: 8 }, () => body('/slow?ms=50')))
  expect(new Set(answers)).toEqual(new Set(['slow', 'the other']))
  const hanging = visit(port, host, '/hang').then(({ body: text }) => text.toString())
  const posts = visit(port, host, '/hang', { method: 'POST' })
  await waitFor('both to be under way', () => origin.seen.filter(({ url }) => url === '/hang').length >= 1)
  await first.close(0)
  expect(await hanging).toBe('the other')
  const post = await posts
  expect([200, 502]).toContain(post.status)
})

test('a broken connection is restored', async () => {
  const wire = await startWire()
  const changes: string[] = []
  const listener = await listen(origin.port, { connections: 1, onChange: ({ state }) => changes.push(state) }, wire.url)
  for (let i = 0; i < 3; i++) {
    wire.cut()
    await waitFor('it to be gone', () => changes.filter((state) => state === 'reconnecting').length > i)
    await waitFor('it to be back', () => listener.connected === 1)
    await waitFor('an answer', async () => (await body('/back')) === 'hello from /back')
  }
})

test('both sides detect a silent connection', async () => {
  const wire = await startWire()
  const changes: TunnelChange[] = []
  await listen(origin.port, { connections: 1, onChange: (change) => changes.push(change) }, wire.url)
  const nowMs = performance.now.bind(performance)
  let aheadMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs() + aheadMs)
  cleanups.push(() => clock.mockRestore())
  wire.hold()
  // The gateway pings after a second and disconnects ten seconds later. The public client gets an error.
  aheadMs += 1000
  await waitFor('the question', () => wire.held() > 0)
  const answer = visit(port, host, '/plain')
  aheadMs += 10_000
  expect((await answer).headers['x-tunnel-error']).toMatch(/tunnel_(lost|offline)/)
  await waitFor('503 from then on', async () => (await visit(port, host, '/')).headers['x-tunnel-error'] === 'tunnel_offline')
})

test('closing lets requests in flight end', async () => {
  const listener = await listen(origin.port)
  const slow = visit(port, host, '/slow?ms=300')
  await waitFor('it to be under way', () => origin.seen.at(-1)?.url === '/slow?ms=300')
  await listener.close()
  expect((await slow).body.toString()).toBe('slow')
  expect((await visit(port, host, '/')).status).toBe(503)
})

test("a target's self-signed certificate is reported to its owner, and accepted on request", async () => {
  const certificate = createCertificate({ commonName: 'development', dnsNames: ['localhost'] })
  const server = createHttpsServer({ cert: certificate.cert, key: certificate.key }, (_request, response) => void response.end('over TLS'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  const target = `https://localhost:${(server.address() as AddressInfo).port}`
  const changes: TunnelChange[] = []
  const strict = await listen(target, { connections: 1, onChange: (change) => changes.push(change) })
  for (let i = 0; i < 2; i++) expect((await visit(port, host, '/')).headers['x-tunnel-error']).toBe('target_unreachable')
  expect(changes.filter(({ state }) => state === 'target-unreachable')).toMatchObject([
    { target, reason: expect.stringMatching(/^self-signed certificate.*; connect ECONNREFUSED ::1/) },
  ])
  await strict.close()
  await listen(target, { verifyTarget: false })
  expect(await body('/')).toBe('over TLS')
})

test('an unreachable target is reported once, and again after it was reachable', async () => {
  const changes: TunnelChange[] = []
  const targetPort = await findFreePort()
  const first = await startOrigin(undefined, targetPort)
  await listen(targetPort, { onChange: (change) => changes.push(change) })
  const told = () => changes.filter(({ state }) => state === 'target-unreachable').length
  const visits = async (status: number) => {
    for (let i = 0; i < 3; i++) expect((await visit(port, host, '/')).status).toBe(status)
  }
  await visits(200)
  await first.stop()
  await visits(502)
  expect(told()).toBe(1)
  const second = await startOrigin(undefined, targetPort)
  await visits(200)
  await second.stop()
  await visits(502)
  expect(told()).toBe(2)
})
