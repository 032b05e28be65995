// The HTTP edge through real sockets. Covers refusals, their order and wording, and the headers of every answer.
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from '../src/core/errors.ts'
import { Raw, route } from '../src/core/route.ts'
import { type Answer, shapes, speak, startEdge } from './harness/api-edge.ts'

let edge: Awaited<ReturnType<typeof startEdge>>
beforeAll(async () => {
  edge = await startEdge()
})
afterAll(() => edge.server.drain(1000))

const failure = (answer: Answer) =>
  (
    JSON.parse(answer.text) as {
      error: { code: string; message: string; details?: { path: string; message: string }[]; request_id: string }
    }
  ).error
const paths = (answer: Answer) => failure(answer).details?.map((detail) => detail.path)

/** Parses an answer from a raw socket into status, headers and body. */
function parseRaw(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const headers = new Map(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { status: Number(head.split(' ')[1]), headers, body }
}

const raw = async (bytes: string | Buffer) => parseRaw(await speak(edge.port, bytes))
const codeOf = (answer: { body: string }) => (JSON.parse(answer.body) as { error: { code: string } }).error.code

const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer owner\r\nConnection: close\r\n${more}\r\n`

describe('order of refusals', () => {
  test('an unknown path is 404 and a known path with another method 405 with Allow, both before any key is asked for', async () => {
    const missing = await edge.call('/api/v1/nothing', { key: '' })
    expect([missing.status, failure(missing).code]).toEqual([404, 'not_found'])
    const wrong = await edge.call('/api/v1/notes/x', { key: '', method: 'PUT', body: '{}' })
    expect([wrong.status, failure(wrong).code, wrong.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'DELETE, GET, HEAD'])
    expect((await edge.call('/healthz', { method: 'POST', key: '' })).headers.get('allow')).toBe('GET, HEAD')
    expect((await raw(head('PROPFIND /api/v1/notes'))).headers.get('allow')).toBe('POST')
    expect((await edge.call('/api/v1/notes/')).status).toBe(404)
    expect((await edge.call('/API/v1/notes', { method: 'POST' })).status).toBe(404)
  })

  test('a missing, malformed or unknown key is 401 before the body is read', async () => {
    for (const authorization of ['', 'Basic b3duZXI=', 'Bearer', 'Bearer nobody', 'Bearer owner extra', 'Bearer ownér']) {
      const answer = await edge.call('/api/v1/notes', {
        key: '',
        method: 'POST',
        body: 'not json',
        headers: authorization ? { authorization } : {},
      })
      expect([authorization, answer.status, failure(answer).code, answer.headers.get('www-authenticate')]).toEqual([
        authorization,
        401,
        'unauthorized',
        'Bearer',
      ])
    }
    expect((await edge.call('/api/v1/notes/x', { key: '', headers: { authorization: 'bearer owner' } })).status).toBe(200)
  })

  test('an agent key on an organization operation is 403 before its parameters are checked', async () => {
    expect((await edge.call('/api/v1/notes/x', { key: 'agent', method: 'DELETE', body: '{' })).status).toBe(403)
    expect((await edge.call('/api/v1/notes/x', { method: 'DELETE' })).status).toBe(204)
  })

  test('a wrong content type is 415, and a malformed or missing body 400', async () => {
    const body = '{"subject":"a"}'
    for (const type of ['text/plain', 'application/jsonp', 'application/json; charset=latin1', 'multipart/form-data', ';;']) {
      const answer = await edge.call('/api/v1/notes', { method: 'POST', body, headers: { 'content-type': type } })
      expect([type, answer.status, failure(answer).code]).toEqual([type, 415, 'unsupported_media_type'])
    }
    expect((await edge.call('/api/v1/notes', { method: 'POST', body, headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
    expect((await raw(`${head('POST /api/v1/notes', 'Content-Length: 2\r\n')}{}`)).status).toBe(415)
    expect(
      (await edge.call('/api/v1/notes', { method: 'POST', body, headers: { 'content-type': 'Application/JSON; charset="UTF-8"' } })).status,
    ).toBe(201)
    // A byte order mark, as PowerShell and some editors write it.
    expect((await edge.call('/api/v1/notes', { method: 'POST', body: `\ufeff${body}` })).status).toBe(201)
    for (const text of ['{', '{"subject":"a"', "{'subject':1}", '{"subject":"a\nb"}', '\ufeff\ufeff{}', '{}\ufeff', '[1,]', '{}x']) {
      const answer = await edge.call('/api/v1/notes', { method: 'POST', body: text })
      expect([text, answer.status, failure(answer).code]).toEqual([text, 400, 'validation_error'])
    }
    for (const text of ['[]', '"a"', '1', 'true', 'null'])
      expect((await edge.call('/api/v1/notes', { method: 'POST', body: text })).status).toBe(400)
    expect(failure(await edge.call('/api/v1/notes', { method: 'POST' })).message).toContain('A JSON body is required')
    expect((await edge.call('/api/v1/notes', { method: 'POST', headers: { 'content-type': 'application/json' } })).status).toBe(400)
    expect((await edge.call('/api/v1/uploads', { method: 'POST', headers: { 'content-type': 'application/json' } })).text).toBe(
      '{"size":0}',
    )
  })

  test('a raw body is passed on byte for byte with its content type, target and headers', async () => {
    const body = Buffer.from([0, 1, 0x7b, 0xff, 0x20, 0x0a])
    for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain']) {
      const headers = { 'content-type': type, 'x-signature': 'abc' }
      const answer = await edge.call('/hooks/x?b=2&a=%7E', { key: '', method: 'POST', body, headers })
      expect(JSON.parse(answer.text)).toEqual({ target: '/hooks/x?b=2&a=%7E', body: body.toString('base64'), signature: 'abc' })
    }
    expect(JSON.parse((await edge.call('/hooks/x', { key: '', method: 'POST' })).text).body).toBe('')
    expect((await edge.call('/hooks/x', { key: '', method: 'POST', body: Buffer.alloc(65) })).status).toBe(413)
    expect((await edge.call('/hooks/x', { key: '', method: 'POST', body, headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
    const chunk = 'x'.repeat(65)
    const chunked = `POST /hooks/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n41\r\n${chunk}\r\n0\r\n\r\n`
    expect(await speak(edge.port, chunked)).toContain('HTTP/1.1 413')
  })

  test('a body beyond the limit of its operation is 413, announced or not', async () => {
    const large = JSON.stringify({ subject: 'x'.repeat(1024 * 1024) })
    const announced = await edge.call('/api/v1/notes', { method: 'POST', body: large })
    expect([announced.status, failure(announced).code]).toEqual([413, 'payload_too_large'])
    const chunks = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 20; i++) controller.enqueue(Buffer.alloc(100_000, 0x20))
        controller.close()
      },
    })
    const init = { method: 'POST', body: chunks, duplex: 'half', headers: { 'content-type': 'application/json' } } as RequestInit
    expect((await edge.call('/api/v1/notes', init)).status).toBe(413)
    const content = 'a'.repeat(30 * 1024 * 1024)
    expect((await edge.post('/api/v1/uploads', { content })).text).toBe(`{"size":${content.length}}`)
    expect((await edge.post('/api/v1/uploads', { content: 'a'.repeat(41 * 1024 * 1024) })).status).toBe(413)
  })

  /** Starts uploads of this key, of which this much arrives. Resolves with the first answer, or null when there is none. */
  async function startUploads(key: string, count: number, bytes: number): Promise<{ answer: string | null; close: () => void }> {
    const upload = `POST /api/v1/uploads HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    const sockets = Array.from({ length: count }, () => connect(edge.port, '127.0.0.1').on('error', () => {}))
    const answers = sockets.map((socket) => new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk)))))
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write(`${upload}Content-Length: ${30 * 1024 * 1024}\r\n\r\n`)
        if (bytes > 0) await new Promise((resolve) => socket.write(Buffer.alloc(bytes, 0x20), resolve))
      }),
    )
    // The server has read each head once a later request is answered.
    await edge.call('/api/v1/notes/x')
    const none = new Promise<null>((resolve) => void setTimeout(resolve, bytes > 0 ? 20_000 : 200, null).unref())
    return { answer: await Promise.race([...answers, none]), close: () => sockets.forEach((socket) => void socket.destroy()) }
  }
  const uploadNow = async (key: string): Promise<number> =>
    (await edge.call('/api/v1/uploads', { key, method: 'POST', body: JSON.stringify({ content: 'a'.repeat(30 * 1024 * 1024) }) })).status

  test('idle requests of one agent key hold no memory, whatever length they announce', async () => {
    const idle = await startUploads('agent', 40, 0)
    expect(idle.answer).toBeNull()
    expect(await uploadNow('agent')).toBe(200)
    expect(await uploadNow('owner')).toBe(200)
    idle.close()
  })

  test('bodies of one key are refused at its limit, those of others pass, and there is room again afterwards', async () => {
    const held = await startUploads('agent', 5, 29 * 1024 * 1024)
    expect(held.answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(held.answer).toContain('"unavailable"')
    expect(await uploadNow('agent')).toBe(503)
    expect((await edge.call('/api/v1/notes', { key: 'agent', method: 'POST', body: '{"subject":"small"}' })).status).toBe(201)
    expect(await uploadNow('owner')).toBe(200)
    held.close()
    await expect.poll(() => uploadNow('agent')).toBe(200)
  })

  test('100-continue is sent only for a request whose body is accepted', async () => {
    const ask = (key: string, length: number) =>
      `POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
    expect(await speak(edge.port, ask('nobody', 2))).toMatch(/^HTTP\/1\.1 401 /)
    expect(await speak(edge.port, ask('owner', 2_000_000))).toMatch(/^HTTP\/1\.1 413 /)
    const text = await speak(edge.port, `${ask('owner', 2)}{}`, (got) => got.includes('note_'))
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /)
    const other = await raw(head('POST /api/v1/notes', 'Expect: tea\r\nContent-Length: 2\r\n'))
    expect([other.status, codeOf(other)]).toEqual([417, 'expectation_failed'])
  })

  test('a request that is refused behind an open response is not answered in its place', async () => {
    const ping = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'
    const refused = ['GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 'CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n']
    for (const bytes of refused) expect(await speak(edge.port, ping + bytes)).not.toMatch(/ 4\d\d /)
    expect((await raw(refused[1] as string)).status).toBe(400)
    expect(await speak(edge.port, ping, (got) => got.includes('"status"'))).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('validation', () => {
  test('bodies are not converted, and an explicit null stays null', async () => {
    expect(JSON.parse((await edge.post('/api/v1/notes', { subject: null, to: 'abc' })).text)).toMatchObject({ subject: null, to: ['abc'] })
    for (const body of [
      { subject: 12 },
      { subject: false },
      { to: null },
      { to: 5 },
      { count: '1' },
      { count: null },
      { count: 1.5 },
      { kind: 'c' },
      { headers: { a: 1 } },
      { headers: { 'a\nb': {} } },
    ]) {
      const answer = await edge.post('/api/v1/notes', body)
      expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 400])
    }
  })

  test('queries are converted to their types', async () => {
    const answer = await edge.call('/api/v1/notes/x?limit=7&is_read=true&after=2026-01-31T09:30:00.000%2B02:00')
    expect(JSON.parse(answer.text)).toEqual({ id: 'x', query: { limit: 7, is_read: true, after: '2026-01-31T09:30:00.000+02:00' } })
    expect(JSON.parse((await edge.call('/api/v1/notes/a%20b%2Fc')).text)).toEqual({ id: 'a b/c', query: { limit: 50 } })
  })

  test('each wrong field is named with its expected value', async () => {
    const answer = await edge.post('/api/v1/notes', { subject: 5, to: ['abc', 7], kind: 'c', count: -1, 'a/b~c': 1, sbject: 'x' })
    expect([answer.status, failure(answer).code]).toEqual([400, 'validation_error'])
    expect(failure(answer).details).toEqual(
      expect.arrayContaining([
        { path: '/subject', message: 'must be a string or null' },
        { path: '/to/1', message: 'must be a string' },
        { path: '/kind', message: 'must be one of: a, b' },
        { path: '/count', message: 'must be at least 0' },
        { path: '/a~1b~0c', message: 'is not a known field: use subject, to, kind, count, headers' },
        { path: '/sbject', message: 'is not a known field: use subject, to, kind, count, headers' },
      ]),
    )
    expect(failure(answer).details).toHaveLength(6)
    expect(failure(await edge.post('/api/v1/notes', { to: 5 })).details).toEqual([{ path: '/to', message: 'must be a string or a list' }])
    expect(failure(await edge.post('/api/v1/notes', { to: 'a' })).details).toEqual([
      { path: '/to', message: 'must have at least 3 characters' },
    ])
    expect(failure(await edge.post('/api/v1/agents/a/notes', {})).details).toEqual([{ path: '/subject', message: 'is missing' }])
    const query = await edge.call('/api/v1/notes/x?limit=0&q=1&is_read=maybe')
    expect(failure(query).details).toEqual(
      expect.arrayContaining([
        { path: '/limit', message: 'must be at least 1' },
        expect.objectContaining({ path: '/q' }),
        { path: '/is_read', message: 'must be true or false' },
      ]),
    )
    expect(paths(await edge.call('/api/v1/notes/x?limit=1&limit=2'))).toEqual(['/limit'])
  })

  test('dates have to exist', async () => {
    const wrong = [
      '2026-02-30T00:00:00Z',
      '2026-01-01',
      '2026-01-01 00:00:00Z',
      '2026-01-01T00:00:00',
      '2026-13-01T00:00:00Z',
      '2026-01-01T24:00:01Z',
      '0000-01-01T00:00:00Z',
      'now',
    ]
    for (const after of wrong) {
      const answer = await edge.call(`/api/v1/notes/x?after=${encodeURIComponent(after)}`)
      expect([after, answer.status]).toEqual([after, 400])
    }
    expect((await edge.call('/api/v1/notes/x?after=2024-02-29T23:59:59.123456Z')).status).toBe(200)
  })

  test('the list of errors is bounded for any number of them', async () => {
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field${i}`, i]))
    expect(failure(await edge.post('/api/v1/notes', fields)).details).toHaveLength(20)
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i]))
    expect(failure(await edge.post('/api/v1/notes', many)).details).toHaveLength(1)
    const long = await edge.post('/api/v1/notes', { ['k'.repeat(100_000)]: 1 })
    expect([long.status, long.text.length < 1000]).toEqual([400, true])
  })
})

describe('hostile input is a clean 4xx', () => {
  const bodies: [string, string][] = [
    ['__proto__', '{"__proto__":{"a":1}}'],
    ['__proto__ by escapes', '{"\\u005f_proto__":{"a":1}}'],
    ['__proto__ deep down', '{"headers":{"a":{"__proto__":null}}}'],
    ['constructor.prototype', '{"constructor":{"prototype":{"a":1}}}'],
    ['depth', `{"to":${'['.repeat(33)}${']'.repeat(33)}}`],
    ['great depth', '['.repeat(500_000)],
    ['great depth of objects', '{"a":'.repeat(100_000)],
    ['very many values', `{"to":[${'1,'.repeat(200_000)}1]}`],
    ['NUL', '{"subject":"a\\u0000b"}'],
    ['NUL in a name', '{"a\\u0000b":1}'],
    ['lone surrogate', '{"subject":"\\ud83d"}'],
    ['lone surrogate in a name', '{"headers":{"\\udc00":"x"}}'],
    ['unsafe integer', '{"count":9007199254740993}'],
    ['infinite number', '{"count":1e400}'],
    ['negative infinity', '{"count":-1e999}'],
    ['very long string', JSON.stringify({ subject: 'x'.repeat(900_000) })],
  ]
  test.each(bodies)('%s in a body', async (_name, body) => {
    const answer = await edge.call('/api/v1/notes', { method: 'POST', body })
    expect([answer.status, failure(answer).code]).toEqual([400, 'validation_error'])
    expect(answer.text.length).toBeLessThan(2000)
  })

  test('a whole surrogate pair, escaped or not, and 32 levels are accepted', async () => {
    const answer = await edge.call('/api/v1/notes', { method: 'POST', body: '{"subject":"\\ud83d\\ude00 😀"}' })
    expect(JSON.parse(answer.text)).toMatchObject({ subject: '😀 😀' })
    expect(
      failure(await edge.call('/api/v1/notes', { method: 'POST', body: `{"to":${'['.repeat(31)}${']'.repeat(31)}}` })).details,
    ).toBeDefined()
  })

  test('invalid UTF-8 in a body', async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"subject":"'), Buffer.from(bytes), Buffer.from('"}')])
      expect(failure(await edge.call('/api/v1/notes', { method: 'POST', body })).message).toContain('UTF-8')
    }
  })

  const targets: [string, string, number][] = [
    ['malformed escape in the path', '/api/v1/notes/%zz', 400],
    ['invalid UTF-8 in the path', '/api/v1/notes/%ff', 400],
    ['malformed escape in the query', '/api/v1/notes/x?cursor=%', 400],
    ['invalid UTF-8 in the query', '/api/v1/notes/x?cursor=%c0%80', 400],
    ['lone surrogate in the query', '/api/v1/notes/x?cursor=%ed%a0%80', 400],
    ['NUL in the path', '/api/v1/notes/a%00b', 400],
    ['NUL in the query', '/api/v1/notes/x?cursor=a%00b', 400],
    ['NUL in a query name', '/api/v1/notes/x?a%00b=1', 400],
    ['__proto__ in the query', '/api/v1/notes/x?__proto__=1', 400],
    ['unsafe integer in the query', '/api/v1/notes/x?count=9007199254740993', 400],
    ['infinite number in the query', '/api/v1/notes/x?count=1e999', 400],
    ['a path over 8 KB', `/api/v1/notes/${'a'.repeat(9000)}`, 414],
    ['a query over 8 KB', `/api/v1/notes/x?cursor=${'a'.repeat(9000)}`, 414],
    ['a long parameter', `/api/v1/notes/${'a'.repeat(5000)}`, 404],
    ['a malformed path that nobody has', '/%', 400],
  ]
  test.each(targets)('%s', async (_name, target, status) => {
    const answer = await raw(head(`GET ${target}`))
    expect(answer.status).toBe(status)
    expect(codeOf(answer)).toBe({ 400: 'validation_error', 404: 'not_found', 414: 'uri_too_long' }[status])
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  })

  const refused: [string, string, number, string][] = [
    [
      'two Authorization headers',
      'GET /api/v1/notes/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer owner\r\nauthorization: Bearer nobody\r\nConnection: close\r\n\r\n',
      400,
      'validation_error',
    ],
    ['two Host headers', 'GET /api/v1/notes/x HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400, 'validation_error'],
    ['no Host header', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'validation_error'],
    ['two lengths', 'POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 400, 'validation_error'],
    [
      'length and chunks',
      'POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'validation_error',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'validation_error'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'validation_error'],
    ['a header with a bare line feed', 'GET /healthz HTTP/1.1\r\nHost: a\nX: y\r\n\r\n', 400, 'validation_error'],
    ['headers over 16 KB', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'validation_error'],
    [
      'a malformed chunk',
      `${head('POST /api/v1/notes', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n')}zz\r\n`,
      400,
      'validation_error',
    ],
  ]
  test.each(refused)('%s', async (_name, bytes, status, code) => {
    const answer = await raw(Buffer.from(bytes, 'latin1'))
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(answer.headers.get('connection')).toBe('close')
  })

  test('a body on GET, or on an operation without a body, is ignored', async () => {
    expect((await raw(`${head('GET /api/v1/notes/x', 'Content-Type: application/json\r\nContent-Length: 1\r\n')}{`)).status).toBe(200)
    expect(
      (await edge.call('/api/v1/notes/x', { method: 'DELETE', body: 'not json', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(204)
  })

  test('a request target in absolute form and HTTP/1.0 without Host are accepted', async () => {
    expect((await raw(head('GET http://a/api/v1/notes/x?limit=3'))).body).toContain('"limit":3')
    expect((await raw('GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test('a body shorter than announced ends the connection, and the operation does not run', async () => {
    const before = edge.harness.written.length
    const socket = connect(edge.port, '127.0.0.1')
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.end(`${head('POST /api/v1/notes', 'Content-Type: application/json\r\nContent-Length: 100\r\n')}{"subject":"half"}`)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    await closed
    if (text !== '') expect(parseRaw(text).status).toBe(400)
    expect(edge.harness.written.length).toBe(before)
  })
})

describe('answers', () => {
  test('every answer has a request id and the security headers', async () => {
    for (const [path, init] of [
      ['/api/v1/notes/x', {}],
      ['/nothing', {}],
      ['/api/v1/notes', { method: 'PATCH' }],
      ['/healthz', {}],
      ['/api/v1/failures/bug', {}],
      ['/api/v1/notes/x', { key: '' }],
    ] as const) {
      const { headers } = await edge.call(path, init)
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  test('an error has exactly the body of the contract, without internals', async () => {
    const known = await edge.call('/api/v1/failures/known')
    expect(JSON.parse(known.text)).toEqual({
      error: {
        code: 'conflict',
        message: 'It is taken.',
        details: [{ path: '/x', message: 'is taken' }],
        request_id: known.headers.get('x-request-id'),
      },
    })
    for (const kind of ['bug', 'reply']) {
      const bug = await edge.call(`/api/v1/failures/${kind}`)
      expect([bug.status, failure(bug).code, failure(bug).request_id]).toEqual([500, 'internal_error', bug.headers.get('x-request-id')])
      expect(bug.text).not.toMatch(/secret_table|10\.1\.2\.3|needed|at /)
    }
    const away = await edge.call('/api/v1/failures/database')
    expect([away.status, failure(away).code]).toEqual([503, 'unavailable'])
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(away.text).not.toContain('10.1.2.3')
    const line = edge.harness.lines().findLast((entry) => entry.status === 500)
    expect(JSON.stringify(line)).toContain('needed')
  })

  test('an answer that is not JSON is sent unchanged, streamed or not', async () => {
    for (const name of ['bytes', 'stream']) {
      const answer = await edge.call(`/media/${name}`, { key: '' })
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, 'abcd', 'application/octet-stream'])
      expect(answer.headers.get('content-disposition')).toBe('attachment')
    }
    expect((await edge.call('/media/missing', { key: '' })).status).toBe(404)
  })

  test('HEAD answers like GET, without a body', async () => {
    const answer = await raw(head('HEAD /api/v1/notes/x'))
    expect([answer.status, answer.body]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0)
  })

  test('each request logs one line, without its query, its key or its body', async () => {
    const answer = await edge.call('/api/v1/notes/canary_path?cursor=canary_query')
    const requestId = answer.headers.get('x-request-id')
    const lines = edge.harness.lines().filter((line) => line.request_id === requestId)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 'info',
      method: 'GET',
      route: '/api/v1/notes/{note_id}',
      status: 200,
      key_id: 'key_owner',
      bytes: answer.text.length,
    })
    expect(lines[0]?.ms).toBeTypeOf('number')
    expect(JSON.stringify(edge.harness.lines())).not.toMatch(/canary|Bearer/)
  })
})

describe('limits', () => {
  // Limits give back requests as time passes, also between two requests.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  test('a key over its burst has to wait, and other keys do not', async () => {
    const limited = await startEdge({
      limits: { organizationKeyPerSecond: 0.5, organizationKeyBurst: 3, agentKeyPerSecond: 1, agentKeyBurst: 1 },
    })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await limited.call('/api/v1/notes/x')).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    const refused = await limited.call('/api/v1/notes', { method: 'POST', body: 'not json' })
    expect([refused.status, failure(refused).code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '2'])
    expect((await limited.call('/api/v1/notes/x', { key: 'second' })).status).toBe(200)
    expect([
      (await limited.call('/api/v1/notes/x', { key: 'agent' })).status,
      (await limited.call('/api/v1/notes/x', { key: 'agent' })).status,
    ]).toEqual([200, 429])
    await limited.server.drain(1000)
  })

  test('an address that guesses keys has to wait, and a good key from the same address does not', async () => {
    const limited = await startEdge()
    const statuses = new Set<number>()
    for (let i = 0; i < 300; i++) statuses.add((await limited.call('/api/v1/notes/x', { key: 'nobody' })).status)
    expect([...statuses]).toEqual([401, 429])
    expect((await limited.call('/api/v1/notes/x')).status).toBe(200)
    await limited.server.drain(1000)
  })
})

describe('a request that does not arrive completely', () => {
  test.each([
    ['with a length', 'Content-Length: 50\r\n', '{"subject":'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '4\r\n{"su\r\n'],
    ['drop by drop', 'Content-Length: 50\r\n', ''],
  ])('%s is 408 after its time limit, and the operation does not run', async (_name, framing, begun) => {
    const own = await startEdge({ arrival: { totalMs: 200 } })
    const socket = connect(own.port, '127.0.0.1').on('error', () => {})
    const started = performance.now()
    socket.write(head('POST /api/v1/notes', `Content-Type: application/json\r\n${framing}`) + begun)
    const drops = begun === '' ? setInterval(() => socket.write(' '), 20) : undefined
    const [answer] = (await once(socket, 'data')) as [Buffer]
    clearInterval(drops)
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 .*"request_timeout"/s)
    expect(performance.now() - started).toBeGreaterThan(150)
    if (!socket.closed) await once(socket, 'close')
    expect(own.harness.written).toEqual([])
    await own.server.drain(1000)
  })

  test('a body that arrives more slowly than the minimum is 408, and a fast one passes the same windows', async () => {
    const own = await startEdge({ arrival: { windowMs: 100, windowBytesMin: 1000 } })
    const send = async (bytes: number): Promise<string> => {
      const socket = connect(own.port, '127.0.0.1').on('error', () => {})
      socket.write(head('POST /api/v1/notes', 'Content-Type: application/json\r\nContent-Length: 100000\r\n'))
      let left = 100_000 - 2
      const drops = setInterval(() => {
        const next = Math.min(bytes, left)
        left -= next
        socket.write(left > 0 ? ' '.repeat(next) : `${' '.repeat(next)}{}`)
        if (left === 0) clearInterval(drops)
      }, 20)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      clearInterval(drops)
      socket.destroy()
      return answer.toString().split('\r\n', 1)[0] as string
    }
    expect(await send(100)).toContain(' 408 ')
    // Bytes that this process writes late count as slow, so one of five is enough.
    let fast = ''
    for (let round = 0; round < 5 && !fast.includes(' 201 '); round++) fast = await send(4000)
    expect(fast).toContain(' 201 ')
    await own.server.drain(1000)
  })

  test('a complete request may take any time, and its connection serves the next one', async () => {
    const own = await startEdge({ arrival: { totalMs: 50 } })
    own.harness.holds = true
    const socket = connect(own.port, '127.0.0.1')
    const post = head('POST /api/v1/notes', 'Content-Type: application/json\r\nContent-Length: 15\r\n').replace('close', 'keep-alive')
    const answers: string[] = []
    socket.on('data', (bytes: Buffer) => answers.push(bytes.toString().slice(0, 12)))
    socket.write(`${post}{"subject":"a"}`)
    await own.harness.held()
    // The time of a request that never arrives passes meanwhile.
    const late = connect(own.port, '127.0.0.1').on('error', () => {})
    late.write(head('POST /api/v1/notes', 'Content-Type: application/json\r\nContent-Length: 5\r\n'))
    expect(String(await once(late, 'data'))).toContain(' 408 ')
    own.harness.release()
    await expect.poll(() => answers.length).toBe(1)
    socket.write(`${post}{"subject":"b"}`)
    await expect.poll(() => answers).toEqual(['HTTP/1.1 201', 'HTTP/1.1 201'])
    socket.destroy()
    await own.server.drain(1000)
  })
})

describe('health and figures', () => {
  test('/readyz reports each dependency, and /healthz only the process', async () => {
    expect((await edge.call('/readyz', { key: '' })).text).toBe('{"status":"ready","checks":{"database":true}}')
    for (const readiness of [async () => ({ database: false, worker: true }), async () => Promise.reject(new ApiError('conflict', 'x'))]) {
      const sick = await startEdge({ readiness })
      const answer = await sick.call('/readyz', { key: '' })
      expect([answer.status, JSON.parse(answer.text).status]).toEqual([503, 'unavailable'])
      expect((await sick.call('/healthz', { key: '' })).text).toBe('{"status":"ok"}')
      await sick.server.drain(1000)
    }
  })

  test('metrics count requests by route pattern, and business events', async () => {
    await edge.call('/api/v1/notes/abc')
    await edge.call('/api/v1/notes/abc', { key: 'nobody' })
    const text = await edge.metrics()
    expect(text).toMatch(/http_requests_total\{method="GET",route="\/api\/v1\/notes\/\{note_id\}",status="200"\} \d+/)
    expect(text).toMatch(/http_request_duration_seconds_bucket\{le="0.001",method="GET",route="unmatched"\} \d+/)
    expect(text).toContain('http_requests_in_flight 0')
    expect(text).toMatch(/callsign_keys_refused_total\{reason="unknown"\} \d+/)
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    expect(text).not.toContain('abc')
  })
})

describe('draining', () => {
  test('requests in flight end on connections that then close, and new connections are refused', async () => {
    const edge = await startEdge()
    edge.harness.holds = true
    const waiting = edge.call('/api/v1/wait')
    await edge.harness.held()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (path: string) =>
      new Promise<{ status: number; connection: string | undefined; text: string }>((resolve, reject) => {
        httpRequest({ port: edge.port, host: '127.0.0.1', path, agent }, (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode as number, connection: response.headers.connection, text }))
        })
          .on('error', reject)
          .end()
      })
    expect((await ask('/readyz')).connection).toBe('keep-alive')
    const drained = edge.server.drain(10_000)
    expect(await ask('/readyz')).toEqual({ status: 503, connection: 'close', text: '{"status":"draining","checks":{"database":true}}' })
    await expect(fetch(`http://127.0.0.1:${edge.port}/healthz`)).rejects.toThrow()
    edge.harness.release()
    const answer = await waiting
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    await drained
    agent.destroy()
  })

  test('requests are cut after the grace period, and idle and silent connections do not delay the end', async () => {
    const edge = await startEdge()
    const silent = connect(edge.port, '127.0.0.1')
    await new Promise((resolve) => silent.once('connect', resolve))
    await edge.call('/healthz')
    // A connection that delays the end would delay it for longer than this test may take.
    await edge.server.drain(600_000)

    const stuck = await startEdge()
    stuck.harness.holds = true
    const cut = expect(stuck.call('/api/v1/wait')).rejects.toThrow()
    await stuck.harness.held()
    await stuck.server.drain(300)
    await cut
    stuck.harness.release()
  })

  test('a response that is complete here is not cut before the client has read it', async () => {
    // More than the kernel buffers for a client that does not read.
    const large = Buffer.alloc(16 * 1024 * 1024)
    const reading = await startEdge({ routes: [route(shapes.media, 'agent', async () => new Raw('application/octet-stream', large))] })
    const socket = connect(reading.port, '127.0.0.1')
    socket.write('GET /media/large HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'readable')
    const silent = connect(reading.port, '127.0.0.1')
    await once(silent, 'connect')
    const drained = reading.server.drain(600_000)
    // Closed with the idle ones.
    await once(silent.resume(), 'close')
    let bytes = 0
    for await (const chunk of socket) bytes += (chunk as Buffer).length
    expect(bytes).toBeGreaterThan(large.length)
    await drained
  })

  test('a taken port is an error', async () => {
    await expect(startEdge({ port: edge.port })).rejects.toThrow('EADDRINUSE')
  })
})
