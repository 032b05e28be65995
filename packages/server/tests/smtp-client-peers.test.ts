// The SMTP client against nodemailer's smtp-server and Postfix's smtp-sink.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createRelayTransport } from '../src/edges/smtp/client/relay.ts'
import { createCertificate } from './harness/certificate.ts'
import { findFreePort } from './harness/peer-process.ts'
import { answer, cleanups, envelope, kinds, message, relayTo, scripted, welcome } from './harness/scripted-smtp.ts'

describe('against smtp-server', () => {
  type Taken = { from: string; to: string[]; raw: Buffer; isSecure: boolean; user: string | undefined }

  async function start(
    options: SMTPServerOptions = {},
  ): Promise<{ port: number; taken: Taken[]; connections: () => number; server: SMTPServer }> {
    const taken: Taken[] = []
    let connections = 0
    const server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      logger: false,
      onConnect: (_session, callback) => {
        connections++
        callback()
      },
      onAuth: (auth, _session, callback) =>
        auth.username === 'us er@x' && auth.password === 'p@ss:w\u00f6rd'
          ? callback(null, { user: auth.username })
          : callback(new Error('no')),
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope
          taken.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map((recipient) => recipient.address),
            raw: Buffer.concat(chunks),
            isSecure: session.secure,
            user: session.user as string | undefined,
          })
          callback()
        })
      },
      ...options,
    })
    server.on('error', () => undefined)
    await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve))
    cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
    return { port: (server.server.address() as AddressInfo).port, taken, connections: () => connections, server }
  }

  const authority = createCertificate({ commonName: 'test authority' })
  const certificate = createCertificate({ commonName: 'localhost', dnsNames: ['localhost'], issuer: authority })
  const stranger = createCertificate({ commonName: 'elsewhere', dnsNames: ['elsewhere.test'], issuer: authority })
  const withTls = (by: { cert: string; key: string } = certificate): SMTPServerOptions => ({
    hideSTARTTLS: false,
    cert: by.cert,
    key: by.key,
  })
  const login = `${encodeURIComponent('us er@x')}:${encodeURIComponent('p@ss:w\u00f6rd')}@`

  test('a message arrives octet by octet, with its dots', async () => {
    const server = await start()
    const raw = Buffer.from(`${['.', '..', '.x', '', '...', 'x.', ' .'].join('\r\n')}\r\n`)
    await relayTo(server.port).deliver({ ...envelope('a@x.test', 'b@x.test'), from: 'bounce+1@here.test' }, raw)
    const endless = Buffer.from('no line end')
    await relayTo(server.port).deliver(envelope('a@x.test'), endless)
    expect(server.taken[0]).toMatchObject({ from: 'bounce+1@here.test', to: ['a@x.test', 'b@x.test'] })
    expect(server.taken[0]?.raw.equals(raw)).toBe(true)
    expect(server.taken[1]?.raw.toString()).toBe('no line end\r\n')
  })

  test('STARTTLS is used when offered, verified when required, and kept for the reused connection', async () => {
    const server = await start(withTls())
    const relay = relayTo(server.port)
    for (let i = 0; i < 3; i++) expect(kinds(await relay.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.connections()).toBe(1)
    const strict = relayTo(server.port, { query: '?tls=required', ca: authority.cert })
    expect(kinds(await strict.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    const clear = relayTo(server.port, { query: '?tls=off' })
    expect(kinds(await clear.deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.taken.map((one) => one.isSecure)).toEqual([true, true, true, true, false])
  })

  test('required TLS that is missing, or has a wrong certificate, delivers nothing', async () => {
    const refusals: [SMTPServerOptions, string | undefined, string][] = [
      [{}, undefined, '4.7.10'],
      [withTls(), undefined, '4.7.5'],
      [withTls(stranger), authority.cert, '4.7.5'],
    ]
    for (const [options, ca, diagnosticCode] of refusals) {
      const server = await start(options)
      const relay = relayTo(server.port, { query: '?tls=required', ...(ca ? { ca } : {}) })
      expect(await relay.deliver(envelope('a@x.test'), message)).toMatchObject([{ kind: 'retry', diagnosticCode }])
      const trusting = relayTo(server.port, { query: '?tls=required&verify=false' })
      expect(kinds(await trusting.deliver(envelope('a@x.test'), message))).toEqual([options.cert ? 'delivered' : 'retry'])
    }
  })

  test('TLS from the first octet', async () => {
    const server = await start({ ...withTls(), secure: true })
    expect(kinds(await relayTo(server.port, { scheme: 'smtps', ca: authority.cert }).deliver(envelope('a@x.test'), message))).toEqual([
      'delivered',
    ])
    expect(await relayTo(server.port, { scheme: 'smtps' }).deliver(envelope('a@x.test'), message)).toMatchObject([{ kind: 'retry' }])
    expect(server.taken).toMatchObject([{ isSecure: true }])
  })

  test.each(['PLAIN', 'LOGIN'])('credentials by AUTH %s', async (mechanism) => {
    const server = await start({ ...withTls(), authOptional: false, authMethods: [mechanism as 'PLAIN'] })
    expect(kinds(await relayTo(server.port, { login }).deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(server.taken).toMatchObject([{ user: 'us er@x', isSecure: true }])
    const [wrong] = await relayTo(server.port, { login: 'who:what@' }).deliver(envelope('a@x.test'), message)
    expect(wrong).toMatchObject({ kind: 'retry', diagnosticCode: '4.7.8', answer: expect.stringContaining('535') })
    const [none] = await relayTo(server.port).deliver(envelope('a@x.test'), message)
    expect(none).toMatchObject({ kind: 'retry', answer: expect.stringContaining('530') })
  })

  test('clear text injected after the answer to STARTTLS is ignored', async () => {
    const server = await scripted(async (peer) => {
      await welcome(peer, 'STARTTLS')
      await peer.line()
      peer.say('220 go', '250 you are my friend')
    })
    const [outcome] = await relayTo(server.port, { query: '?tls=required' }).deliver(envelope('a@x.test'), message)
    expect(outcome).toMatchObject({ kind: 'retry' })
    await server.peers[0]?.gone
  })

  test('opportunistic TLS falls back to clear text when the handshake fails, required TLS never', async () => {
    const server = await scripted(async (peer, connection) => {
      await welcome(peer, 'STARTTLS')
      if (connection === 1) return answer(peer, { DATA: '354 go', END: '250 ok' })
      await peer.line()
      peer.say('220 go')
      peer.socket.once('data', () => peer.socket.write('this is no TLS\r\n'))
    })
    expect(kinds(await relayTo(server.port).deliver(envelope('a@x.test'), message))).toEqual(['delivered'])
    expect(await relayTo(server.port, { query: '?tls=required' }).deliver(envelope('a@x.test'), message)).toMatchObject([
      { kind: 'retry', diagnosticCode: '4.7.5' },
    ])
    expect(server.peers[1]?.seen).not.toContain('STARTTLS')
  })
})

describe('the address of the relay', () => {
  test.each([
    '',
    'localhost:25',
    'http://localhost',
    'smtp://',
    'smtp://x/path',
    'smtp://x?tls=maybe',
    'smtps://x?tls=off',
    'smtp://x?verify=no',
    'smtp://us%er@x',
  ])('%j is refused with a sentence', (url) => {
    expect(() => createRelayTransport({ url, hostname: 'here.test', log: createLog('silent') })).toThrow(/the relay/)
  })
})

const sink = '/usr/sbin/smtp-sink'
const hasSink = existsSync(sink)
describe.skipIf(!hasSink)(hasSink ? 'against smtp-sink' : `against smtp-sink (skipped: ${sink} is missing, apt install postfix)`, () => {
  test.each([1024, 10_240])('throughput with messages of %i octets', async (sizeBytes) => {
    const port = await findFreePort()
    // smtp-sink refuses to run as root without a user to change to, so root gives it one.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const child = spawn(sink, [...user, `127.0.0.1:${port}`, '100'], { stdio: 'ignore' })
    cleanups.push(() => child.kill('SIGKILL'))
    await listening(port)
    const relay = createRelayTransport({ url: `smtp://127.0.0.1:${port}`, hostname: 'here.test', log: createLog('silent') })
    cleanups.push(() => relay.close())
    const raw = Buffer.from(`Subject: load\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(Math.floor((sizeBytes - 17) / 72))}`)
    const run = async (count: number) => {
      let left = count
      let delivered = 0
      const worker = async () => {
        while (left-- > 0) if ((await relay.deliver(envelope('sink@x.test'), raw))[0]?.kind === 'delivered') delivered++
      }
      await Promise.all(Array.from({ length: 10 }, worker))
      return delivered
    }
    await run(500)
    const count = 3000
    const cpu = process.cpuUsage()
    const start = process.hrtime.bigint()
    expect(await run(count)).toBe(count)
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    const used = process.cpuUsage(cpu)
    console.log(
      `smtp-sink, ${sizeBytes} octets, ${Math.round(count / seconds)} msg/s, ${Math.round((used.user + used.system) / count)} µs CPU per message`,
    )
  })
})

/** Resolves when a server answers on the port. A refused connection is retried at once. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', () => resolve(false))
      socket.once('data', () => {
        socket.end('QUIT\r\n')
        resolve(true)
      })
    })
    if (isUp) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}
