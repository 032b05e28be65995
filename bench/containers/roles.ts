// Starts one container per role on one external PostgreSQL, one keyring and one blob store, and checks that each does its work and no other.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Callsign } from '@callsign/sdk'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { startMailSink } from '../../packages/server/tests/harness/mail-sink.ts'
import { startOrigin, visit } from '../../packages/server/tests/harness/origin.ts'
import { waitFor } from '../../packages/server/tests/harness/wait.ts'
import { type Checklist, expectThat } from '../harness/checklist.ts'
import { type Container, createContainer, limits } from './container.ts'
import { freshFolder, podman } from './images.ts'
import { postgresImage } from './postgres-image.ts'
import { agent, deliver } from './traffic.ts'

const image = 'localhost/callsign:current'
const volume = 'callsign-roles-test'
const database = `${volume}-postgres`
const password = 'a-password-of-the-test'
const waitMs = 60_000
const roles = ['api', 'smtp', 'worker', 'gateway'] as const
type Role = (typeof roles)[number]
/** One HTTP port per process, because all containers share the network. */
const httpPorts: Record<Role, number> = { api: 8081, smtp: 8082, worker: 8083, gateway: 8084 }
const smtpPort = 2525
const tunnelHost = `${agent}.tunnel.localhost`

export async function checkRoles(check: Checklist['check']): Promise<void> {
  const sink = await startMailSink()
  const origin = await startOrigin()
  const apiKey = generateKey()
  const client = new Callsign({ url: `http://127.0.0.1:${httpPorts.api}`, apiKey })
  const settings = {
    CALLSIGN_DATABASE_URL: `postgres://callsign:${password}@127.0.0.1/callsign`,
    CALLSIGN_HOST: '127.0.0.1',
    CALLSIGN_SMTP_PORT: String(smtpPort),
    CALLSIGN_METRICS_PORT: 'off',
    CALLSIGN_BOOTSTRAP_API_KEY: apiKey,
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
    CALLSIGN_TUNNEL_CONNECT_URL: `http://127.0.0.1:${httpPorts.gateway}`,
  }
  const containers = Object.fromEntries(
    roles.map((role) => [
      role,
      createContainer({
        name: `callsign-role-${role}`,
        volume,
        port: httpPorts[role],
        settings: { ...settings, CALLSIGN_ROLES: role, CALLSIGN_PORT: String(httpPorts[role]) },
      }),
    ]),
  ) as Record<Role, Container>
  try {
    if (!(await check('roles: one container each on one PostgreSQL', () => startAll(containers)))) return
    await check('roles: api takes a request, and is the only one that does', async () => {
      await client.identities.create({ agent_handle: agent })
      for (const role of roles) {
        const { status } = await fetch(`http://127.0.0.1:${httpPorts[role]}/api/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } })
        expectThat((status === 200) === (role === 'api'), `${role} answered ${status}`)
      }
      return undefined
    })
    await check('roles: smtp takes mail, which api lists', async () => {
      expectThat(await deliver(smtpPort, 'in'), 'the message was refused')
      await waitFor('the message', async () => (await client.messages.list(agent)).data.some(({ subject }) => subject === 'in'), waitMs)
      return undefined
    })
    await check('roles: worker sends, and without it mail waits', async () => {
      containers.worker.stop()
      await client.messages.send(agent, { to: ['grace@example.net'], subject: 'out', text: 'Hello.' })
      const { data } = await client.messages.list(agent, { limit: 1 })
      expectThat(sink.mails.length === 0, `the relay has the message, and its status is ${data[0]?.status}`)
      await containers.worker.start()
      await waitFor('the message at the relay', () => sink.mails.some(({ parsed }) => parsed.subject === 'out'), waitMs)
      return undefined
    })
    await check('roles: gateway carries a tunnel', async () => {
      const listener = await client.tunnels.listen(agent, origin.port)
      try {
        const { status, body } = await visit(httpPorts.gateway, tunnelHost, '/here')
        expectThat(status === 200 && body.toString() === 'hello from /here', `${status} ${body}`)
      } finally {
        await listener.close(0)
      }
      return tunnelHost
    })
    await check('roles: smtp and gateway killed, api answers', async () => {
      for (const role of ['smtp', 'gateway'] as const) containers[role].kill()
      expectThat(!(await isOpen(smtpPort)), 'something listens for SMTP')
      return (await client.messages.list(agent)).data.map(({ subject }) => subject).join(', ')
    })
  } finally {
    for (const role of roles) containers[role].remove()
    podman(['rm', '--force', '--ignore', database])
    podman(['volume', 'rm', '--force', volume, database])
    await Promise.all([sink.close(), origin.stop()])
  }
}

/** The first one creates the tables and the keyring. */
async function startAll(containers: Record<Role, Container>): Promise<string> {
  const beganMs = performance.now()
  const passwordFile = join(freshFolder('roles'), 'postgres-password')
  writeFileSync(passwordFile, password)
  podman([
    ...['run', '--detach', '--name', database, '--network=host', '--volume', `${database}:/var/lib/postgresql`, ...limits()],
    ...['--env', 'POSTGRES_USER=callsign', '--env', 'POSTGRES_DB=callsign', '--env', 'POSTGRES_PASSWORD_FILE=/run/password'],
    ...[
      '--volume',
      `${passwordFile}:/run/password:ro`,
      '--env',
      'POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale-provider=builtin --locale=C.UTF-8',
      postgresImage,
    ],
  ])
  const times: string[] = []
  for (const role of roles) times.push(`${role} ${((await containers[role].create(image)) / 1000).toFixed(1)} s`)
  return `${times.join(', ')}; all after ${((performance.now() - beganMs) / 1000).toFixed(1)} s`
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
