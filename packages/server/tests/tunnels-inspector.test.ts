// The inspector. Covers recent requests, the parts that are stored and left out, and replays.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { type Origin, startOrigin, visit } from './harness/origin.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
let listener: TunnelListener
let port: number
const host = 'sales.tunnel.localhost'
beforeAll(async () => {
  harness = await startHarness()
  origin = await startOrigin()
  for (const handle of ['sales', 'other']) await harness.createAgent(handle)
  listener = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('sales', origin.port)
  port = Number(new URL(harness.baseUrl).port)
})
afterAll(async () => {
  await listener.close(0)
  await harness.stop()
  await origin.stop()
})

const list = async (query = ''): Promise<Json> => harness.expectApi(200, 'GET', `/tunnels/sales/requests${query}`)
const capture = (what: string) => harness.expectApi(200, 'PATCH', '/tunnels/sales', { body: { capture: what } })
const waitForPath = (path: string): Promise<Json> =>
  waitFor(`a request for ${path}`, async () => (await list()).data.find((one: Json) => one.path === path))

test('without capture only first line, status, sizes and times are stored', async () => {
  await capture('off')
  await visit(port, host, '/echo?id=1', { method: 'POST', body: 'secret body', headers: { authorization: 'Bearer secret' } })
  const one = await waitForPath('/echo?id=1')
  expect(one).toMatchObject({
    method: 'POST',
    status: 200,
    error: null,
    request_bytes: 11,
    response_bytes: 11,
    remote_address: '127.0.0.1',
    request_headers: null,
    response_headers: null,
    request_body: null,
    response_body: null,
    replay_of: null,
  })
  expect((await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`)).status).toBe(409)
})

test('bodies are captured up to their cap, and values that look like secrets are masked', async () => {
  await capture('bodies')
  await visit(port, host, '/echo?token=abc&n=2', {
    method: 'POST',
    body: Buffer.alloc(100_000, 'q'),
    headers: { authorization: 'Bearer secret', cookie: 'session=secret', 'x-api-key': 'secret', 'x-plain': 'shown' },
  })
  const one = await waitForPath('/echo?token=(masked)&n=2')
  expect(JSON.stringify({ ...one, replay_refusal: null })).not.toContain('secret')
  expect(one.replay_refusal).toContain('The query of this request held a secret')
  expect(one.request_headers).toContainEqual(['x-plain', 'shown'])
  expect(one.request_headers).toContainEqual(['authorization', '(masked)'])
  expect(Buffer.from(one.request_body, 'base64').length).toBe(65_536)
  expect([one.request_body_truncated, one.response_body_truncated]).toEqual([true, true])
  expect((await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`)).status).toBe(409)
  await capture('off')
})

test('bodies are masked, and encrypted in the database', async () => {
  await capture('bodies')
  const login = { user: 'ada-in-the-body', password: 'secret-in-the-body' }
  await visit(port, host, '/echo?sealed=1', {
    method: 'POST',
    body: JSON.stringify(login),
    headers: { 'content-type': 'application/json' },
  })
  const one = await waitForPath('/echo?sealed=1')
  const shown = { user: 'ada-in-the-body', password: '(masked)' }
  for (const body of [one.request_body, one.response_body]) expect(JSON.parse(Buffer.from(body, 'base64').toString())).toEqual(shown)
  const { rows } = await harness.db.query<Record<string, unknown>>({
    text: 'SELECT * FROM tunnel_requests WHERE id = $1',
    values: [one.id],
  })
  const stored = Object.values(rows[0] ?? {}).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
  for (const word of ['ada-in-the-body', 'secret-in-the-body', '(masked)']) expect(stored.join()).not.toContain(word)
  const replay = await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`)
  expect([replay.status, replay.body.error.message]).toEqual([409, expect.stringContaining('The body of this request held a secret')])
  await capture('off')
})

test('a captured request is replayed unchanged, without the masked parts', async () => {
  await capture('bodies')
  await visit(port, host, '/echo?n=3', { method: 'PUT', body: 'again', headers: { 'x-plain': 'kept', authorization: 'Bearer x' } })
  const one = await waitForPath('/echo?n=3')
  const before = origin.seen.length
  const replay = await harness.expectApi(201, 'POST', `/tunnels/sales/requests/${one.id}/replay`)
  expect(replay).toMatchObject({ method: 'PUT', path: '/echo?n=3', status: 200, replay_of: one.id })
  expect(Buffer.from(replay.response_body, 'base64').toString()).toBe('again')
  expect(origin.seen.length).toBe(before + 1)
  expect(origin.seen.at(-1)?.headers).toMatchObject({ 'x-plain': 'kept', 'x-forwarded-host': host })
  expect(origin.seen.at(-1)?.headers).not.toHaveProperty('authorization')
  const agent = await harness.agentKey('other')
  expect((await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`, { key: agent })).status).toBe(403)
  expect((await harness.api('POST', `/tunnels/other/requests/${one.id}/replay`)).status).toBe(404)
  expect((await harness.api('GET', '/tunnels/sales/requests', { key: harness.otherOrganization.key })).status).toBe(404)
  await capture('off')
})

test('a replay with changes sends the changed request, and replaces parts that were not kept', async () => {
  await visit(port, host, '/echo?token=abc', { method: 'POST', body: 'not kept', headers: { 'x-plain': 'old' } })
  const one = await waitForPath('/echo?token=(masked)')
  const replay = `/tunnels/sales/requests/${one.id}/replay`
  const whole = {
    method: 'PUT',
    path: '/echo?token=new',
    headers: [
      ['Host', host],
      ['X-Plain', 'new'],
      ['Authorization', '(masked)'],
      ['Content-Length', '999'],
      ['Transfer-Encoding', 'chunked'],
    ],
    body: Buffer.from('other body').toString('base64'),
  }
  for (const missing of ['headers', 'path', 'body'] as const) {
    const { [missing]: _, ...rest } = whole
    const answer = await harness.api('POST', replay, { body: rest })
    expect([missing, answer.status, answer.body.error.message]).toEqual([missing, 409, expect.stringContaining(`Send \`${missing}\``)])
  }
  const before = origin.seen.length
  const sent = await harness.expectApi(201, 'POST', replay, { body: whole })
  expect(sent).toMatchObject({ method: 'PUT', path: '/echo?token=(masked)', status: 200, replay_of: one.id, request_bytes: 10 })
  expect(origin.seen.length).toBe(before + 1)
  expect(origin.seen.at(-1)).toMatchObject({ method: 'PUT', url: '/echo?token=new' })
  expect(origin.seen.at(-1)?.headers).toMatchObject({ 'x-plain': 'new', 'content-length': '10' })
  for (const name of ['authorization', 'transfer-encoding']) expect(origin.seen.at(-1)?.headers).not.toHaveProperty(name)
})

test.each([
  ['a method that is not one', { method: 'GET / HTTP/1.1' }],
  ['CONNECT', { method: 'CONNECT' }],
  ['a path with a line end', { path: '/a\r\nX-Injected: 1' }],
  ['a path of another host', { path: 'http://evil.example/' }],
  ['a header name with a colon', { headers: [['X: 1', 'a']] }],
  ['a header value with a line end', { headers: [['X-One', 'a\r\nX-Injected: 1']] }],
  ['a body that is not base64', { body: '%%%' }],
])('a replay refuses %s', async (_name, change) => {
  const one = (await list('?limit=1')).data[0]
  const answer = await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`, {
    body: { path: '/echo', headers: [], body: '', ...change },
  })
  expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error'])
})

test('a tunnel error is recorded with its code, and a replay without a client is an error', async () => {
  await harness.expectApi(200, 'PATCH', '/tunnels/other', { body: { capture: 'headers' } })
  await visit(port, 'other.tunnel.localhost', '/nobody')
  const one = await waitFor('the request', async () => (await harness.expectApi(200, 'GET', '/tunnels/other/requests')).data[0])
  expect(one).toMatchObject({ path: '/nobody', status: 503, error: 'tunnel_offline' })
  const replay = await harness.expectApi(201, 'POST', `/tunnels/other/requests/${one.id}/replay`)
  expect(replay).toMatchObject({ status: 503, error: 'tunnel_offline' })
})

test('a request is deleted after a day with its captured parts', async () => {
  await capture('bodies')
  for (const path of ['/echo?old', '/echo?fresh']) await visit(port, host, path, { method: 'POST', body: 'kept' })
  const [old, fresh] = [await waitForPath('/echo?old'), await waitForPath('/echo?fresh')]
  await capture('off')
  await harness.db.query({
    text: `UPDATE tunnel_requests SET created_at = now() - interval '24 hours 1 second' WHERE id = $1`,
    values: [old.id],
  })
  // Every worker sweeps when it starts, and then hourly.
  const worker = await startApp(readConfig({ ...harness.environment, CALLSIGN_ROLES: 'worker' }), createLog('silent'))
  const idsNow = async (): Promise<string[]> => (await list()).data.map((one: Json) => one.id)
  await waitFor('the sweep', async () => !(await idsNow()).includes(old.id))
  await worker.stop()
  expect(await idsNow()).toContain(fresh.id)
  expect((await harness.api('POST', `/tunnels/sales/requests/${old.id}/replay`)).status).toBe(404)
})

test('the list has pages and keeps the latest 200 requests', async () => {
  for (let i = 0; i < 6; i++) await Promise.all(Array.from({ length: 40 }, (_, j) => visit(port, host, `/many/${i}/${j}`)))
  await waitFor('the last ones', async () => (await list('?limit=1')).data[0]?.path.startsWith('/many/5/'))
  await visit(port, host, '/last')
  await waitForPath('/last')
  // Requests are added before the oldest are deleted.
  const seen = await waitFor('at most 200 requests', async () => {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const page: Json = await list(`?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`)
      ids.push(...page.data.map((one: Json) => one.id))
      cursor = page.next_cursor
    } while (cursor !== null)
    return ids.length <= 200 && ids
  })
  expect(seen).toEqual(seen.toSorted().reverse())
})

describe('a partly stored or invalid request is not replayed', () => {
  const refused = async (path: string): Promise<string> => {
    const one = await waitFor(`a request for ${path}`, async () => (await list()).data.find((row: Json) => row.path.startsWith(path)))
    const before = origin.seen.length
    const { status, body } = await harness.api('POST', `/tunnels/sales/requests/${one.id}/replay`)
    expect([status, origin.seen.length]).toEqual([409, before])
    return body.error.message
  }

  test.each(['headers', 'bodies'])('a body that the target did not read, with capture %s', async (what) => {
    await harness.expectApi(200, 'PATCH', '/tunnels/other', { body: { capture: what } })
    const { status } = await visit(port, 'other.tunnel.localhost', `/untaken-${what}`, { method: 'POST', body: 'important' })
    expect(status).toBe(503)
    const one = await waitFor('the request', async () =>
      (await harness.expectApi(200, 'GET', '/tunnels/other/requests')).data.find((row: Json) => row.path === `/untaken-${what}`),
    )
    const { body } = await harness.api('POST', `/tunnels/other/requests/${one.id}/replay`)
    expect(body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('not kept whole') })
  })

  test('a path longer than the stored limit', async () => {
    await capture('headers')
    await visit(port, host, `/long?id=${'1'.repeat(3000)}`)
    expect(await refused('/long')).toContain('path')
  })

  test('a WebSocket', async () => {
    const socket = connect(port, '127.0.0.1')
    const lines = ['GET /socket HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', '', '']
    socket.write(lines.join('\r\n'))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resetAndDestroy()
    expect(await refused('/socket')).toContain('WebSocket')
  })

  test('anything, through a tunnel that is suspended', async () => {
    await visit(port, host, '/before')
    await waitForPath('/before')
    await harness.expectApi(200, 'PATCH', '/tunnels/sales', { body: { status: 'suspended' } })
    expect(await refused('/before')).toContain('suspended')
    await harness.expectApi(200, 'PATCH', '/tunnels/sales', { body: { status: 'active' } })
  })
})

test('a replay leaves out headers that Connection named, and headers that were masked in part', async () => {
  await capture('headers')
  await visit(port, host, '/named', { headers: { connection: 'close, x-mine', 'x-mine': '1', referer: 'https://x.example/?token=x' } })
  const one = await waitForPath('/named')
  await harness.expectApi(201, 'POST', `/tunnels/sales/requests/${one.id}/replay`)
  const headers = origin.seen.at(-1)?.headers
  expect(origin.seen.at(-1)?.url).toBe('/named')
  for (const name of ['x-mine', 'referer']) expect(headers).not.toHaveProperty(name)
})
