// Hostile public clients, targets and tunnel clients. Other parties are unaffected, waits are bounded, and memory does not grow.

import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { frameTypes } from '../../contract/src/tunnel/frames.ts'
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
  harness = await startHarness({ CALLSIGN_TUNNEL_ANSWER_SECONDS: '5' })
  origin = await startOrigin()
  for (const handle of ['sales', 'raw_one']) await harness.createAgent(handle)
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  listener = await client.tunnels.listen('sales', origin.port)
  port = Number(new URL(harness.baseUrl).port)
})
afterAll(async () => {
  await listener.close(0)
  await harness.stop()
  await origin.stop()
})

describe('ambiguous requests are refused, and the target never sees them', () => {
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
  test.each([
    ['two lengths', `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello${hidden}`],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'chunks and a length',
      `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['an unknown coding', `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a coding before chunked', `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a space before the colon', `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a bare line feed', `GET / HTTP/1.1\nHost: ${host}\n\n`],
    ['a negative length', `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1\r\n\r\n`],
    ['two Hosts', `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: other\r\n\r\n`],
    ['an absolute target at another host', `GET http://elsewhere/hidden HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a method that echoes', `TRACE / HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['CONNECT', `CONNECT ${host}:80 HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a NUL in a header', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\0b\r\n\r\n`],
    [
      'an upgrade with a body',
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello`,
    ],
    ['a folded header', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\r\n b\r\n\r\n`],
    ['chunks in HTTP/1.0', `POST / HTTP/1.0\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    // Node refuses bytes behind the last request of a connection, so that only this row reaches the check.
    ['chunks in HTTP/1.0 and nothing behind them', `POST / HTTP/1.0\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a Host that leads elsewhere', `GET /hidden HTTP/1.1\r\nHost: ${host}:x@evil.example\r\n\r\n`],
    ['a Host with a port that is none', `GET /hidden HTTP/1.1\r\nHost: ${host}:65536\r\n\r\n`],
  ])('%s', async (_name, bytes) => {
    const before = origin.seen.length
    const answer = await sendRaw(port, bytes, (text) => text.includes('\r\n\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|501) /)
    expect(origin.seen.slice(before)).toEqual([])
  })

  test('an upgrade to anything but a WebSocket is ignored', async () => {
    const bytes = `GET /plain HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n`
    expect(await sendRaw(port, bytes, (text) => text.includes('hello'))).toMatch(/^HTTP\/1\.1 200 /)
    expect(origin.seen.at(-1)?.headers).not.toHaveProperty('upgrade')
    expect(origin.seen.at(-1)?.headers).not.toHaveProperty('http2-settings')
  })

  test("a client's claims about itself and proxies are replaced, for any names in Connection", async () => {
    await visit(port, host, '/plain', {
      headers: {
        'X-Forwarded-For': '6.6.6.6',
        X_Forwarded_For: '6.6.6.6',
        'x-forwarded-proto': 'https',
        forwarded: 'for=6.6.6.6',
        'x-real-ip': '6.6.6.6',
        'proxy-authorization': 'secret',
        connection: 'close, x-forwarded-for, x-mine',
        'x-mine': '1',
      },
    })
    const { headers, raw } = origin.seen.at(-1) as Origin['seen'][number]
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', 'x-forwarded-proto': 'http' })
    expect(raw.join(' ')).not.toMatch(/6\.6\.6\.6|x-mine|secret/i)
    expect(headers.forwarded).toBe(`for=127.0.0.1;host="${host}";proto=http`)
  })

  test.each(['x-mine', 'X-Mine', 'close,x-mine'])('headers are not forwarded when Connection names them as %s', async (connection) => {
    await sendRaw(port, `GET /plain HTTP/1.1\r\nHost: ${host}\r\nConnection: ${connection}\r\nX-Mine: 1\r\n\r\n`, (text) =>
      text.includes('hello'),
    )
    expect(origin.seen.at(-1)?.headers).not.toHaveProperty('x-mine')
  })

  test('other proxy headers, and headers that some servers read as framing, are not forwarded either', async () => {
    const spoofed = { 'x-forwarded-prefix': '/x', X_Forwarded_By: 'x', 'true-client-ip': '6.6.6.6', proxy: 'http://x', Content_Length: '5' }
    await visit(port, host, '/plain', { headers: { ...spoofed, 'x-plain': '1' } })
    const names = origin.seen.at(-1)?.raw.map((one) => one.toLowerCase())
    for (const name of Object.keys(spoofed)) expect(names).not.toContain(name.toLowerCase())
    expect(names).toContain('x-plain')
  })

  test('trailers do not carry any of them either', async () => {
    const trailers = { 'X-Sum': '42', 'X-Forwarded-For': '6.6.6.6', Host: 'x', Authorization: 'x', Connection: 'x', Forwarded: 'x' }
    expect((await visit(port, host, '/echo', { method: 'POST', body: 'x', trailers })).trailers).toEqual({ 'x-sum': '42' })
  })

  test('a request that loops ends', async () => {
    const via = Array.from({ length: 4 }, () => '1.1 callsign').join(', ')
    expect((await visit(port, host, '/plain', { headers: { via } })).status).toBe(508)
  })
})

describe('targets', () => {
  /** A target that sends these bytes to every connection as soon as it is asked. */
  async function through(answer: string, ask = 'GET / HTTP/1.1', more = 'Connection: close'): Promise<{ text: string; server: Server }> {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(answer, 'latin1'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
    const other = await client.tunnels.listen('raw_one', (server.address() as AddressInfo).port, { connections: 1 })
    try {
      const request = `${ask}\r\nHost: raw-one.tunnel.localhost\r\n${more}\r\n\r\n`
      return { text: await sendRaw(port, request), server }
    } finally {
      await other.close(0)
      server.close()
    }
  }

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a control character in a header', 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'],
    ['a bare line feed', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a switch that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
    ['headers without an end', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
  ])('%s is 502', async (_name, answer) => {
    const { text } = await through(answer)
    expect(text).toMatch(/^HTTP\/1\.1 502 /)
    expect(text).toContain('X-Tunnel-Error: bad_answer')
  })

  test('a second answer to one request is discarded', async () => {
    const one = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
    expect((await through(`${one}ok${one}no`)).text).not.toContain('no')
  })

  const chunked = 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'
  test.each([
    ['a length', 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok', 'GET / HTTP/1.1', 'Connection: close'],
    ['no body', 'HTTP/1.1 204 No Content\r\nTrailer: X-Sum\r\n\r\n', 'GET / HTTP/1.1', 'Connection: close'],
    ['chunks, for a client without them', chunked, 'GET / HTTP/1.0', 'Connection: close'],
    ['chunks that nobody asked for', chunked, 'HEAD / HTTP/1.1', 'Connection: close'],
    [
      'a refusal to upgrade',
      'HTTP/1.1 400 No\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nno',
      'GET / HTTP/1.1',
      'Connection: Upgrade\r\nUpgrade: websocket',
    ],
  ])('trailers announced with %s are not announced to the public client', async (_name, answer, ask, more) => {
    const { text } = await through(answer, ask, more)
    expect(text).toMatch(/^HTTP\/1\.1 (200|204|400) /)
    expect(text).not.toMatch(/trailer/i)
    expect((await visit(port, host, '/plain')).status).toBe(200)
  })

  test('a silent target is 504, and one that is not running 502', async () => {
    expect((await visit(port, host, '/hang')).headers['x-tunnel-error']).toBe('target_timeout')
    const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
    const other = await client.tunnels.listen('raw_one', 1)
    expect((await visit(port, 'raw-one.tunnel.localhost', '/')).headers['x-tunnel-error']).toBe('target_unreachable')
    await other.close(0)
  })
})

test('a client that stops in the middle ends its request at the target, and hundreds of them do not end the tunnel', async () => {
  let gone = 0
  origin.server.on('request', (_request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) gone++
    })
  })
  const request = `GET /hang HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const before = origin.seen.length
  const publicClients = Array.from({ length: 300 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(request)
    return socket
  })
  await waitFor('them at the target', () => origin.seen.length > before + 200)
  for (const socket of publicClients) socket.destroy()
  await waitFor('the target to hear of it', () => gone > 200)
  expect((await visit(port, host, '/plain')).status).toBe(200)
  expect(listener.connected).toBe(2)
})

test('a client that does not read holds one window, and does not affect others', async () => {
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(`GET /bytes?size=50000000 HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    return socket
  })
  await waitFor('all of them at the target', () => origin.seen.filter(({ url }) => url === '/bytes?size=50000000').length === 20)
  for (let i = 0; i < 20; i++) expect((await visit(port, host, '/plain')).status).toBe(200)
  for (const socket of sockets) socket.destroy()
})

describe('a client that breaks the protocol affects only itself', () => {
  function frameOf(type: number, stream: number, payload: Buffer): Buffer {
    const header = Buffer.alloc(9)
    header.writeUInt32BE(payload.length)
    header[4] = type
    header.writeUInt32BE(stream, 5)
    return Buffer.concat([header, payload])
  }

  /** A client made by hand: `onOpen` gets the number of each stream and a way to send frames. */
  async function connectRaw(onOpen: (stream: number, send: Send) => void): Promise<{ socket: Socket; send: Send }> {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const send: Send = (type, stream, payload) => socket.write(frameOf(type, stream, payload))
    const head = `GET /api/v1/tunnels/raw_one/connect HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${harness.organizationKey}\r\n`
    socket.write(`${head}Connection: Upgrade\r\nUpgrade: callsign-tunnel/1\r\n\r\n`)
    let kept = Buffer.alloc(0)
    let isUp = false
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        kept = Buffer.concat([kept, chunk])
        if (!isUp) {
          const end = kept.indexOf('\r\n\r\n')
          if (end < 0) return
          isUp = true
          kept = kept.subarray(end + 4)
          send(frameTypes.hello, 0, Buffer.from('{"instance":"raw","host":null,"window":262144}'))
        }
        while (kept.length >= 9 && kept.length >= 9 + kept.readUInt32BE(0)) {
          const [type, stream] = [kept[4], kept.readUInt32BE(5)]
          kept = kept.subarray(9 + kept.readUInt32BE(0))
          if (type === frameTypes.hello) resolve()
          if (type === frameTypes.open) onOpen(stream, send)
        }
      })
    })
    return { socket, send }
  }

  type Send = (type: number, stream: number, payload: Buffer) => boolean
  const rawHost = 'raw-one.tunnel.localhost'

  test('a client that connects repeatedly gets at most the connections of a tunnel', async () => {
    const head = `GET /api/v1/tunnels/raw_one/connect HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${harness.organizationKey}\r\n`
    const sockets: Socket[] = []
    const answers = await Promise.all(
      Array.from({ length: 80 }, () => {
        const socket = connect(port, '127.0.0.1')
        sockets.push(socket)
        socket.on('error', () => {})
        socket.write(`${head}Connection: Upgrade\r\nUpgrade: callsign-tunnel/1\r\n\r\n`)
        return new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('latin1', 9, 12))))
      }),
    )
    expect(answers.filter((status) => status === '101').length).toBe(64)
    expect(answers.filter((status) => status === '429').length).toBe(16)
    for (const socket of sockets) socket.destroy()
    // Places are free again after the clients have disconnected.
    await waitFor('a place', async () => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`${head}Connection: Upgrade\r\nUpgrade: callsign-tunnel/1\r\n\r\n`)
      const status = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('latin1', 9, 12))))
      socket.destroy()
      return status === '101'
    })
  })

  test('a client that sends requests and never reads is disconnected', async () => {
    const { socket } = await connectRaw(() => {})
    socket.pause()
    const ping = Buffer.from([0, 0, 0, 8, frameTypes.ping, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    const pings = Buffer.concat(Array.from({ length: 8000 }, () => ping))
    const ask = (error?: Error | null) => {
      if (!error) socket.write(pings, ask)
    }
    ask()
    await waitFor('the gateway to let go', () => harness.logLines().some((line) => line.includes('"reason":"unread"')))
    socket.destroy()
  })

  test('a refused upgrade is sent no faster than its client reads', async () => {
    let sent = 0
    const { socket } = await connectRaw((stream, send) => {
      const block = Buffer.alloc(64 * 1024)
      send(frameTypes.data, stream, Buffer.from('HTTP/1.1 400 No\r\n\r\n'))
      const go = () => {
        while (sent < 100_000_000 && !socket.destroyed) {
          sent += block.length
          if (!send(frameTypes.data, stream, block)) return
        }
      }
      socket.on('drain', go)
      go()
    })
    const publicClient = connect(port, '127.0.0.1')
    publicClient.on('error', () => {})
    publicClient.pause()
    publicClient.write(`GET / HTTP/1.1\r\nHost: ${rawHost}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    // It ignores the window, so it is disconnected once it has sent more than one.
    await waitFor('the end of the client', () => socket.destroyed || socket.readableEnded || sent >= 100_000_000)
    expect(sent).toBeLessThan(100_000_000)
    publicClient.destroy()
    socket.destroy()
  })

  test('chunks for a client that does not read arrive whole when it does', async () => {
    const chunkCount = 60_000
    // Made before the request, because the gateway in this process waits at most 5 seconds for the head.
    const chunks = Buffer.concat(Array.from({ length: chunkCount }, (_, i) => frameOf(frameTypes.data, 1, Buffer.from([65 + (i % 26)]))))
    const { socket } = await connectRaw((stream, send) => {
      send(frameTypes.data, stream, Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${chunkCount + 150_000}\r\n\r\n`))
      send(frameTypes.data, stream, Buffer.alloc(50_000, 'a'))
      send(frameTypes.data, stream, Buffer.alloc(50_000, 'b'))
      send(frameTypes.data, stream, Buffer.alloc(50_000, 'c'))
      expect(stream).toBe(1)
      socket.write(chunks)
    })
    const { body } = await visit(port, rawHost, '/')
    expect(body.length).toBe(chunkCount + 150_000)
    expect(body.subarray(150_000).equals(Buffer.from(Array.from({ length: chunkCount }, (_, i) => 65 + (i % 26))))).toBe(true)
    socket.destroy()
  })
})

test('a replay of an endless answer ends', async () => {
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  await client.tunnels.update('raw_one', { capture: 'headers' })
  const events = await client.tunnels.listen('raw_one', (_request, response) => void response.write('data: 1\n\n'), { connections: 1 })
  const publicClient = connect(port, '127.0.0.1')
  publicClient.write('GET /events HTTP/1.1\r\nHost: raw-one.tunnel.localhost\r\n\r\n')
  await new Promise((resolve) => publicClient.once('data', resolve))
  publicClient.destroy()
  const one = await waitFor('the request', async () =>
    (await client.tunnels.requests('raw_one')).data.find(({ path }) => path === '/events'),
  )
  expect(await client.tunnels.replay('raw_one', one.id)).toMatchObject({ status: 200, error: 'request_aborted' })
  await events.close(0)
})

test("a client that continues to send after a refused upgrade does not delay a server's stop", async () => {
  const other = await startHarness()
  await other.createAgent('sales')
  const client = new Callsign({ url: other.baseUrl, apiKey: other.organizationKey })
  const target = await client.tunnels.listen('sales', origin.port)
  const publicClient = connect(Number(new URL(other.baseUrl).port), '127.0.0.1')
  publicClient.write(`GET /refuse HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  await new Promise((resolve) => publicClient.once('data', resolve))
  await new Promise<void>((resolve) => publicClient.write(Buffer.alloc(100), () => resolve()))
  publicClient.destroy()
  await target.close(0)
  await other.stop()
})

test('an invalid chunk size ends the request, and bytes after it are not a request', async () => {
  const bytes = `POST /chunks HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n`
  expect(await sendRaw(port, bytes, (text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 400 /)
  // The head may have reached the target before the chunk was read. A later request on another connection is answered after it.
  await visit(port, host, '/plain')
  expect(origin.seen.map(({ url }) => url)).not.toContain('/hidden')
})
