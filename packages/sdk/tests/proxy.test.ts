// Requests and event sockets through the proxy that the environment names: by the client, and by the command line from its first request on.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { createCommandLine } from '../../cli/tests/command-line.ts'
import { createCertificate } from '../../server/tests/harness/certificate.ts'
import { Callsign } from '../src/index.ts'

const certificate = createCertificate({ commonName: 'callsign.example', dnsNames: ['callsign.example'] })
const trusted = getCACertificates('default')
const line = createCommandLine()
const listening = (server: Server) =>
  new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
const seen: { line: string; proxyKey: string | undefined; key: string | undefined }[] = []
const note = ({ method, url, headers }: IncomingMessage) =>
  void seen.push({ line: `${method} ${url}`, proxyKey: headers['proxy-authorization'], key: headers.authorization })

/** Answers every request with its body, streams with an event, and requests without a body like `GET /me`. */
const echo = (request: IncomingMessage, response: import('node:http').ServerResponse) => {
  note(request)
  response.setHeader('content-type', 'application/json')
  if (request.url?.endsWith('/events/stream')) return response.end('id: evt_1\ndata: {"id":"evt_1","type":"email.received"}\n\n')
  if (request.url?.endsWith('/gone') || request.method === 'DELETE') return response.writeHead(204).end()
  const body: Buffer[] = []
  request.on('data', (chunk: Buffer) => body.push(chunk))
  request.on('end', () => response.end(body.length > 0 ? Buffer.concat(body) : '{"organization_name":"Through"}'))
}
const target = createTlsServer(certificate, echo)
const plainTarget = createServer(echo)
const proxy = createServer(echo)
const sockets = new WebSocketServer({ noServer: true })
for (const server of [target, plainTarget])
  server.on('upgrade', (request, socket, head) => {
    note(request)
    sockets.handleUpgrade(request, socket, head, (events) => events.send('{"id":"evt_1","type":"email.received"}'))
  })
let proxyUrl: string
let plainPort: number
beforeAll(async () => {
  const tlsPort = await listening(target)
  plainPort = await listening(plainTarget)
  proxyUrl = `http://user:a%20b@127.0.0.1:${await listening(proxy)}`
  proxy.on('connect', (request, client) => {
    note(request)
    const upstream = connect(request.url?.endsWith(':443') ? tlsPort : plainPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  setDefaultCACertificates([...trusted, certificate.cert])
})
afterEach(() => {
  vi.unstubAllEnvs()
  seen.length = 0
})
afterAll(() => {
  setDefaultCACertificates(trusted)
  line.remove()
  for (const socket of sockets.clients) socket.terminate()
  for (const server of [target, plainTarget, proxy]) {
    server.closeAllConnections()
    server.close()
  }
})

const apiKey = 'svc_live_proxied'
const proxyKey = 'Basic dXNlcjphIGI='

test('plain requests give the proxy the whole URL', async () => {
  vi.stubEnv('HTTP_PROXY', proxyUrl)
  const client = new Callsign({ url: 'http://callsign.example:8080/base', apiKey })
  expect((await client.me()).organization_name).toBe('Through')
  expect(await client.identities.create({ agent_handle: 'sales' })).toEqual({ agent_handle: 'sales' })
  const base = 'http://callsign.example:8080/base/api/v1'
  expect(seen).toEqual(
    ['GET /me', 'POST /identities'].map((request) => ({ line: request.replace(' ', ` ${base}`), proxyKey, key: `Bearer ${apiKey}` })),
  )
})

test('requests over TLS go through one tunnel, whose proxy never gets the key', async () => {
  vi.stubEnv('HTTPS_PROXY', proxyUrl)
  const client = new Callsign({ url: 'https://callsign.example', apiKey })
  for (let i = 0; i < 3; i++) expect((await client.me()).organization_name).toBe('Through')
  expect(await client.keys.revoke('key_1')).toBeUndefined()
  const me = { line: 'GET /api/v1/me', proxyKey: undefined, key: `Bearer ${apiKey}` }
  expect(seen).toEqual([
    { line: 'CONNECT callsign.example:443', proxyKey, key: undefined },
    me,
    me,
    me,
    { ...me, line: 'DELETE /api/v1/keys/key_1' },
  ])
})

const firstEvent = async (url: string) => {
  for await (const event of new Callsign({ url, apiKey }).events.follow({ transport: 'websocket' })) return event.id
  return null
}

/** The first event in a process of its own, which has the dispatcher of its Node. Here another test may have loaded one from npm. */
async function firstEventElsewhere(url: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'callsign-proxy-'))
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, certificate.cert)
  const script = `import { Callsign } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
    for await (const event of new Callsign({ url: ${JSON.stringify(url)}, apiKey: '${apiKey}' }).events.follow({ transport: 'websocket' })) {
      console.log(event.id)
      process.exit()
    }`
  const env = { PATH: process.env.PATH, ALL_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: authority }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
  await rm(folder, { recursive: true })
  return stdout.trim()
}

test.each([
  ['https://callsign.example', 'callsign.example:443'],
  ['http://callsign.example', 'callsign.example:80'],
])('events over a WebSocket to %s go through one tunnel, whose proxy never gets the key', async (url, authority) => {
  expect(await firstEventElsewhere(url)).toBe('evt_1')
  expect(seen).toEqual([
    { line: `CONNECT ${authority}`, proxyKey, key: undefined },
    { line: 'GET /api/v1/events/stream', proxyKey: undefined, key: undefined },
  ])
})

test('a WebSocket to a loopback address is direct, and one that cannot use the proxy becomes a stream through it', async () => {
  vi.stubEnv('ALL_PROXY', proxyUrl)
  expect(await firstEvent(`http://127.0.0.1:${plainPort}`)).toBe('evt_1')
  expect(seen.map(({ line }) => line)).toEqual(['GET /api/v1/events/stream'])
  seen.length = 0
  const dispatcher = Symbol.for('undici.globalDispatcher.1')
  const original = Reflect.get(globalThis, dispatcher)
  Reflect.set(globalThis, dispatcher, new (class OtherAgent {})())
  try {
    expect(await firstEvent('http://callsign.example')).toBe('evt_1')
  } finally {
    Reflect.set(globalThis, dispatcher, original)
  }
  expect(seen).toEqual([{ line: 'GET http://callsign.example/api/v1/events/stream', proxyKey, key: `Bearer ${apiKey}` }])
})

test('NO_PROXY and loopback addresses are reached directly', async () => {
  vi.stubEnv('ALL_PROXY', proxyUrl)
  vi.stubEnv('NO_PROXY', 'callsign.invalid')
  await expect(new Callsign({ url: 'http://callsign.invalid', apiKey, retriesMax: 0 }).me()).rejects.toMatchObject({
    code: 'connection_failed',
  })
  const direct = proxyUrl.replace('user:a%20b@', '')
  expect((await new Callsign({ url: direct, apiKey }).me()).organization_name).toBe('Through')
  expect(seen).toEqual([{ line: 'GET /api/v1/me', proxyKey: undefined, key: `Bearer ${apiKey}` }])
})

test('a proxy that refuses is named, and none of another kind is used', async () => {
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9')
  const client = new Callsign({ url: 'https://callsign.example', apiKey, retriesMax: 0 })
  await expect(client.me()).rejects.toMatchObject({ code: 'connection_failed', message: expect.stringContaining('127.0.0.1:9') })
  vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1080')
  await expect(client.me()).rejects.toThrow('not an HTTP proxy')
})

test('the command line makes its first request through the proxy', async () => {
  const environment = { CALLSIGN_URL: 'http://callsign.example', CALLSIGN_API_KEY: apiKey, HTTP_PROXY: proxyUrl }
  for (const args of [
    ['whoami', '--json'],
    ['tunnel', '3000', '--agent', 'sales'],
  ]) {
    seen.length = 0
    await line.start(args, { environment })
    expect(seen[0]).toMatchObject({ line: expect.stringMatching(/^GET http:\/\/callsign\.example\/api\/v1\//), proxyKey })
  }
})
