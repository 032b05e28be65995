// The same requests to the target directly and through its tunnel, with three independent clients. The answers are equal.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { promisify } from 'node:util'
import { Agent, WebSocket } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { type Origin, sendNextEvent, startOrigin, type Visit, type VisitOptions, visit } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'

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

/** Headers that hold for one connection only (x-gone, because Connection names it), or that contain the time. */
const perConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-gone'])

function pairs(raw: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) if (!perConnection.has((raw[i] as string).toLowerCase())) kept.push(`${raw[i]}: ${raw[i + 1]}`)
  return kept
}

const told = ({ status, reason, raw, body, trailers, information }: Visit) => ({
  status,
  reason,
  headers: pairs(raw),
  body: body.length > 1000 ? `${body.length} bytes ending in ${body.subarray(-20)}` : body.toString('latin1'),
  trailers: { ...trailers },
  information,
})

async function both(path: string, makeOptions: () => VisitOptions = () => ({})) {
  const direct = await visit(origin.port, `localhost:${origin.port}`, path, makeOptions())
  const directSeen = origin.seen.at(-1)
  const tunnelled = await visit(port, host, path, makeOptions())
  const tunnelSeen = origin.seen.at(-1)
  return { direct, tunnelled, directSeen, tunnelSeen }
}

const chunks = (...texts: string[]) =>
  (async function* () {
    for (const text of texts) yield Buffer.from(text)
  })()

describe('Node’s client', () => {
  const cases: [string, string, (() => VisitOptions)?][] = [
    ['a page', '/plain'],
    ['a query with escapes left as they are', '/a%2Fb/..;/c%20d?x=%00&y=[1]'],
    ['repeated and odd headers, and one that Connection names', '/headers'],
    ['HEAD', '/bytes?size=5000&length', () => ({ method: 'HEAD' })],
    ['HEAD without a length', '/plain', () => ({ method: 'HEAD' })],
    ['204', '/status?code=204'],
    ['304', '/status?code=304'],
    ['404 with a body', '/status?code=404&body=gone'],
    ['an unknown status', '/status?code=799&body=what'],
    ['a redirect', '/status?code=302'],
    ['OPTIONS', '/plain', () => ({ method: 'OPTIONS' })],
    ['a method of its own', '/plain', () => ({ method: 'PROPFIND' })],
    ['DELETE with a body', '/echo', () => ({ method: 'DELETE', body: 'why', headers: { 'content-length': '3' } })],
    ['POST with a length', '/echo', () => ({ method: 'POST', body: 'hello', headers: { 'content-length': '5' } })],
    ['POST of nothing', '/echo', () => ({ method: 'POST', headers: { 'content-length': '0' } })],
    ['PUT in chunks', '/echo', () => ({ method: 'PUT', body: chunks('a', 'bc', 'def') })],
    [
      'trailers of a request',
      '/echo',
      () => ({ method: 'POST', headers: { trailer: 'X-Sum' }, body: chunks('a'), trailers: { 'X-Sum': '7' } }),
    ],
    ['trailers of an answer', '/trailers'],
    ['1xx', '/early'],
    ['100-continue', '/echo', () => ({ method: 'POST', headers: { expect: '100-continue', 'content-length': '4' }, body: 'body' })],
    ['a long answer with a length', '/bytes?size=3000000&length'],
    ['a long answer in chunks', '/bytes?size=3000001'],
    ['a long upload', '/hash', () => ({ method: 'POST', body: Buffer.alloc(3_000_000, 'x'), headers: { 'content-length': '3000000' } })],
    ['a cookie of 8 KB', '/plain', () => ({ headers: { cookie: 'c'.repeat(8192) } })],
    ['150 headers', '/plain', () => ({ headers: Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-h${i}`, String(i)])) })],
  ]

  test.each(cases)('%s', async (_name, path, makeOptions) => {
    const { direct, tunnelled, directSeen, tunnelSeen } = await both(path, makeOptions)
    expect(told(tunnelled)).toEqual(told(direct))
    expect([tunnelSeen?.method, tunnelSeen?.url]).toEqual([directSeen?.method, directSeen?.url])
    const added = /^(host|via|forwarded|x-forwarded-\w+|x-real-ip):/i
    // The server itself answers Expect, at the end. The order of all other headers is the client's.
    const wanted = (raw: string[] = []) => pairs(raw).filter((line) => !added.test(line) && !/^expect:/i.test(line))
    expect(wanted(tunnelSeen?.raw)).toEqual(wanted(directSeen?.raw))
    expect(tunnelSeen?.headers.expect).toBe(directSeen?.headers.expect)
  })

  test('events arrive one by one, as they are sent', async () => {
    const pieces: string[] = []
    // Each event is sent after the previous one has arrived, so a buffering proxy would wait forever.
    const asked = request({ host: '127.0.0.1', port, path: '/events', headers: { host }, agent: false }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    for await (const piece of response) {
      pieces.push(String(piece))
      sendNextEvent()
    }
    expect(pieces).toEqual(['data: 0\n\n', 'data: 1\n\n', 'data: 2\n\n'])
  })

  test('an incomplete answer is cut off, and does not end normally', async () => {
    await expect(visit(origin.port, 'x', '/cut')).rejects.toThrow()
    await expect(visit(port, host, '/cut')).rejects.toThrow(/aborted|hang up|reset/)
  })

  test('an answer before the end of the request arrives', async () => {
    const endless = () =>
      (async function* () {
        for (let i = 0; i < 400; i++) yield Buffer.alloc(65_536)
      })()
    const answer = await visit(port, host, '/reject', { method: 'POST', body: endless() }).catch((error: Error) => error)
    // The connection may be closed under a client that continues to send, but the client must not wait forever.
    if (!(answer instanceof Error)) expect(told(answer)).toMatchObject({ status: 413, body: 'too much' })
  })
})

const curl = promisify(execFile)
const curlPath = '/usr/bin/curl'

const hasCurl = existsSync(curlPath)
describe.skipIf(!hasCurl)(hasCurl ? 'curl' : `curl (skipped: ${curlPath} is missing)`, () => {
  test.each([
    ['a page with its head', '/plain', []],
    ['repeated headers', '/headers', []],
    ['an upload with 100-continue', '/hash', ['-H', 'Expect: 100-continue', '--data-binary', 'x'.repeat(2000)]],
    ['an upload in chunks', '/hash', ['-H', 'Transfer-Encoding: chunked', '--data-binary', 'y'.repeat(70_000)]],
    ['HEAD', '/plain', ['-I']],
    ['HTTP/1.0', '/plain', ['--http1.0']],
    ['a long answer', '/bytes?size=500000', []],
  ])('%s', async (_name, path, options) => {
    const run = async (to: number, name: string) => {
      const { stdout } = await curl(curlPath, ['-s', '-S', '-i', '-H', `Host: ${name}`, ...options, `http://127.0.0.1:${to}${path}`], {
        maxBuffer: 1e7,
      })
      const [head = '', ...rest] = stdout.split('\r\n\r\n')
      // With 100 Continue the first head is that of the hint.
      const heads = head.includes(' 100 ') ? [head, rest.shift() ?? ''] : [head]
      const lines = heads
        .flatMap((one) => one.split('\r\n'))
        .filter((line) => !perConnection.has((line.split(':')[0] as string).toLowerCase()))
      return { lines, body: rest.join('\r\n\r\n') }
    }
    expect(await run(port, host)).toEqual(await run(origin.port, 'localhost'))
  })
})

describe('a WebSocket client', () => {
  type Told = { protocol: string; messages: (string | number)[]; code: number; reason: string; wasClean: boolean }
  const dispatcher = new Agent({ connect: { lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) } })

  const talk = (address: string, path: string, send: (string | Uint8Array)[], closeWith?: [number, string]): Promise<Told> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://${address}${path}`, { protocols: ['chat', 'other'], dispatcher })
      socket.binaryType = 'arraybuffer'
      const messages: (string | number)[] = []
      const told: Told = { protocol: '', messages, code: 0, reason: '', wasClean: false }
      socket.onopen = () => {
        told.protocol = socket.protocol
        for (const one of send) socket.send(one)
      }
      socket.onmessage = ({ data }) => {
        messages.push(typeof data === 'string' ? data : (data as ArrayBuffer).byteLength)
        if (messages.length === send.length && closeWith) socket.close(...closeWith)
      }
      socket.onclose = ({ code, reason, wasClean }) => resolve({ ...told, code, reason, wasClean })
      socket.onerror = () => reject(new Error('the WebSocket failed'))
    })

  test.each<[string, string, (string | Uint8Array)[], [number, string] | undefined]>([
    ['text and binary, closed by the client', '/socket', ['hello', new Uint8Array(10), 'ünï'], [4001, 'done']],
    ['a message of 1 MB', '/socket', [new Uint8Array(1_000_000)], [1000, '']],
    ['closed by the target with a code of its own', '/close/4321', [], undefined],
  ])('%s', async (_name, path, send, closeWith) => {
    const direct = await talk(`localhost:${origin.port}`, path, send, closeWith)
    const tunnelled = await talk(`${host}:${port}`, path, send, closeWith)
    expect(tunnelled).toEqual(direct)
    expect(tunnelled.protocol).toBe('chat')
  })

  test("a target's refusal to upgrade is passed on", async () => {
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const { direct, tunnelled } = await both('/refuse', () => ({ headers: upgrade }))
    expect(told(tunnelled)).toEqual(told(direct))
    expect(tunnelled.status).toBe(418)
  })
})
