// The gateway's own HTTPS port. It has one trusted root for every name, reloads changed files, and serves only tunnels.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, connect as dial, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { generateAuthority, issueCertificate } from '../src/core/certificate.ts'
import { type Origin, startOrigin } from './harness/origin.ts'
import { findFreePort } from './harness/peer-process.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
let listener: TunnelListener
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_TUNNEL_HTTPS_PORT: '0' })
  origin = await startOrigin()
  await harness.createAgent('my_agent')
  listener = await new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey }).tunnels.listen('my_agent', origin.port)
})
afterAll(async () => {
  await listener.close(0)
  await harness.stop()
  await origin.stop()
})

const get = (port: number, host: string, ca: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, servername: host, ca, headers: { host: `${host}:${port}` }, agent: false },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text) => {
          body += text
        })
        response.on('end', () => resolve({ status: response.statusCode as number, body }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
const certificateAt = (port: number): Promise<PeerCertificate> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'a.tunnel.localhost', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.on('error', reject)
  })

test("https works for every name when the data directory's authority is trusted, and the target sees the protocol", async () => {
  const ca = readFileSync(join(harness.dataDir, 'tunnel-authority', 'authority.pem'), 'utf8')
  const port = harness.tunnelHttpsPort
  expect(await get(port, 'my-agent.tunnel.localhost', ca)).toEqual({ status: 200, body: 'hello from /' })
  expect(origin.seen.at(-1)?.headers).toMatchObject({ 'x-forwarded-proto': 'https', 'x-forwarded-port': String(port) })
  expect((await get(port, 'nobody.tunnel.localhost', ca)).status).toBe(404)
  await expect(get(port, 'my-agent.tunnel.localhost', generateAuthority('other', ['tunnel.localhost']).cert)).rejects.toThrow()
})

test('the API is not served there', async () => {
  const ca = readFileSync(join(harness.dataDir, 'tunnel-authority', 'authority.pem'), 'utf8')
  expect((await get(harness.tunnelHttpsPort, 'tunnel.localhost', ca)).status).toBe(421)
})

test('bytes that are not a request close a connection whose response has started, and are refused on any other', async () => {
  const ca = readFileSync(join(harness.dataDir, 'tunnel-authority', 'authority.pem'), 'utf8')
  const host = 'my-agent.tunnel.localhost'
  const open = async () => {
    const socket = connect({ host: '127.0.0.1', port: harness.tunnelHttpsPort, servername: host, ca })
    const seen = { text: '' }
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        seen.text += bytes
      })
    await once(socket, 'secureConnect')
    return { socket, seen }
  }
  const started = await open()
  started.socket.write(`GET /events HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await waitFor('the head', () => started.seen.text.includes('\r\n\r\n'))
  started.socket.write('no request\r\n\r\n')
  await once(started.socket, 'close')
  expect(started.seen.text).not.toContain('400')

  const idle = await open()
  idle.socket.write('no request\r\n\r\n')
  await once(idle.socket, 'close')
  expect(idle.seen.text).toMatch(/^HTTP\/1\.1 400 /)
})

test('changed certificate files are used without a restart, and a broken pair changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'callsign-certificate-'))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const authority = generateAuthority('Ours', ['tunnel.localhost'])
  const put = (title: string) => {
    const pair = issueCertificate(authority, title, ['*.tunnel.localhost'])
    writeFileSync(files.key, pair.key)
    writeFileSync(files.cert, pair.cert)
  }
  put('first')
  const other = await startHarness({
    CALLSIGN_TUNNEL_HTTPS_PORT: '0',
    CALLSIGN_TUNNEL_TLS_CERT_FILE: files.cert,
    CALLSIGN_TUNNEL_TLS_KEY_FILE: files.key,
  })
  try {
    const nameNow = async () => (await certificateAt(other.tunnelHttpsPort)).subject.CN
    expect(await nameNow()).toBe('first')
    writeFileSync(files.key, 'broken')
    await waitFor('the complaint', () =>
      other.logLines().some((line) => line.includes('loading the changed certificate for tunnels failed')),
    )
    expect(await nameNow()).toBe('first')
    put('second')
    await waitFor('the second certificate', async () => (await nameNow()) === 'second')
  } finally {
    await other.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('clients connect over TLS and through a proxy, and only to servers that the authority signed', async () => {
  const port = await findFreePort()
  const other = await startHarness({
    CALLSIGN_TUNNEL_HTTPS_PORT: String(port),
    CALLSIGN_TUNNEL_CONNECT_URL: `https://gateway.localhost:${port}`,
  })
  // Whatever name is asked for is on this machine.
  const proxy = createHttpServer()
  proxy.on('connect', (asked, socket: Socket) => {
    const onward = dial(Number(asked.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  try {
    await other.createAgent('over_tls')
    const client = new Callsign({ url: other.baseUrl, apiKey: other.organizationKey })
    const options = { proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, connections: 1 }
    await expect(client.tunnels.listen('over_tls', origin.port, options)).rejects.toThrow(/certificate/)
    const ca = readFileSync(join(other.dataDir, 'tunnel-authority', 'authority.pem'), 'utf8')
    const one = await client.tunnels.listen('over_tls', origin.port, { ...options, ca })
    expect(await get(port, 'over-tls.tunnel.localhost', ca)).toEqual({ status: 200, body: 'hello from /' })
    await one.close(0)
  } finally {
    proxy.close()
    await other.stop()
  }
})
