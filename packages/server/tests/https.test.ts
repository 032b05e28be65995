// HTTPS for the API, the console and tunnels: certificates by name, reload, redirect of plain HTTP, and a drain that keeps requests.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientRequest, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign } from '../../sdk/src/index.ts'
import { readConfig } from '../src/config/settings.ts'
import { generateAuthority, issueCertificate } from '../src/core/certificate.ts'
import { checkMachine } from '../src/host/doctor-machine.ts'
import { makeDataDir, startCallsignd } from './harness/callsignd.ts'
import { createDatabase } from './harness/database.ts'
import { startOrigin } from './harness/origin.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const authority = generateAuthority('Ours', ['callsign.test', 'tunnel.test'])
let folder: string
let harness: Harness

const files = (name: string) => ({ cert: join(folder, `${name}.pem`), key: join(folder, `${name}-key.pem`) })
const put = (name: string, title: string, hostname: string) => {
  const pair = issueCertificate(authority, title, [hostname])
  writeFileSync(files(name).key, pair.key)
  writeFileSync(files(name).cert, pair.cert)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callsign-https-'))
  put('api', 'api one', 'callsign.test')
  put('tunnels', 'tunnels one', '*.tunnel.test')
  put('smtp', 'smtp one', 'mail.callsign.test')
  harness = await startHarness({
    CALLSIGN_PUBLIC_URL: 'https://callsign.test',
    CALLSIGN_HTTPS_PORT: '0',
    CALLSIGN_HTTPS_TLS_CERT_FILE: files('api').cert,
    CALLSIGN_HTTPS_TLS_KEY_FILE: files('api').key,
    CALLSIGN_TUNNEL_DOMAIN: 'tunnel.test',
    CALLSIGN_TUNNEL_TLS_CERT_FILE: files('tunnels').cert,
    CALLSIGN_TUNNEL_TLS_KEY_FILE: files('tunnels').key,
    CALLSIGN_SMTP_TLS_CERT_FILE: files('smtp').cert,
    CALLSIGN_SMTP_TLS_KEY_FILE: files('smtp').key,
    CALLSIGN_SUBMISSIONS_PORT: '0',
    CALLSIGN_HSTS_SECONDS: '3600',
  })
  await harness.createAgent('my_agent')
})
afterAll(async () => {
  await harness.stop()
  await rm(folder, { recursive: true, force: true })
})

type Answer = { status: number; headers: Record<string, unknown>; body: string }
const read = (outgoing: ClientRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode as number, headers: response.headers, body }))
    })
    outgoing.end()
  })
const trusted = { host: '127.0.0.1', ca: authority.cert }
const getSecure = (path: string, hostname = 'callsign.test', headers: Record<string, string> = {}) =>
  read(request({ ...trusted, port: harness.httpsPort, servername: hostname, path, agent: false, headers: { host: hostname, ...headers } }))
const getPlain = (port: number, path: string, headers: Record<string, string> = {}) =>
  read(plainRequest({ host: '127.0.0.1', port, path, agent: false, headers: { host: 'anything.test', ...headers } }))

const subjectOf = (port: number, servername?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...(servername ? { servername } : {}) }, () => {
      resolve((socket.getPeerCertificate() as PeerCertificate).subject.CN as string)
      socket.destroy()
    })
    socket.on('error', reject)
  })

/** Connects to the SMTP port and upgrades. */
const startTls = (): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const plain = connectPlain(harness.smtpPort, '127.0.0.1')
    const commands = ['EHLO client.test\r\n', 'STARTTLS\r\n']
    plain.on('error', reject)
    plain.on('data', function take(bytes) {
      if (!/(^|\r\n)\d{3} [^\r]*\r\n$/.test(bytes.toString())) return
      const command = commands.shift()
      if (command) return void plain.write(command)
      plain.off('data', take)
      const socket = connect({ socket: plain, servername: 'mail.callsign.test', ca: authority.cert }, () => resolve(socket))
      socket.on('error', reject)
    })
  })

test('the API, its documentation and tunnels are served over HTTPS, each host with its certificate', async () => {
  const answer = await getSecure('/api/v1/identities', 'callsign.test', { authorization: `Bearer ${harness.organizationKey}` })
  expect(answer).toMatchObject({ status: 200, headers: { 'strict-transport-security': 'max-age=3600' } })
  expect((await getSecure('/docs')).status).toBe(200)

  const origin = await startOrigin()
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  const listener = await client.tunnels.listen('my_agent', origin.port)
  const public_ = await getSecure('/through', 'my-agent.tunnel.test')
  expect(public_).toMatchObject({ status: 200, body: 'hello from /through' })
  // The header would also bind the other tunnels of that host.
  expect(public_.headers).not.toHaveProperty('strict-transport-security')
  expect(origin.seen.at(-1)?.headers).toMatchObject({ 'x-forwarded-proto': 'https' })
  await listener.close(0)
  await origin.stop()

  expect(await subjectOf(harness.httpsPort)).toBe('api one')
  expect(await subjectOf(harness.httpsPort, 'my-agent.tunnel.test')).toBe('tunnels one')
  expect(await getPlain(Number(new URL(harness.baseUrl).port), '/healthz')).not.toHaveProperty(['headers', 'strict-transport-security'])
})

test('a changed certificate serves new connections on every port, and open connections stay', async () => {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const one = connect({ ...trusted, port: harness.httpsPort, servername: 'callsign.test' }, () => resolve(one))
    one.on('error', reject)
  })
  const mail = await startTls()

  put('api', 'api two', 'callsign.test')
  put('smtp', 'smtp two', 'mail.callsign.test')
  await waitFor('the new certificate of HTTPS', async () => (await subjectOf(harness.httpsPort)) === 'api two')
  await waitFor('the new certificate of SMTP', async () => (await subjectOf(harness.submissionPorts[0] as number)) === 'smtp two')
  expect(await subjectOf(harness.httpsPort, 'callsign.test')).toBe('api two')
  expect((await startTls()).getPeerCertificate().subject.CN).toBe('smtp two')

  socket.write('GET /healthz HTTP/1.1\r\nHost: callsign.test\r\n\r\n')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 /)
  expect(socket.getPeerCertificate().subject.CN).toBe('api one')
  mail.write('EHLO client.test\r\n')
  const [reply] = (await once(mail, 'data')) as [Buffer]
  expect(reply.toString()).toMatch(/^250/)
  for (const one of [socket, mail]) one.destroy()
})

test('plain HTTP is sent to HTTPS, keys are refused there, and a stop lets a request over HTTPS finish', async () => {
  const [database, data] = await Promise.all([createDatabase(), makeDataDir()])
  const server = await startCallsignd({
    CALLSIGN_DATABASE_URL: database.url,
    CALLSIGN_DATA_DIR: data.path,
    CALLSIGN_BOOTSTRAP_API_KEY: harness.organizationKey,
    CALLSIGN_PUBLIC_URL: 'https://callsign.test:8443',
    CALLSIGN_HTTPS_PORT: '0',
    CALLSIGN_HTTPS_TLS_CERT_FILE: files('tunnels').cert,
    CALLSIGN_HTTPS_TLS_KEY_FILE: files('tunnels').key,
    CALLSIGN_HTTP_REDIRECT: 'on',
    CALLSIGN_TUNNEL_DOMAIN: 'tunnel.test',
    CALLSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
  })
  try {
    const get = (path: string, headers: Record<string, string> = {}) => getPlain(server.httpPort, path, headers)
    expect(await get('/console/?a=b')).toMatchObject({ status: 308, headers: { location: 'https://callsign.test:8443/console/?a=b' } })
    // The host of a request is used for tunnels only, so that a link cannot lead elsewhere.
    expect(await get('/', { host: 'evil.test' })).toMatchObject({ headers: { location: 'https://callsign.test:8443/' } })
    expect(await get('//evil.test')).toMatchObject({ headers: { location: 'https://callsign.test:8443//evil.test' } })
    expect(await get('/x', { host: 'my-agent.tunnel.test:80' })).toMatchObject({
      headers: { location: 'https://my-agent.tunnel.test:8443/x' },
    })
    expect(await get('/x', { host: 'my-agent.tunnel.test', upgrade: 'websocket', connection: 'upgrade' })).toMatchObject({ status: 308 })
    const refused = await get('/api/v1/identities', { authorization: `Bearer ${harness.organizationKey}` })
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.body).error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('Replace this key') })
    expect((await get('/healthz')).status).toBe(200)
    expect((await get('/api/v1/identities', { 'x-forwarded-proto': 'https' })).status).toBe(401)

    const httpsPort = Number(/^callsign listening https .*:(\d+)$/m.exec(server.lines.join('\n'))?.[1])
    const body = JSON.stringify({ agent_handle: 'late' })
    const socket = connect({ host: '127.0.0.1', port: httpsPort, rejectUnauthorized: false })
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
    })
    const key = `Authorization: Bearer ${harness.organizationKey}\r\nContent-Type: application/json\r\n`
    socket.write(`POST /api/v1/identities HTTP/1.1\r\nHost: a\r\n${key}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
    await waitFor('the server to wait for the body', () => text.includes('100 Continue'))
    server.signal('SIGTERM')
    await waitFor('the port to close', () => isRefused(httpsPort))
    socket.write(body)
    expect((await server.ended).code).toBe(0)
    expect(text).toMatch(/\r\n\r\nHTTP\/1\.1 201 /)
  } finally {
    server.signal('SIGKILL')
    await server.ended
    await Promise.all([database.drop(), data.remove()])
  }
})

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectPlain(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })

test('settings that need one another stop the start', () => {
  const pair = { CALLSIGN_HTTPS_TLS_CERT_FILE: '/a', CALLSIGN_HTTPS_TLS_KEY_FILE: '/b' }
  expect(() => readConfig({ CALLSIGN_HTTPS_PORT: '443' })).toThrow(/CALLSIGN_HTTPS_PORT needs/)
  expect(() => readConfig({ CALLSIGN_HTTPS_PORT: '443', ...pair })).toThrow('CALLSIGN_HTTPS_PORT needs CALLSIGN_PUBLIC_URL=https://…')
  expect(() => readConfig({ CALLSIGN_HTTP_REDIRECT: 'on' })).toThrow('CALLSIGN_HTTP_REDIRECT needs CALLSIGN_PUBLIC_URL=https://…')
  expect(() => readConfig({ CALLSIGN_HTTPS_TLS_CERT_FILE: '/a' })).toThrow(/go together/)
})

test('the doctor reads the certificates of all settings', () => {
  const settings = {
    CALLSIGN_DATA_DIR: folder,
    CALLSIGN_HTTPS_TLS_CERT_FILE: files('api').cert,
    CALLSIGN_HTTPS_TLS_KEY_FILE: files('smtp').key,
    CALLSIGN_TUNNEL_TLS_CERT_FILE: files('tunnels').cert,
    CALLSIGN_TUNNEL_TLS_KEY_FILE: files('tunnels').key,
  }
  const textsOf = (more: Record<string, string>) =>
    checkMachine(readConfig({ ...settings, ...more })).map(({ state, text }) => `${state} ${text}`)
  expect(textsOf({})).toEqual(
    expect.arrayContaining([
      'attention The certificate of HTTPS (CALLSIGN_HTTPS_TLS_CERT_FILE) does not match the key in CALLSIGN_HTTPS_TLS_KEY_FILE.',
      expect.stringMatching(/^ok The certificate of tunnels \(CALLSIGN_TUNNEL_TLS_CERT_FILE\) matches its key/),
      'note SMTP generates a certificate at each start, which is enough for opportunistic TLS.',
    ]),
  )
  expect(textsOf({ CALLSIGN_ACME_DIRECTORY: 'https://acme.test/directory' })).toContain(
    'ok Certificates without files come from https://acme.test/directory.',
  )
})
