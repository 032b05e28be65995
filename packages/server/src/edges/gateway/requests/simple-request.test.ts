// Requests read without Node's parser: a small subset, with exactly Node's result.
import { createServer, METHODS } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectCost } from '../../../../../mail/tests/harness/cost.ts'
import { SimpleRequestReader } from './simple-request.ts'

const publicClient = { address: '192.0.2.7', protocol: 'http' as const, port: 8080, isTrusted: false, trusts: () => false }
const create = () =>
  new SimpleRequestReader({
    findPublicClient: () => publicClient,
    findHandle: (host) => (host.startsWith('sales.') ? 'sales' : null),
  })
const host = 'Host: sales.tunnel.test\r\n'

test('a simple request goes on as any other does, and the next begins behind it', () => {
  const text = `GET /a?b=1 HTTP/1.1\r\n${host}X-Odd:  caf\u00e9 \t\r\nEmpty:\r\nConnection: Keep-Alive\r\n\r\nHEAD / HTTP/1.1\r\n${host}Connection: close\r\n\r\nrest`
  const reader = create()
  const first = reader.read(text, 0)
  expect(first).toMatchObject({ handle: 'sales', shouldKeepAlive: true })
  expect(first?.head).toMatchObject({ method: 'GET', target: '/a?b=1', versionMinor: 1 })
  expect(first?.head.fields).toMatchObject({ body: 'none', expectsContinue: false, publicAddress: '192.0.2.7' })
  expect(first?.head.toBytes({ host: 'localhost:3000', origin: 'http://localhost:3000' }).toString('latin1')).toBe(
    'GET /a?b=1 HTTP/1.1\r\nHost: localhost:3000\r\nX-Odd: caf\u00e9\r\nEmpty: \r\n' +
      'X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: sales.tunnel.test\r\nX-Forwarded-Port: 8080\r\n' +
      'X-Real-IP: 192.0.2.7\r\nForwarded: for=192.0.2.7;host="sales.tunnel.test";proto=http\r\nVia: 1.1 callsign\r\n\r\n',
  )
  const second = reader.read(text, first?.end as number)
  expect(second).toMatchObject({ shouldKeepAlive: false, head: { method: 'HEAD', target: '/' } })
  expect(text.slice(second?.end)).toBe('rest')
})

test.each(['get', 'TRACES', 'untrace', 'connected'])('the method %s of its own is read', (method) => {
  expect(create().read(`${method} / HTTP/1.1\r\n${host}\r\n`, 0)?.head.method).toBe(method)
})

test('header lines that come again are remembered, others not taken for them', () => {
  const reader = create()
  const read = (lines: string) => reader.read(`GET / HTTP/1.1\r\n${host}${lines}\r\n`, 0)?.head.fields
  const first = read('X: 1\r\n')
  expect(read('X: 1\r\n')).toBe(first)
  expect(read('X: 2\r\n')?.lines).toContain('X: 2\r\n')
  expect(read('Content-Length: 1\r\n')).toBeUndefined()
  expect(read('X: 2\r\n')?.lines).toContain('X: 2\r\n')
})

test.each([
  ['not whole', `GET / HTTP/1.1\r\n${host}`],
  ['a body', `GET / HTTP/1.1\r\n${host}Content-Length: 1\r\n\r\nx`],
  ['a length of nothing', `GET / HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`],
  ['chunks', `GET / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['an upgrade', `GET / HTTP/1.1\r\n${host}Upgrade: websocket\r\n\r\n`],
  ['Expect', `GET / HTTP/1.1\r\n${host}Expect: 100-continue\r\n\r\n`],
  ['Connection that names others', `GET / HTTP/1.1\r\n${host}Connection: x\r\nX: 1\r\n\r\n`],
  ['TRACE in any case', `trace / HTTP/1.1\r\n${host}\r\n`],
  ['CONNECT in any case', `Connect / HTTP/1.1\r\n${host}\r\n`],
  ['another method', `DELETE / HTTP/1.1\r\n${host}\r\n`],
  ['HTTP/1.0', `GET / HTTP/1.0\r\n${host}\r\n`],
  ['an absolute target', `GET http://sales.tunnel.test/ HTTP/1.1\r\n${host}\r\n`],
  ['a fragment', `GET /#a HTTP/1.1\r\n${host}\r\n`],
  ['a target that is not ASCII', `GET /\u00e9 HTTP/1.1\r\n${host}\r\n`],
  ['two blanks', `GET  / HTTP/1.1\r\n${host}\r\n`],
  ['no Host', 'GET / HTTP/1.1\r\nX: 1\r\n\r\n'],
  ['no header', 'GET / HTTP/1.1\r\n\r\n'],
  ['two Hosts', `GET / HTTP/1.1\r\n${host}${host}\r\n`],
  ['a Host elsewhere', 'GET / HTTP/1.1\r\nHost: api.test\r\n\r\n'],
  ['a Host with a port that is none', 'GET / HTTP/1.1\r\nHost: sales.tunnel.test:x\r\n\r\n'],
  ['a name twice', `GET / HTTP/1.1\r\n${host}X: 1\r\nx: 2\r\n\r\n`],
  ['a folded line', `GET / HTTP/1.1\r\n${host}X: 1\r\n 2\r\n\r\n`],
  ['a blank before the colon', `GET / HTTP/1.1\r\n${host}X : 1\r\n\r\n`],
  ['a bare line feed', `GET / HTTP/1.1\r\n${host}X: 1\nY: 2\r\n\r\n`],
  ['a bare carriage return', `GET / HTTP/1.1\r\n${host}X: 1\rY: 2\r\n\r\n`],
  ['a NUL', `GET / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`],
  ['an empty line before', `\r\nGET / HTTP/1.1\r\n${host}\r\n`],
  ['a round trip', `GET / HTTP/1.1\r\n${host}Via: 1.1 callsign, 1.1 callsign, 1.1 callsign, 1.1 callsign\r\n\r\n`],
  ['a head of 17 KB', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(17_000)}\r\n\r\n`],
])('%s is left to Node', (_name, text) => {
  expect(create().read(text, 0)).toBeNull()
})

test('an unknown method of a request to a tunnel is found, whole or not', () => {
  const read = (text: string) => create().readUnknownMethod(`x${text}`, 1)
  const length = 'Content-Length: 1\r\n'
  expect(read(`BAN / HTTP/1.1\r\n${host}${length}\r\nx`)).toEqual({ method: 'BAN', isWhole: true })
  expect(read(`BAN / HTTP/1.1\r\n${host}`)).toEqual({ method: 'BAN', isWhole: false })
  for (const text of [
    `POST / HTTP/1.1\r\n${host}${length}\r\nx`,
    `trace / HTTP/1.1\r\n${host}${length}\r\nx`,
    `BAN / HTTP/1.0\r\n${host}${length}\r\nx`,
    `BAN http://sales.tunnel.test/ HTTP/1.1\r\n${host}${length}\r\nx`,
    `BAN / HTTP/1.1\r\nHost: api.test\r\n${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${host}${host}${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${length}\r\nx`,
    `BAN / HTTP/1.1\r\n${host}Content-Length : 1\r\n\r\nx`,
    `BAN / HTTP/1.1\r\n${host}X: 1\r\n Host: api.test\r\n\r\n`,
    `BAN / HTTP/1.1\r\n${host}X: ${'x'.repeat(17_000)}`,
    `${'B'.repeat(33)} / HTTP/1.1\r\n${host}\r\n`,
    'BAN',
  ])
    expect(read(text), text.slice(0, 60)).toBeNull()
})

test('a name that objects have of themselves is a header like others', () => {
  const head = create().read(`GET / HTTP/1.1\r\n${host}__proto__: x\r\nconstructor: y\r\n\r\n`, 0)?.head
  expect(head?.fields.lines).toContain('__proto__: x\r\nconstructor: y\r\n')
})

test('a long run of blanks costs no time of its own', async () => {
  // Retrying from each blank would take seconds.
  await expectCost(() => {
    for (let i = 0; i < 20; i++) create().read(`GET / HTTP/1.1\r\n${host}X: a${' '.repeat(16_000)}\u0001\r\n\r\n`, 0)
  }, 500)
})

/** The requests that Node's server reads from these bytes, in order. */
async function askNode(text: string): Promise<[string, string, string[]][]> {
  const seen: [string, string, string[]][] = []
  const server = createServer({ requireHostHeader: false }, ({ method = '', url = '', rawHeaders }, response) => {
    seen.push([method, url, rawHeaders])
    response.end()
  })
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('data', () => {})
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.write(Buffer.from(`${text}GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'))
  })
  await new Promise((resolve) => server.close(resolve))
  return seen
}

test('whatever is accepted Node reads the same way, to the byte where it ends', async () => {
  const odd = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 4 })
  const often = (good: string[], weight = 20) => fc.oneof({ weight, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: odd })
  const field = fc
    .tuple(
      often(['X-A', 'accept', 'Cookie', 'TE', 'Keep-Alive', 'a_b', 'Range', '__proto__', 'Trailer', 'If-None-Match']),
      often([':', ': ', ':\t ', ' :'], 40),
      often(['', '1', 'caf\u00e9', 'a b\tc', '"x", y;q=0.5', 'trailers', '\u0080\u00ff']),
      often(['', '', ' ', '\t'], 40),
      often(['\r\n', '\r\n', '\r\n', '\n', '\r\n '], 60),
    )
    .map((parts) => parts.join(''))
  const request = fc
    .tuple(
      often(['GET', 'HEAD', 'GET', 'POST'], 60),
      often([' ', ' ', '\t'], 60),
      often(['/', '/a/b?c=d&e=%00', '/..//x', '/{|}^`"<>\\', '*', '/a#b']),
      often([' HTTP/1.1\r\n', ' HTTP/1.1\r\n', ' HTTP/1.0\r\n', ' HTTP/1.1\n'], 60),
      fc.array(field, { maxLength: 4 }),
    )
    .map(([method, blank, target, version, fields]) => `${method}${blank}${target}${version}${host}${fields.join('')}\r\n`)
  const accepted: string[] = []
  const wanted: [string, string, string[]][] = []
  // One in twenty is simple enough.
  while (accepted.length < 1000) {
    for (const text of fc.sample(request, 5000)) {
      const read = create().read(text, 0)
      if (!read?.shouldKeepAlive) continue
      // An early end of the head leaves the rest to the next request.
      // Node refuses methods that it does not know, and reads the rest as it would with one that it knows.
      const method = METHODS.includes(read.head.method) ? read.head.method : 'GET'
      accepted.push(method + text.slice(read.head.method.length, read.end))
      wanted.push([method, read.head.target, read.head.fields.raw])
    }
  }
  const seen = await askNode(accepted.join(''))
  expect(seen.length).toBe(wanted.length + 1)
  expect(seen.slice(0, -1)).toEqual(wanted)
})
