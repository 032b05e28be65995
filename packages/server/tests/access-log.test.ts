// The access log: both formats, masked secrets, injected lines, requests to tunnels, and a file that is moved away.
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign } from '../../sdk/src/index.ts'
import { readConfig } from '../src/config/settings.ts'
import { startOrigin, visit } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let folder: string
let path: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callsign-access-'))
  path = join(folder, 'access.log')
  harness = await startHarness({ CALLSIGN_ACCESS_LOG: `file:${path}`, CALLSIGN_ACCESS_LOG_FORMAT: 'json' })
})
afterAll(async () => {
  await harness.stop()
  await rm(folder, { recursive: true })
})

// biome-ignore lint/suspicious/noExplicitAny: lines of a log
const linesOf = async (file = path): Promise<any[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** The line of a request with this marker in its agent. */
const lineOf = (agent: string) => waitFor(`the line of ${agent}`, async () => (await linesOf()).find((line) => line.user_agent === agent))

test('a line has the facts of the request, and no value of its query', async () => {
  await harness.api('GET', '/mailboxes?limit=1&cursor=mbx_secretcursor', {
    headers: { 'user-agent': 'first', referer: 'https://x.example/a?token=abc' },
  })
  expect(await lineOf('first')).toMatchObject({
    client: '127.0.0.1',
    method: 'GET',
    target: '/api/v1/mailboxes?limit=***&cursor=***',
    protocol: 'HTTP/1.1',
    status: 400,
    referer: 'https://x.example/a',
    key_id: expect.stringMatching(/^key_/),
    request_id: expect.stringMatching(/^req_/),
  })
})

test('secrets in paths and queries are masked, in known and unknown paths', async () => {
  const secret = 'svc_live_0123456789abcdefghijklmnopqrstuvwxyz'
  const paths = [
    `/approve/${secret}`,
    `/${secret}`,
    `/unknown/${secret}?${secret}`,
    `/media/att_x?expires=1&signature=${secret}`,
    `/hooks/imessage/simulator/${secret}`,
  ]
  for (const [index, one] of paths.entries()) {
    await fetch(`${harness.baseUrl}${one}`, { headers: { 'user-agent': `secret ${index}` } })
    expect(JSON.stringify(await lineOf(`secret ${index}`))).not.toContain(secret)
  }
})

test('a client cannot add a line or end a quoted value', async () => {
  const { createAccessLog } = await import('../src/edges/api/logs/access-log.ts')
  const file = join(folder, 'combined.log')
  const log = createAccessLog({ target: { path: file }, format: 'combined' }, [])
  const raw = {
    url: '/a"b\\c',
    httpVersion: '1.1',
    headers: { 'user-agent': 'x" 200\n1.2.3.4 - -' },
    socket: { remoteAddress: '::ffff:10.0.0.9' },
  }
  const request = { raw, headers: raw.headers, method: 'GET', caller: null, id: 'req_1', routeOptions: { url: undefined } }
  log.write({ request: request as never, status: 404, bytes: 12, ms: 1 })
  log.close()
  const text = await readFile(file, 'utf8')
  expect(text).toMatch(
    /^10\.0\.0\.9 - - \[\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000\] "GET \/a\\"b\\\\c HTTP\/1\.1" 404 12 "-" "x\\" 200\\x0a1\.2\.3\.4 - -"\n$/,
  )
})

test('requests to tunnels have their host, status, bytes and time, and neither query nor body', async () => {
  await harness.createAgent('open_one')
  const port = Number(new URL(harness.baseUrl).port)
  const [host, secret] = ['open_one.tunnel.localhost', 'tok_0123456789abcdefghijklmnopqrstuvwxyz']
  const lineOfPath = (path: string) =>
    waitFor(`the line of ${path}`, async () => (await linesOf()).find(({ target }) => target?.startsWith(path)))
  const common = { client: '127.0.0.1', host, protocol: 'HTTP/1.1', ms: expect.any(Number) }

  await visit(port, host, `/nobody?token=${secret}`)
  expect(await lineOfPath('/nobody')).toMatchObject({ ...common, method: 'GET', target: '/nobody', status: 503, bytes: 0 })
  await visit(port, 'absent.tunnel.localhost', '/absent', { method: 'POST', body: 'x' })
  expect(await lineOfPath('/absent')).toMatchObject({ ...common, host: 'absent.tunnel.localhost', method: 'POST', status: 404 })

  const origin = await startOrigin()
  const listener = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('open_one', origin.port)
  try {
    await visit(port, host, `/target/${secret}?key=${secret}`, { headers: { referer: `https://x.example/${secret}` } })
    const { time, ...line } = await lineOfPath('/target')
    expect(line).toEqual({
      ...common,
      method: 'GET',
      target: '/target/***',
      status: 200,
      bytes: `hello from /target/${secret}?key=${secret}`.length,
    })
    await visit(port, host, '/echo', { method: 'POST', body: secret })
    expect(await lineOfPath('/echo')).toMatchObject({ ...common, method: 'POST', status: 200, bytes: secret.length })

    const aborted = connect(port, '127.0.0.1')
    aborted.write(`GET /hang HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await waitFor('the request at the target', () => origin.seen.some(({ url }) => url === '/hang'))
    aborted.destroy()
    expect(await lineOfPath('/hang')).toMatchObject({ ...common, status: 499, bytes: 0 })

    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET /socket?${secret} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAA\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    await once(socket, 'data')
    socket.resetAndDestroy()
    expect(await lineOfPath('/socket')).toMatchObject({ ...common, target: '/socket', status: 101 })
  } finally {
    await listener.close(0)
    await origin.stop()
  }
  expect(await readFile(path, 'utf8')).not.toContain(secret)
})

test('a request to a tunnel has its whole address in the combined format', async () => {
  const { createAccessLog } = await import('../src/edges/api/logs/access-log.ts')
  const file = join(folder, 'combined-tunnels.log')
  const log = createAccessLog({ target: { path: file }, format: 'combined' }, [])
  const common = { client: '10.0.0.9', host: 'a.tunnel.example.com', method: 'GET', protocol: 'HTTP/1.1', status: 200, bytes: 5, ms: 1 }
  log.writePublic({ ...common, path: '/x" 200\n1.2.3.4' })
  log.close()
  expect(await readFile(file, 'utf8')).toMatch(
    /^10\.0\.0\.9 - - \[.*\] "GET http:\/\/a\.tunnel\.example\.com\/x\\" 200\\x0a1\.2\.3\.4 HTTP\/1\.1" 200 5 "-" "-"\n$/,
  )
})

test('SIGHUP opens the file again after it was moved', async () => {
  const moved = `${path}.1`
  await rename(path, moved)
  process.emit('SIGHUP')
  await harness.api('GET', '/me', { headers: { 'user-agent': 'after' } })
  await lineOf('after')
  expect((await linesOf(moved)).some((line) => line.user_agent === 'after')).toBe(false)
})

test('settings', () => {
  expect(readConfig({ CALLSIGN_ACCESS_LOG: 'stdout' }).accessLog).toBe('stdout')
  expect(readConfig({}).accessLog).toBeNull()
  expect(() => readConfig({ CALLSIGN_ACCESS_LOG: 'access.log' })).toThrow('file:<path>')
})
