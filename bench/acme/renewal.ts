// Renews every certificate of a Callsign server while clients connect over HTTPS, STARTTLS, submission and a tunnel, and counts connections.
import { once } from 'node:events'
import { request } from 'node:https'
import { connect as dial } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { Callsign } from '../../packages/sdk/src/index.ts'
import { acmeNames, startAcmeWorld } from '../../packages/server/tests/harness/acme/world.ts'
import { makeDataDir, startCallsignd } from '../../packages/server/tests/harness/callsignd.ts'
import { startOrigin } from '../../packages/server/tests/harness/origin.ts'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { waitFor } from '../../packages/server/tests/harness/wait.ts'
import { type Checklist, expectThat } from '../harness/checklist.ts'

/** Every kind of client has to see this many certificates. */
const certificatesMin = 3
const keepAliveMs = 1_000
const clientsPerKind = 4
const reportMsMax = 240_000

type Counts = { made: number; refused: number; serials: Map<string, number>; errors: Set<string> }

/** Opens one connection, does its work, and resolves with the serial number of the certificate. */
type Attempt = () => Promise<string>

const tunnelHost = `my-agent.${acmeNames.tunnels}`

export async function renewUnderLoad(check: Checklist['check']): Promise<void> {
  const [httpPort, httpsPort, smtpPort, submissionsPort] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ])
  const world = await startAcmeWorld(() => httpPort)
  const data = await makeDataDir()
  const server = await startCallsignd({
    ...world.settings,
    CALLSIGN_DATA_DIR: data.path,
    CALLSIGN_PORT: String(httpPort),
    CALLSIGN_HTTPS_PORT: String(httpsPort),
    CALLSIGN_SMTP_PORT: String(smtpPort),
    CALLSIGN_SUBMISSIONS_PORT: String(submissionsPort),
    CALLSIGN_METRICS_PORT: 'off',
  })
  const origin = await startOrigin()
  const client = new Callsign({ url: server.baseUrl, apiKey: server.key as string })
  await client.identities.create({ agent_handle: 'my_agent' })
  const listener = await client.tunnels.listen('my_agent', origin.port)
  const trusted = { host: '127.0.0.1', ca: world.acme.root }
  const attempts: Record<string, Attempt> = {
    HTTPS: () => get(httpsPort, acmeNames.api, '/healthz', trusted),
    tunnel: () => get(httpsPort, tunnelHost, '/through', trusted),
    STARTTLS: () => startTls(smtpPort, trusted.ca),
    submission: () => submit(submissionsPort, trusted.ca),
  }
  try {
    const startedMs = performance.now()
    await check('the first certificates are issued by the authority', async () => {
      for (const attempt of Object.values(attempts)) await waitFor('the first certificate', () => attempt().catch(() => null), reportMsMax)
      return `${world.acme.state.certificates.size} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`
    })
    const kept = await keepOpen(httpsPort, trusted.ca)
    for (const name of [acmeNames.api, acmeNames.mail, `*.${acmeNames.tunnels}`])
      world.acme.suggest(name, { startMs: Date.now() - 2, endMs: Date.now() - 1 })
    const counts = await load(attempts)
    for (const [kind, { made, refused, serials, errors }] of Object.entries(counts))
      await check(`${kind} during renewals`, () => {
        expectThat(refused === 0, `${refused} of ${made + refused} refused: ${[...errors].join(', ')}`)
        expectThat(serials.size >= certificatesMin, `only ${serials.size} certificates were seen`)
        return `${made} connections, 0 refused, by certificate in order: ${[...serials.values()].join(', ')}`
      })
    await check('one HTTPS connection stayed open through all renewals', () => {
      const answers = kept.end()
      expectThat(answers > 1, 'it was closed')
      return `${answers} requests with the first certificate`
    })
  } finally {
    await listener.close(0)
    await server.stop()
    await Promise.all([origin.stop(), world.stop(), data.remove()])
  }
}

/** Keeps clients of every kind busy until each kind has seen enough certificates. */
async function load(attempts: Record<string, Attempt>): Promise<Record<string, Counts>> {
  const counts = Object.fromEntries(
    Object.keys(attempts).map((kind): [string, Counts] => [kind, { made: 0, refused: 0, serials: new Map(), errors: new Set() }]),
  )
  const deadlineMs = performance.now() + reportMsMax
  const isDone = () => Object.values(counts).every(({ serials }) => serials.size >= certificatesMin) || performance.now() > deadlineMs
  const clients = Object.entries(attempts).flatMap(([kind, attempt]) =>
    Array.from({ length: clientsPerKind }, async () => {
      const own = counts[kind] as Counts
      while (!isDone()) {
        try {
          const serial = await attempt()
          own.made++
          own.serials.set(serial, (own.serials.get(serial) ?? 0) + 1)
        } catch (error) {
          own.refused++
          own.errors.add((error as Error).message)
        }
      }
    }),
  )
  await Promise.all(clients)
  return counts
}

/** Sends requests on one connection. `end` returns the number of answers, or 0 when the connection was closed meanwhile. */
async function keepOpen(port: number, ca: string): Promise<{ end: () => number }> {
  const socket = await connectTo(port, acmeNames.api, ca)
  let answers = 0
  socket.on('data', (bytes: Buffer) => {
    answers += bytes.toString().match(/HTTP\/1\.1 200/g)?.length ?? 0
  })
  socket.on('close', () => {
    answers = 0
  })
  const send = () => socket.write(`GET /healthz HTTP/1.1\r\nHost: ${acmeNames.api}\r\n\r\n`)
  const timer = setInterval(send, keepAliveMs)
  send()
  return {
    end() {
      clearInterval(timer)
      const count = answers
      socket.destroy()
      return count
    },
  }
}

async function connectTo(port: number, servername: string, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca })
  await once(socket, 'secureConnect')
  return socket
}

function get(port: number, servername: string, path: string, trusted: { host: string; ca: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...trusted, port, servername, path, headers: { host: servername }, agent: false }, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate()
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? resolve(serialNumber) : reject(new Error(`status ${response.statusCode}`))))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Resolves with the last line of the next SMTP reply. */
async function reply(socket: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for (;;) {
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    text += bytes.toString()
    const last = /(?:^|\r\n)(\d{3} [^\r]*)\r\n$/.exec(text)?.[1]
    if (last !== undefined) return last
  }
}

async function greet(socket: TLSSocket): Promise<string> {
  const { serialNumber } = socket.getPeerCertificate()
  socket.write('EHLO client.test\r\n')
  expectThat((await reply(socket)).startsWith('250'), 'EHLO over TLS was refused')
  socket.destroy()
  return serialNumber
}

async function startTls(port: number, ca: string): Promise<string> {
  const plain = dial(port, '127.0.0.1')
  expectThat((await reply(plain)).startsWith('220'), 'no greeting')
  for (const [command, code] of [
    ['EHLO client.test', '250'],
    ['STARTTLS', '220'],
  ] as const) {
    plain.write(`${command}\r\n`)
    expectThat((await reply(plain)).startsWith(code), `${command} was refused`)
  }
  const socket = connect({ socket: plain, servername: acmeNames.mail, ca })
  await once(socket, 'secureConnect')
  return greet(socket)
}

async function submit(port: number, ca: string): Promise<string> {
  const socket = await connectTo(port, acmeNames.mail, ca)
  expectThat((await reply(socket)).startsWith('220'), 'no greeting')
  return greet(socket)
}
