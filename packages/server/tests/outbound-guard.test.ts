// The outbound guard against real servers on this machine. 127.0.0.2 acts as the public internet, and every other address is private.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FetchRefused } from '../src/core/web.ts'
import { createWeb } from '../src/edges/outbound-http/guarded-fetch.ts'
import type { Lookup } from '../src/edges/outbound-http/host-lookup.ts'
import { type Authority, createCertificate } from './harness/certificate.ts'

const publicAddress = '127.0.0.2'
const limits = { bytesMax: 1000, timeoutMs: 20_000 }
const userAgent = 'callsign-test'

type Listener = { port: number; requests: string[]; connections: number; bytesReceived: number }
const cleanups: (() => void)[] = []

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
  vi.unstubAllEnvs()
})

/** A server that answers each request head with the result of `answer`, and records every head. */
async function listen(
  answer: (socket: Socket, head: string) => void,
  { host = publicAddress, port = 0, tls }: { host?: string; port?: number; tls?: { cert: string; key: string } } = {},
): Promise<Listener> {
  const listener: Listener = { port: 0, requests: [], connections: 0, bytesReceived: 0 }
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = received.slice(0, end)
      const bodyLength = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (received.length < end + 4 + bodyLength) return
      listener.requests.push(received)
      received = ''
      answer(socket, head)
    })
  }
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve)
  server.on('connection', (socket: Socket) => {
    listener.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      listener.bytesReceived += socket.bytesRead
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(port, host)
  await once(server, 'listening')
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  listener.port = (server.address() as AddressInfo).port
  return listener
}

const respond = (body: string | Buffer, headers = '', status = '200 OK') => {
  const bytes = Buffer.from(body)
  return (socket: Socket): void => {
    socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers}content-length: ${bytes.length}\r\n\r\n`), bytes]))
  }
}
const redirect = (location: string, status = '302 Found') => respond('', `location: ${location}\r\n`, status)

const webWith = (lookup: Lookup = async () => [], allowCidrs = [`${publicAddress}/32`], connectTimeoutMs = 20_000) =>
  createWeb({ allowCidrs, userAgent, lookup, connectTimeoutMs })

/** The refusal of a fetch. Fails when the fetch succeeds or breaks in another way. Its message may contain only addresses of the URL. */
async function refusal(fetching: Promise<unknown>): Promise<FetchRefused> {
  const error = await fetching.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(FetchRefused)
  expect((error as Error).message).not.toMatch(/127\.0\.0|10\.0\.0|::1|E[A-Z]{6,}/)
  expect((error as Error).message).toMatch(/^[A-Z].*\.$/)
  return error as FetchRefused
}

describe('spellings of private addresses', () => {
  // Each reaches a server on this machine when nothing stops it, so a count of zero connections means something.
  // biome-ignore format: a table
  const loopback = [
    '127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '2130706433', '0x7f000001', '0x7f.1', '0x7F.0.0.0x1', '0177.0.0.1', '0177.1', '017700000001', '00000177.0.0.01',
    '127.0.0.0x1', '%31%32%37.0.0.1', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '127．0．0．1', '[::ffff:127.0.0.1]', '[::FFFF:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]', 'localhost', 'LOCALHOST', 'localhost.', 'ｌocalhost', 'agent.localhost', 'a.b.localhost.',
  ]
  // biome-ignore format: a table
  const elsewhere = [
    '0', '0.0.0.0', '0x0', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '127.255.255.254', '10.0.0.1', '0xa.1', '012.0.0.1', '172.16.0.1', '2886729729', '192.168.0.1',
    '0xc0a80001', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]',
    '168.63.129.16', '0xa83f8110', '100.100.100.200', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '4294967295', '[64:ff9b::7f00:1]',
    '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[::7f00:1]', '[::127.0.0.1]', '[::ffff:0:7f00:1]',
    '[fe80::1]', '[fc00::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[fe80::1%25lo]', '[::1%25lo]',
  ]

  test('none of them makes a connection', async () => {
    const local = await listen(respond('secret'), { host: '::' })
    const web = webWith(async () => ['127.0.0.1'], [])
    for (const host of [...loopback, ...elsewhere]) {
      const { failure } = await refusal(web.fetchFile(`http://${host}:${local.port}/`, limits))
      expect([host, failure]).toEqual([host, host.includes('%25') ? 'invalid_url' : 'blocked_address'])
      await refusal(web.fetchFile(`https://${host}:${local.port}/`, limits))
      expect(
        await web.post(`http://${host}:${local.port}/`, { headers: {}, body: Buffer.from('x'), timeoutMs: 1000, snippetBytesMax: 10 }),
      ).toMatchObject({
        kind: 'failed',
        failure,
      })
    }
    expect(local.connections).toBe(0)
  })

  test('an allowed range works in every spelling', async () => {
    const local = await listen(respond('hello'), { host: '127.0.0.1' })
    const lookup = vi.fn(async () => [])
    const web = webWith(lookup, ['127.0.0.0/8'])
    for (const host of loopback) expect(String((await web.fetchFile(`http://${host}:${local.port}/`, limits)).bytes), host).toBe('hello')
    expect(local.connections).toBe(loopback.length)
    expect(lookup).not.toHaveBeenCalled()
  })
})

describe('names', () => {
  // One sentence for private and unknown names, so that it does not reveal the names of the operator's network.
  const notReachable = 'The host name of the URL was not found, or does not lead to public addresses only.'

  test.each([
    ['a private answer', ['127.0.0.1']],
    ['a private answer after a public one', [publicAddress, '127.0.0.1']],
    ['a private answer before a public one', ['127.0.0.1', publicAddress]],
    ['a private answer behind more public ones than are ever tried', [...Array(20).fill(publicAddress), '10.0.0.1']],
    ['a mapped private answer', [publicAddress, '::ffff:127.0.0.1']],
    ['a link-local answer with a zone', [publicAddress, 'fe80::1%lo']],
    ['an answer that is no address', [publicAddress, 'localhost']],
  ])('%s refuses the whole name', async (_what, answers) => {
    const server = await listen(respond('secret'), { host: '0.0.0.0' })
    const { failure, message } = await refusal(webWith(async () => answers).fetchFile(`http://name.example:${server.port}/`, limits))
    expect([failure, message]).toEqual(['dns', notReachable])
    expect(server.connections).toBe(0)
  })

  test('a name is resolved once and the connection goes to that answer, with the name in Host', async () => {
    const server = await listen(respond('hello', 'content-type: Text/Plain; Charset="UTF-8"\r\n'))
    const trap = await listen(respond('secret'), { host: '127.0.0.1', port: server.port })
    const answers = [[publicAddress], ['127.0.0.1']]
    const lookup = vi.fn(async () => answers.shift() ?? [])
    const file = await webWith(lookup).fetchFile(`http://name.example:${server.port}/path?a=b#fragment`, limits)
    expect(file).toEqual({ bytes: Buffer.from('hello'), contentType: 'text/plain; charset=utf-8' })
    expect(lookup.mock.calls).toEqual([['name.example']])
    expect([server.connections, trap.connections]).toEqual([1, 0])
    expect(server.requests[0]).toMatch(/^GET \/path\?a=b HTTP\/1\.1\r\n/)
    expect(server.requests[0]?.toLowerCase()).toContain(`host: name.example:${server.port}\r\n`)
    expect(server.requests[0]?.toLowerCase()).toContain('accept-encoding: identity')
    expect(server.requests[0]?.toLowerCase()).toContain('connection: close')
    expect(server.requests[0]?.toLowerCase()).not.toMatch(/authorization|cookie|referer/)
  })

  test('a second answer that turns private is refused, because every request resolves and connects again', async () => {
    const server = await listen((socket) => socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok'))
    const trap = await listen(respond('secret'), { host: '127.0.0.1', port: server.port })
    const answers = [[publicAddress], [publicAddress], ['127.0.0.1']]
    const web = webWith(async () => answers.shift() ?? [])
    const url = `http://name.example:${server.port}/`
    await web.fetchFile(url, limits)
    await web.fetchFile(url, limits)
    await refusal(web.fetchFile(url, limits))
    expect([server.connections, trap.connections]).toEqual([2, 0])
  })

  test('an unknown name, a failing lookup and a silent one are refused', async () => {
    const never = () => new Promise<string[]>(() => {})
    const failing = () => Promise.reject(new Error('SERVFAIL'))
    for (const lookup of [async () => [], failing, never]) {
      const { failure, message } = await refusal(webWith(lookup, [], 50).fetchFile('http://name.example/', limits))
      expect([failure, message]).toEqual(['dns', notReachable])
    }
  })

  test('when one address refuses the connection, the next is tried', async () => {
    const server = await listen(respond('hello'))
    const web = webWith(async () => ['127.0.0.3', publicAddress], ['127.0.0.2/31'])
    expect(String((await web.fetchFile(`http://name.example:${server.port}/`, limits)).bytes)).toBe('hello')
  })

  test.runIf(process.platform === 'linux')(
    'the peer address decides, so a connection that ends elsewhere than dialled carries no byte',
    async () => {
      const local = await listen(respond('secret'), { host: '127.0.0.1' })
      const { failure } = await refusal(webWith(undefined, ['0.0.0.0/32']).fetchFile(`http://0.0.0.0:${local.port}/`, limits))
      expect(failure).toBe('blocked_address')
      await expect.poll(() => local.connections).toBe(1)
      expect([local.requests, local.bytesReceived]).toEqual([[], 0])
    },
  )

  test('a proxy in the environment is not used', async () => {
    const proxy = await listen(respond('proxied'))
    const server = await listen(respond('hello'))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://${publicAddress}:${proxy.port}`)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    expect(String((await webWith().fetchFile(`http://${publicAddress}:${server.port}/`, limits)).bytes)).toBe('hello')
    expect(proxy.connections).toBe(0)
  })
})

test('credentials in the URL make no connection', async () => {
  const server = await listen(respond('hello'))
  expect((await refusal(webWith().fetchFile(`http://me:secret@${publicAddress}:${server.port}/`, limits))).message).not.toContain('secret')
  expect(server.connections).toBe(0)
})

describe('redirects', () => {
  test('authorization headers go to their own origin and not to a redirect target', async () => {
    const elsewhere = await listen(respond('end'))
    const server = await listen((socket, head) =>
      head.startsWith('GET /first') ? redirect('/second')(socket) : redirect(`http://${publicAddress}:${elsewhere.port}/`)(socket),
    )
    const origin = `http://${publicAddress}:${server.port}`
    const access = { origin, headers: { authorization: 'Basic c2VjcmV0' } }
    await webWith().fetchFile(`${origin}/first`, { ...limits, access })
    expect(server.requests.map((head) => head.includes('authorization: Basic c2VjcmV0'))).toEqual([true, true])
    expect(elsewhere.requests.map((head) => head.includes('c2VjcmV0'))).toEqual([false])
    await webWith().fetchFile(`http://${publicAddress}:${elsewhere.port}/`, { ...limits, access })
    expect(elsewhere.requests.join()).not.toContain('c2VjcmV0')
  })

  test('three redirects are followed, each on a new connection, and a fourth is not', async () => {
    const server = await listen((socket, head) => {
      const left = Number(/\/(\d)/.exec(head)?.[1])
      return left === 0 ? respond('end')(socket) : redirect(`/${left - 1}`, '307 Temporary Redirect')(socket)
    })
    const url = `http://${publicAddress}:${server.port}`
    expect(String((await webWith().fetchFile(`${url}/3`, limits)).bytes)).toBe('end')
    expect(server.connections).toBe(4)
    expect((await refusal(webWith().fetchFile(`${url}/4`, limits))).message).toContain('more than 3 times')
    expect(server.connections).toBe(8)
  })

  test('a redirect loop ends', async () => {
    const server = await listen(redirect('/'))
    await refusal(webWith().fetchFile(`http://${publicAddress}:${server.port}/`, limits))
    expect(server.connections).toBe(4)
  })

  test('redirects to a private address, another scheme, credentials or a name that became private are refused', async () => {
    const trap = await listen(respond('secret'), { host: '127.0.0.1' })
    const answers = [[publicAddress], ['127.0.0.1']]
    for (const [location, failure] of [
      [`http://127.0.0.1:${trap.port}/`, 'blocked_address'],
      [`//2130706433:${trap.port}/`, 'blocked_address'],
      [`http://localhost:${trap.port}/`, 'blocked_address'],
      [`http://[::ffff:7f00:1]:${trap.port}/`, 'blocked_address'],
      ['file:///etc/passwd', 'invalid_url'],
      ['ftp://public.example/', 'invalid_url'],
      [`http://a:b@${publicAddress}/`, 'invalid_url'],
      [`http://${publicAddress}:25/`, 'invalid_url'],
      ['http://:::/', 'invalid_url'],
    ] as const) {
      const server = await listen(redirect(location))
      expect([location, (await refusal(webWith().fetchFile(`http://${publicAddress}:${server.port}/`, limits))).failure]).toEqual([
        location,
        failure,
      ])
    }
    const server = await listen(redirect('/again'))
    expect(
      (await refusal(webWith(async () => answers.shift() ?? []).fetchFile(`http://name.example:${server.port}/`, limits))).failure,
    ).toBe('dns')
    expect(trap.connections).toBe(0)
  })

  test('a redirect with no location, or with two, is refused', async () => {
    for (const headers of ['', 'location: /a\r\nlocation: /b\r\n']) {
      const server = await listen(respond('', headers, '301 Moved'))
      expect((await refusal(webWith().fetchFile(`http://${publicAddress}:${server.port}/`, limits))).message).toContain(
        'without saying where',
      )
    }
  })
})

describe('hostile answers', () => {
  const fetchFrom = async (answer: (socket: Socket) => void, more: Partial<typeof limits> = {}) => {
    const server = await listen(answer)
    return await webWith().fetchFile(`http://${publicAddress}:${server.port}/`, { ...limits, ...more })
  }

  test('a file of exactly the limit passes, and one byte more does not, announced or not', async () => {
    expect((await fetchFrom(respond('x'.repeat(1000)))).bytes.length).toBe(1000)
    expect((await refusal(fetchFrom(respond('x'.repeat(1001))))).failure).toBe('too_large')
    const chunked = (length: number) => (socket: Socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(length)}0\r\n\r\n`)
    expect((await fetchFrom(chunked(1000))).bytes.length).toBe(1000)
    expect((await refusal(fetchFrom(chunked(1001)))).failure).toBe('too_large')
    const untilClose = (length: number) => (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(length)}`)
    expect((await fetchFrom(untilClose(1000))).bytes.length).toBe(1000)
    expect((await refusal(fetchFrom(untilClose(1001)))).failure).toBe('too_large')
  })

  test('an endless body is cut at the limit and the connection closed', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const endless = (socket: Socket) => {
      socket.on('close', () => resolve())
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const pour = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(16_384)));
      }
      socket.on('drain', pour)
      pour()
    }
    expect((await refusal(fetchFrom(endless))).failure).toBe('too_large')
    await closed
  })

  test('an announced huge file is refused before its body', async () => {
    const answer = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n')
    expect((await refusal(fetchFrom(answer))).failure).toBe('too_large')
  })

  test.each([
    ['a body shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort', 'connection_lost'],
    ['a chunked body without its end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n', 'connection_lost'],
    ['nothing at all', '', 'connection_lost'],
    ['headers without their end', 'HTTP/1.1 200 OK\r\ncontent-', 'connection_lost'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', 'bad_response'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nxx', 'bad_response'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 'bad_response'],
    ['a chunk size that overflows', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nx', 'bad_response'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'bad_response'],
    ['too large headers', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(20)}\r\n`, 'bad_response'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'connection_lost'],
    ['an error', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'bad_response'],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', 'bad_response'],
  ])('%s', async (_what, text, failure) => {
    expect((await refusal(fetchFrom((socket) => socket.end(text)))).failure).toBe(failure)
  })

  test('a body longer than announced ends at the announced length', async () => {
    expect(
      String((await fetchFrom((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n'))).bytes),
    ).toBe('ok')
  })

  test('a compressed body is refused at any unpacked size', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000))
    expect((await refusal(fetchFrom(respond(bomb, 'content-encoding: gzip\r\n'), { bytesMax: 10_000 }))).message).toContain('compresses')
  })

  test.each([
    ['silence', ''],
    ['half a header', 'HTTP/1.1 200 OK\r\nconte'],
    ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
    ['interim answers without an end', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('%s ends with the time limit', async (_what, text) => {
    const drip = (socket: Socket) => {
      socket.write(text)
      const timer = setInterval(() => socket.write(text.startsWith('HTTP/1.1 103') ? text : ''), 10)
      socket.on('close', () => clearInterval(timer))
    }
    expect((await refusal(fetchFrom(drip, { timeoutMs: 150 }))).failure).toBe('timeout')
  })

  test('a slow body never resets the time limit', async () => {
    const drip = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 5)
      socket.on('close', () => clearInterval(timer))
    }
    expect((await refusal(fetchFrom(drip, { timeoutMs: 150 }))).failure).toBe('timeout')
  })

  test.each([
    ['', 'application/octet-stream'],
    ['content-type: image/PNG\r\n', 'image/png'],
    ['content-type: text/html;a=b; charset=utf-8\r\n', 'text/html; charset=utf-8'],
    ['content-type: text/html;charset="a\u0001b"\r\n', 'text/html'],
    ['content-type: text\r\n', 'application/octet-stream'],
    ['content-type: a/b c\r\n', 'application/octet-stream'],
  ])('media type from %j', async (headers, contentType) => {
    if (headers.includes('\u0001')) return expect((await refusal(fetchFrom(respond('x', headers)))).failure).toBe('bad_response')
    expect((await fetchFrom(respond('x', headers))).contentType).toBe(contentType)
  })

  test('a refused connection', async () => {
    const server = await listen(respond('x'))
    for (const cleanup of cleanups.splice(0)) cleanup()
    expect((await refusal(webWith().fetchFile(`http://${publicAddress}:${server.port}/`, limits))).failure).toBe('connect_refused')
  })
})

describe('TLS', () => {
  const trusted = getCACertificates('default')
  let authority: Authority

  beforeEach(() => {
    authority = createCertificate({ commonName: 'Test authority' })
    setDefaultCACertificates([...trusted, authority.cert])
    cleanups.push(() => setDefaultCACertificates(trusted))
  })

  const fetchWith = async (tls: { cert: string; key: string }) => {
    const server = await listen(respond('hello'), { tls })
    return await webWith(async () => [publicAddress]).fetchFile(`https://name.example:${server.port}/`, limits)
  }

  test('a trusted certificate for the name of the URL passes, although an address was dialled', async () => {
    expect(String((await fetchWith(createCertificate({ commonName: 'x', dnsNames: ['name.example'], issuer: authority }))).bytes)).toBe(
      'hello',
    )
  })

  test.each([
    ['tls_untrusted', () => createCertificate({ commonName: 'name.example', dnsNames: ['name.example'] })],
    ['tls_hostname', () => createCertificate({ commonName: 'x', dnsNames: ['other.example'], issuer: authority })],
    [
      'tls_expired',
      () =>
        createCertificate({
          commonName: 'x',
          dnsNames: ['name.example'],
          issuer: authority,
          notBefore: new Date(0),
          notAfter: new Date(1e12),
        }),
    ],
    [
      'tls_expired',
      () =>
        createCertificate({
          commonName: 'x',
          dnsNames: ['name.example'],
          issuer: authority,
          notBefore: new Date(4e12),
          notAfter: new Date(5e12),
        }),
    ],
  ])('%s', async (failure, certificate) => {
    expect((await refusal(fetchWith(certificate()))).failure).toBe(failure)
  })

  test('the environment cannot disable the checks', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    expect((await refusal(fetchWith(createCertificate({ commonName: 'x', dnsNames: ['name.example'] })))).failure).toBe('tls_untrusted')
  })

  test('a server that does not speak TLS, or hangs in the handshake', async () => {
    const loud = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, publicAddress)
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, publicAddress)
    cleanups.push(
      () => void loud.close(),
      () => void silent.close(),
    )
    await Promise.all([once(loud, 'listening'), once(silent, 'listening')])
    const url = (server: Server) => `https://${publicAddress}:${(server.address() as AddressInfo).port}/`
    expect((await refusal(webWith().fetchFile(url(loud), limits))).failure).toBe('tls_failed')
    expect((await refusal(webWith(undefined, undefined, 100).fetchFile(url(silent), limits))).failure).toBe('connect_timeout')
  })

  test('posts over one kept connection arrive whole and in order, and its certificate is checked', async () => {
    const post = async (tls: { cert: string; key: string }, bodies: Buffer[]) => {
      const server = await listen((socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'), { tls })
      const web = webWith(async () => [publicAddress])
      cleanups.push(() => web.close())
      const results = []
      for (const body of bodies)
        results.push(
          await web.post(`https://name.example:${server.port}/hook`, {
            headers: {},
            body,
            timeoutMs: 5000,
            snippetBytesMax: 10,
            keepAlive: true,
          }),
        )
      return { results, server }
    }
    const bodies = ['one', 'ü'.repeat(200_000), 'three'].map((text) => Buffer.from(text))
    const good = createCertificate({ commonName: 'x', dnsNames: ['name.example'], issuer: authority })
    const { results, server } = await post(good, bodies)
    expect(results.map((result) => result.kind === 'answered' && result.snippet)).toEqual(['ok', 'ok', 'ok'])
    expect(server.requests.map((request) => request.slice(request.indexOf('\r\n\r\n') + 4))).toEqual(
      bodies.map((body) => body.toString('latin1')),
    )
    expect(server.connections).toBe(1)
    const own = createCertificate({ commonName: 'x', dnsNames: ['name.example'] })
    const refused = await post(own, bodies)
    expect(refused.results).toMatchObject(Array(3).fill({ kind: 'failed', failure: 'tls_untrusted' }))
    expect(refused.server.requests).toEqual([])
  })

  test('https never redirects to http, http may redirect to https', async () => {
    const plain = await listen(respond('plain'))
    const certificate = createCertificate({ commonName: 'x', dnsNames: ['name.example'], issuer: authority })
    const down = await listen(redirect(`http://name.example:${plain.port}/`), { tls: certificate })
    const secure = await listen(respond('secure'), { tls: certificate })
    const up = await listen(redirect(`https://name.example:${secure.port}/`))
    const web = webWith(async () => [publicAddress])
    expect((await refusal(web.fetchFile(`https://name.example:${down.port}/`, limits))).failure).toBe('invalid_url')
    expect(plain.connections).toBe(0)
    expect(String((await web.fetchFile(`http://name.example:${up.port}/`, limits)).bytes)).toBe('secure')
  })
})

describe('POST', () => {
  const body = Buffer.from('{"a":"ü"}')
  const postTo = async (answer: (socket: Socket) => void, more: { timeoutMs?: number; snippetBytesMax?: number } = {}) => {
    const server = await listen(answer)
    const result = await webWith().post(`http://${publicAddress}:${server.port}/hook`, {
      headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
      body,
      timeoutMs: 5000,
      snippetBytesMax: 1024,
      ...more,
    })
    return { result, server }
  }

  test('sends exactly the bytes and headers and reports the answer', async () => {
    const { result, server } = await postTo(respond('thanks', 'retry-after: 120\r\n', '503 Busy'))
    expect(result).toMatchObject({ kind: 'answered', status: 503, retryAfter: '120', snippet: 'thanks' })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
    const [head, sent] = (server.requests[0] as string).split('\r\n\r\n') as [string, string]
    expect(head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/)
    expect(head.toLowerCase()).toContain('\r\nwebhook-id: evt_1')
    expect(head.toLowerCase()).toContain('\r\nuser-agent: callsign-test')
    expect(Buffer.from(sent, 'latin1')).toEqual(body)
  })

  test('a redirect counts as an answer and is not followed', async () => {
    const trap = await listen(respond('x'))
    const { result, server } = await postTo(redirect(`http://${publicAddress}:${trap.port}/`, '308 Permanent Redirect'))
    expect(result).toMatchObject({ kind: 'answered', status: 308 })
    expect([server.connections, trap.connections]).toEqual([1, 0])
  })

  test('the snippet is bounded, has whole characters, and contains no NUL', async () => {
    expect((await postTo(respond(`ab\0${'ü'.repeat(1_000_000)}`), { snippetBytesMax: 6 })).result).toMatchObject({ snippet: 'abü' })
    expect((await postTo(respond(Buffer.from([0x61, 0xff, 0x62])))).result).toMatchObject({ snippet: 'a\ufffdb' })
    expect((await postTo(respond(gzipSync('x'), 'content-encoding: gzip\r\n'))).result).toMatchObject({ status: 200, snippet: '' })
  })

  test('once the status has arrived, a broken or endless body does not change it', async () => {
    expect((await postTo((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))).result).toMatchObject({
      status: 200,
      snippet: 'half',
    })
    const hanging = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
    // A machine that stalls longer than the limit before the status has arrived gets a longer one.
    let { result } = await postTo(hanging, { timeoutMs: 150 })
    for (const timeoutMs of [1000, 4000]) if (result.kind !== 'answered') ({ result } = await postTo(hanging, { timeoutMs }))
    expect(result).toMatchObject({ kind: 'answered', status: 200, snippet: 'half' })
  })

  describe('on a kept connection', () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

    async function keptTo(answer: (socket: Socket) => void) {
      const server = await listen(answer)
      const web = webWith()
      cleanups.push(() => web.close())
      const post = (sent = body, headers: Record<string, string> = {}) =>
        web.post(`http://${publicAddress}:${server.port}/hook`, {
          headers,
          body: sent,
          timeoutMs: 5000,
          snippetBytesMax: 10,
          keepAlive: true,
        })
      return { server, post }
    }

    /** Posts once to keep a connection, and then again, which `second` answers. */
    async function postTwice(second: (socket: Socket) => void, timeoutMs = 5000) {
      const answers: ((socket: Socket) => void)[] = [(socket) => void socket.write(ok), second]
      const server = await listen((socket) => (answers.shift() ?? ((other: Socket) => void other.write(ok)))(socket))
      const web = webWith()
      cleanups.push(() => web.close())
      const url = `http://${publicAddress}:${server.port}/hook`
      const post = (limitMs = 5000) => web.post(url, { headers: {}, body, timeoutMs: limitMs, snippetBytesMax: 10, keepAlive: true })
      expect(await post()).toMatchObject({ kind: 'answered', status: 200 })
      return { result: await post(timeoutMs), server }
    }

    test('a request is repeated once when the server closes instead of answering', async () => {
      const { result, server } = await postTwice((socket) => socket.destroy())
      expect(result).toMatchObject({ kind: 'answered', status: 200 })
      expect([server.connections, server.requests.length]).toEqual([2, 3])
    })

    test.each([
      ['an answer that is not HTTP', 'bad_response', (socket: Socket) => void socket.write('SSH-2.0-OpenSSH\r\n\r\n')],
      [
        'two lengths',
        'bad_response',
        (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'),
      ],
      ['too large headers', 'bad_response', (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`)],
      ['silence', 'timeout', () => {}],
    ])('a request is not repeated after %s', async (_what, failure, second) => {
      const { result, server } = await postTwice(second, failure === 'timeout' ? 300 : 5000)
      expect(result).toMatchObject({ kind: 'failed', failure })
      await expect.poll(() => [server.connections, server.requests.length]).toEqual([1, 2])
    })

    test('a request is not repeated once a byte of its answer has arrived', async () => {
      const { result, server } = await postTwice((socket) => void socket.end('HTTP/1.1 200'))
      expect(result).toMatchObject({ failure: 'connection_lost' })
      expect([server.connections, server.requests.length]).toEqual([1, 2])
    })

    test.each([
      ['a length', ok, 1],
      ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 1],
      ['an interim answer first', `HTTP/1.1 103 Hints\r\n\r\n${ok}`, 1],
      ['close', ok.replace('\r\n', '\r\nconnection: close\r\n'), 2],
      ['a keep-alive time as short as the margin', ok.replace('\r\n', '\r\nkeep-alive: timeout=2\r\n'), 2],
      ['bytes behind the answer', `${ok}HTTP/1.1 200 OK\r\n`, 2],
    ])('after %s, two posts use %3$d connections', async (_what, answer, connections) => {
      const { server, post } = await keptTo((socket) => void socket.write(answer))
      expect(await post()).toMatchObject({ kind: 'answered', status: 200, snippet: 'ok' })
      expect(await post()).toMatchObject({ kind: 'answered', status: 200, snippet: 'ok' })
      expect(server.connections).toBe(connections)
    })

    test('bytes that arrive between two requests close the connection', async () => {
      const sockets: Socket[] = []
      const { server, post } = await keptTo((socket) => {
        sockets.push(socket)
        socket.write(ok)
      })
      await post()
      const closed = once(sockets[0] as Socket, 'close')
      sockets[0]?.write('HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n')
      await closed
      expect(await post()).toMatchObject({ status: 200 })
      expect(server.connections).toBe(2)
    })

    test('large bodies arrive whole', async () => {
      const large = Buffer.alloc(300_000, 'ü')
      const { server, post } = await keptTo((socket) => void socket.write(ok))
      for (let i = 0; i < 2; i++) expect(await post(large)).toMatchObject({ status: 200 })
      expect(server.connections).toBe(1)
      for (const request of server.requests) expect(request.endsWith(`\r\n\r\n${large.toString('latin1')}`)).toBe(true)
    })

    test('a header with a line break is not sent', async () => {
      const { server, post } = await keptTo((socket) => void socket.write(ok))
      for (const headers of [{ a: 'b\r\nc: d' }, { 'a\r\nb': 'c' }, { 'a b': 'c' }, { a: 'ł' }] as Record<string, string>[])
        await expect(post(body, headers)).rejects.toThrow('cannot be sent')
      expect(server.connections).toBe(0)
    })

    test('the first request of a connection is not repeated', async () => {
      const server = await listen((socket) => socket.destroy())
      const web = webWith()
      cleanups.push(() => web.close())
      const sent = { headers: {}, body, timeoutMs: 5000, snippetBytesMax: 10, keepAlive: true }
      expect(await web.post(`http://${publicAddress}:${server.port}/`, sent)).toMatchObject({ failure: 'connection_lost' })
      expect([server.connections, server.requests.length]).toEqual([1, 1])
    })
  })

  test('failures are results with a name', async () => {
    expect((await postTo(() => {}, { timeoutMs: 100 })).result).toMatchObject({ kind: 'failed', failure: 'timeout' })
    expect((await postTo((socket) => socket.destroy())).result).toMatchObject({ kind: 'failed', failure: 'connection_lost' })
    expect(await webWith().post('ftp://x/', { headers: {}, body, timeoutMs: 100, snippetBytesMax: 0 })).toMatchObject({
      failure: 'invalid_url',
    })
  })
})
