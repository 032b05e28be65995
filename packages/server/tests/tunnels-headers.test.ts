// Headers that would act beyond one tunnel. Identity headers do not reach the target, and a target's answer sets nothing for other tunnels.
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { type Origin, sendRaw, startOrigin, visit } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'

const host = 'my-shop.tunnel.localhost'
let harness: Harness
let origin: Origin
let listener: TunnelListener
let port: number

async function open(settings: Record<string, string>) {
  const opened = await startHarness(settings)
  await opened.createAgent('my_shop')
  const client = new Callsign({ url: opened.baseUrl, apiKey: opened.organizationKey })
  return { harness: opened, client, port: Number(new URL(opened.baseUrl).port) }
}

beforeAll(async () => {
  origin = await startOrigin()
  const opened = await open({})
  harness = opened.harness
  port = opened.port
  listener = await opened.client.tunnels.listen('my_shop', origin.port)
})
afterAll(async () => {
  await listener.close(0)
  await harness.stop()
  await origin.stop()
})

const claims = {
  'X-Remote-User': 'root',
  X_Remote_User: 'root',
  'Remote.User': 'root',
  'X+Remote+User': 'root',
  "X-Forwarded'User": 'root',
  'X~Auth!Request|Email': 'root',
  'x-remote-extra-scopes': 'root',
  'Remote-User': 'root',
  'Remote-Groups': 'root',
  'X-SSL-Client-Verify': 'SUCCESS',
  'x-ssl-client-s-dn': 'root',
  'SSL-Client-Cert': 'root',
  'X-Client-Cert': 'root',
  'Client-Cert': 'root',
  'Client-Cert-Chain': 'root',
  'X-Forwarded-User': 'root',
  'X-Forwarded-Email': 'root',
  'X-Forwarded-Client-Cert': 'root',
  'X-Auth-Request-User': 'root',
  'X-Authenticated-User': 'root',
  'X-authentik-username': 'root',
  'X-WEBAUTH-USER': 'root',
  'X-Consumer-Username': 'root',
  'x-amzn-oidc-identity': 'root',
  'X-Goog-Authenticated-User-Email': 'root',
  'X-MS-CLIENT-PRINCIPAL-NAME': 'root',
  'Cf-Access-Authenticated-User-Email': 'root',
  'Tailscale-User-Login': 'root',
  OIDC_CLAIM_sub: 'root',
  OIDC_access_token: 'root',
  SM_USER: 'root',
  'X-SSL-Cert': 'root',
  'X-Remote-Group': 'root',
  'X-Credential-Identifier': 'root',
  'X-Endpoint-API-UserInfo': 'root',
  'X-Remote-Addr': 'root',
  'Remote-Role': 'root',
  'X-SSL-Client': 'root',
  'X-SSL-SAN': 'root',
  'X-Verified-Groups': 'root',
  'X-Consumer-Scopes': 'root',
  'OIDC-sub': 'root',
  'X-Proxy-User': 'root',
  'X-Proxy-Roles': 'root',
  'Kubeflow-Userid': 'root',
  'X-Token-User-Email': 'root',
  'X-Token-Subject': 'root',
  'X-AppEngine-User-Email': 'root',
}
/** Headers of applications that begin as those of proxies do. */
const others = {
  'X-Client-Version': '1',
  'X.Client.Version': '1',
  'X+Remote.Control': '1',
  'X-Client-Certified': '1',
  'X-Auth-Token': 't',
  'Client-Certificates': '1',
  'X-Remote': '1',
  'X-Remote-Control': '1',
  'X-Proxy-User-Agent': '1',
  'X-Token-Type': '1',
  'X-AppEngine-Country': '1',
  'Remote-Control': '1',
  'X-SSL-Grade': '1',
  'X-Consumer-Timestamp': '1',
  'X-Credential-Type': '1',
  'OIDC-Issuer': '1',
  'X-Verified-Purchase': '1',
  'X-User-Id': '1',
}

describe('identity headers', () => {
  test('of a public client do not reach the target, and other headers do', async () => {
    await visit(port, host, '/plain', { headers: { ...claims, ...others } })
    const names = origin.seen.at(-1)?.raw.map((one) => one.toLowerCase())
    for (const name of Object.keys(claims)) expect(names).not.toContain(name.toLowerCase())
    for (const name of Object.keys(others)) expect(names).toContain(name.toLowerCase())
  })

  test('of a public client do not arrive with a body, as a trailer, or with an upgrade either', async () => {
    const trailers = { 'X-Sum': '1', 'X-Remote-User': 'root', 'Remote.User': 'root', 'Content.Type': 'root' }
    expect((await visit(port, host, '/echo', { method: 'POST', body: 'x', trailers, headers: claims })).trailers).toEqual({ 'x-sum': '1' })
    expect(origin.seen.at(-1)?.raw).not.toContain('root')
    const before = origin.seen.length
    await sendRaw(
      port,
      `GET /plain HTTP/1.1\r\nHost: ${host}\r\nX-Remote-User: root\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      (text) => text.includes('\r\n\r\n'),
    )
    for (const { raw } of origin.seen.slice(before)) expect(raw).not.toContain('root')
  })

  test('of a trusted proxy reach the target', async () => {
    const opened = await open({ CALLSIGN_TRUSTED_PROXIES: '127.0.0.0/8' })
    const own = await opened.client.tunnels.listen('my_shop', origin.port)
    try {
      await visit(opened.port, host, '/plain', { headers: claims })
      const names = origin.seen.at(-1)?.raw.map((one) => one.toLowerCase())
      for (const name of Object.keys(claims)) expect(names).toContain(name.toLowerCase())
    } finally {
      await own.close(0)
      await opened.harness.stop()
    }
  })
})

describe('a response', () => {
  /** The head that a public client gets when a target answers with these header lines. */
  async function headOf(lines: string, status = '200 OK', more = 'Connection: close'): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(`HTTP/1.1 ${status}\r\n${lines}\r\n`, 'latin1'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    await harness.createAgent('raw_one').catch(() => {})
    const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
    const own = await client.tunnels.listen('raw_one', (server.address() as AddressInfo).port, { connections: 1 })
    try {
      const request = `GET / HTTP/1.1\r\nHost: Raw-One.tunnel.localhost:${port}\r\n${more}\r\n\r\n`
      return await sendRaw(port, request, (text) => text.includes('\r\n\r\n'))
    } finally {
      await own.close(0)
      server.close()
    }
  }
  const close = 'Content-Length: 0\r\nConnection: close\r\n'

  test.each([
    ['the tunnel domain', 'a=1; Domain=tunnel.localhost; Path=/', 'a=1; Path=/'],
    ['the tunnel domain with a dot', 'a=1; Path=/; domain=.TUNNEL.localhost', 'a=1; Path=/'],
    ['another tunnel', 'a=1;Domain = other.tunnel.localhost;Secure', 'a=1;Secure'],
    ['two domains', 'a=1; Domain=raw-one.tunnel.localhost; Domain=tunnel.localhost', 'a=1; Domain=raw-one.tunnel.localhost'],
    ['a domain of its own machine', 'a=1; Domain=shop.example; HttpOnly', 'a=1; HttpOnly'],
    ['an empty domain', 'a=1; Domain', 'a=1'],
    ['its own host', 'a=1; Domain=Raw-One.Tunnel.localhost', 'a=1; Domain=Raw-One.Tunnel.localhost'],
    ['no domain', 'a=domain=x; Path=/domain', 'a=domain=x; Path=/domain'],
  ])('sets cookies for its own host only: %s', async (_name, sent, received) => {
    expect(await headOf(`Set-Cookie: ${sent}\r\nset-cookie: b=2\r\n${close}`)).toContain(
      `\r\nSet-Cookie: ${received}\r\nset-cookie: b=2\r\n`,
    )
  })

  test.each([
    ['"*"', null],
    ['"cookies"', null],
    ['"\\u0063ookies"', null],
    ['"cache", "cookies","storage"', '"cache", "storage"'],
    ['"storage"', '"storage"'],
  ])('clears the data of its own origin only: %s', async (sent, received) => {
    const head = await headOf(`Clear-Site-Data: ${sent}\r\n${close}`)
    expect(/^Clear-Site-Data: (.*)\r$/m.exec(head)?.[1] ?? null).toBe(received)
  })

  test.each([
    'X-Accel-Redirect',
    'X-Accel-Buffering',
    'X-Sendfile',
    'X_Sendfile',
    'X-Sendfile-Temporary',
    'X-LIGHTTPD-send-file',
    'X-Reproxy-URL',
  ])('does not instruct a proxy in front: %s', async (name) => {
    const head = await headOf(`${name}: /etc/passwd\r\nX-Acceleration: 9\r\n${close}`)
    expect(head).not.toContain('/etc/passwd')
    expect(head).toContain('X-Acceleration: 9')
  })

  test('is held to this in early hints and in the answer to an upgrade', async () => {
    const lines = 'Set-Cookie: a=1; Domain=tunnel.localhost\r\nX-Accel-Redirect: /secret\r\nClear-Site-Data: "*"\r\n'
    const early = await headOf(`${lines}\r\nHTTP/1.1 200 OK\r\n${close}`, '103 Early Hints')
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13'
    const switched = await headOf(`Upgrade: websocket\r\nConnection: Upgrade\r\n${lines}`, '101 Switching Protocols', upgrade)
    expect(early).toContain('103 Early Hints')
    expect(switched).toContain('101 Switching Protocols')
    for (const head of [early, switched]) {
      expect(head).toContain('Set-Cookie: a=1\r\n')
      expect(head).not.toMatch(/Domain=|X-Accel|Clear-Site-Data/i)
    }
  })

  test('does not do it in trailers either', async () => {
    const chunked =
      'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close\r\n\r\n0\r\nX-Sum: 1\r\nSet-Cookie: a=1\r\nX-Accel-Redirect: /secret\r\n'
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${chunked}\r\n`))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    await harness.createAgent('raw_two')
    const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
    const own = await client.tunnels.listen('raw_two', (server.address() as AddressInfo).port, { connections: 1 })
    const answer = await visit(port, 'raw-two.tunnel.localhost', '/')
    expect(answer.trailers).toEqual({ 'x-sum': '1' })
    await own.close(0)
    server.close()
  })
})
