// Shutdown. A signal lets in-flight work end, changes /readyz, and exits 0. A second signal exits at once.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { generateKey } from '../src/features/account/keys/model.ts'
import { makeDataDir, type Server, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createDatabase } from './harness/database.ts'
import { waitFor } from './harness/wait.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const key = generateKey()
async function start(more: Settings = {}): Promise<{ server: Server; settings: Settings }> {
  const database = await createDatabase()
  const folder = await makeDataDir()
  cleanups.push(database.drop, folder.remove)
  const settings = {
    CALLSIGN_DATABASE_URL: database.url,
    CALLSIGN_DATA_DIR: folder.path,
    CALLSIGN_BOOTSTRAP_API_KEY: key,
    ...more,
  }
  return { server: await run(settings), settings }
}
async function run(settings: Settings): Promise<Server> {
  const server = await startCallsignd(settings)
  cleanups.push(async () => {
    server.signal('SIGKILL')
    await server.ended
  })
  return server
}
async function api(server: Server, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const response = await fetch(`${server.baseUrl}/api/v1${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  return response.json() as Promise<Record<string, unknown> & { messages: { subject: string }[] }>
}

/** A connection, its received text, and a wait for a pattern in it. */
async function open(port: number | null) {
  const socket: Socket = connect(port as number, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    write: (line: string) => void socket.write(line),
    until: (pattern: RegExp) => waitFor(`${pattern} in what the server said: ${text}`, () => pattern.exec(text)),
    isClosed: () => socket.closed || socket.readableEnded,
  }
}
const isRefused = (port: number | null): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port as number, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })

const mailBody = (subject: string) => JSON.stringify({ agent: 'ann', to: ['x@example.com'], subject, text: 'a' })
/** A request whose body is half sent. */
async function halfSend(server: Server, subject: string) {
  const body = mailBody(subject)
  const http = await open(server.httpPort)
  http.write(
    `POST /api/v1/mail/send HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
  )
  return { ...http, finish: () => http.write(body.slice(20)) }
}
/** An SMTP transaction in the middle of its DATA. */
async function halfDeliver(server: Server, subject: string) {
  const smtp = await open(server.smtpPort)
  await smtp.until(/^220 /m)
  smtp.write('EHLO there.example\r\n')
  await smtp.until(/^250 /m)
  smtp.write('MAIL FROM:<eve@example.org>\r\nRCPT TO:<ann@agents.localhost>\r\nDATA\r\n')
  await smtp.until(/^354 /m)
  smtp.write(`From: eve@example.org\r\nSubject: ${subject}\r\n\r\nhalf `)
  return { ...smtp, finish: () => smtp.write('whole\r\n.\r\n') }
}

test('SIGTERM lets requests and DATA in flight end with /readyz at 503, refuses new connections, and exits 0', async () => {
  const { server, settings } = await start()
  await api(server, 'POST', '/identities', { agent_handle: 'ann' })
  const [http, smtp] = [await halfSend(server, 'Half a request'), await halfDeliver(server, 'Half a message')]
  const ready = await open(server.httpPort)
  ready.write('GET /readyz HTTP/1.1\r\nHost: a\r\n')
  const idle = await open(server.smtpPort)
  await idle.until(/^220 /m)

  server.signal('SIGTERM')
  await waitFor('both ports to be closed', async () => (await isRefused(server.httpPort)) && (await isRefused(server.smtpPort)))
  ready.write('\r\n')
  await ready.until(/^HTTP\/1\.1 503 [\s\S]*"status":"draining"/)
  await idle.until(/^421 4\.3\.2/m)

  http.finish()
  await http.until(/^HTTP\/1\.1 201 [\s\S]*"status":"queued"/)
  smtp.finish()
  await smtp.until(/^250 2\.0\.0 queued as msg_/m)
  const { code, stderr } = await server.ended
  expect([code, stderr.split('\n').filter((line) => line.includes('"level":"error"'))]).toEqual([0, []])

  const next = await run(settings)
  const { messages } = await api(next, 'GET', '/mail/messages')
  expect(messages.map((one) => one.subject).toSorted()).toEqual(['Half a message', 'Half a request'])
  expect((await next.stop()).code).toBe(0)
})

test('a request is cut off after CALLSIGN_DRAIN_SECONDS, and the exit code is 0', async () => {
  const { server } = await start({ CALLSIGN_DRAIN_SECONDS: '1' })
  await api(server, 'POST', '/identities', { agent_handle: 'ann' })
  await Promise.all([halfSend(server, 'Never'), halfDeliver(server, 'Never')])
  const beganMs = performance.now()
  expect((await server.stop()).code).toBe(0)
  expect(performance.now() - beganMs).toBeGreaterThan(900)
})

test('a Ctrl-C that arrives from the terminal and from npm counts once, and in-flight work ends', async () => {
  const { server } = await start()
  await api(server, 'POST', '/identities', { agent_handle: 'ann' })
  const http = await halfSend(server, 'Under way')
  server.signal('SIGINT')
  server.signal('SIGINT')
  await waitFor('the port to be closed', () => isRefused(server.httpPort))
  http.finish()
  await http.until(/^HTTP\/1\.1 201 [\s\S]*"status":"queued"/)
  expect((await server.ended).code).toBe(0)
})

test('a second signal exits at once', async () => {
  const { server } = await start()
  await api(server, 'POST', '/identities', { agent_handle: 'ann' })
  await halfSend(server, 'Never')
  server.signal('SIGTERM')
  await waitFor('the port to be closed', () => isRefused(server.httpPort))
  server.signal('SIGTERM')
  const { code } = await server.ended
  // The end of the grace would have been 0.
  expect(code).not.toBe(0)
})
