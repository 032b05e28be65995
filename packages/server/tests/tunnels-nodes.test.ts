// Three server processes on one database behind a load balancer, killed and stopped in turn while requests arrive. Only requests in flight at a dead
// node are lost.

import { cpSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { makeDataDir, type Server, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createDatabase } from './harness/database.ts'
import { type Origin, startOrigin, visit } from './harness/origin.ts'
import { waitFor } from './harness/wait.ts'

const key = generateKey()
const host = 'sales.tunnel.localhost'
const cleanups: (() => unknown)[] = []
let settings: Settings[]
let nodes: (Server | null)[]
let origin: Origin
let balancer: NetServer
let listener: TunnelListener
const ports = () => nodes.flatMap((node) => (node ? [node.httpPort] : []))
const balancerPort = () => (balancer.address() as AddressInfo).port

/** Connects to the next live node in turn, and skips one that refuses. */
function startBalancer(): Promise<NetServer> {
  let next = 0
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    const attempt = (left: number) => {
      const list = ports()
      const onward = connect(list[next++ % list.length] as number, '127.0.0.1')
      onward.once('error', () => (left > 0 ? attempt(left - 1) : socket.destroy()))
      onward.once('connect', () => {
        onward.on('error', () => socket.destroy())
        socket.on('close', () => onward.destroy())
        onward.on('close', () => socket.destroy())
        onward.pipe(socket)
        socket.pipe(onward)
      })
    }
    attempt(6)
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const api = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const [port] = ports()
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Record<string, unknown>
}

beforeAll(async () => {
  const database = await createDatabase()
  cleanups.push(database.drop)
  origin = await startOrigin()
  cleanups.push(origin.stop)
  settings = []
  nodes = []
  for (let i = 0; i < 3; i++) {
    const folder = await makeDataDir()
    cleanups.push(folder.remove)
    // One installation has one keyring.
    if (i > 0) cpSync(`${settings[0]?.CALLSIGN_DATA_DIR}/keyring`, `${folder.path}/keyring`, { recursive: true })
    settings.push({
      CALLSIGN_DATABASE_URL: database.url,
      CALLSIGN_DATA_DIR: folder.path,
      CALLSIGN_BOOTSTRAP_API_KEY: key,
      CALLSIGN_SMTP_PORT: 'off',
      CALLSIGN_ROLES: 'api,gateway',
      CALLSIGN_LOG_LEVEL: 'warn',
    })
    nodes.push(await startCallsignd(settings[i] as Settings))
  }
  balancer = await startBalancer()
  await api('POST', '/identities', { agent_handle: 'sales' })
  listener = await new Callsign({ url: `http://127.0.0.1:${balancerPort()}`, apiKey: key }).tunnels.listen('sales', origin.port)
  await waitFor('both connections', () => listener.connected === 2, 40_000)
})
afterAll(async () => {
  await listener?.close(0)
  balancer?.close()
  for (const node of nodes) {
    node?.signal('SIGKILL')
    await node?.ended
  }
  for (const cleanup of cleanups.reverse()) await cleanup()
})

test('every node answers for a client of any node, and counts it once', async () => {
  for (const port of ports()) {
    const answer = await visit(port, host, '/plain')
    expect([answer.status, answer.body.toString()]).toEqual([200, 'hello from /plain'])
    const upload = Buffer.alloc(3_000_000, 'n')
    expect((await visit(port, host, '/echo', { method: 'POST', body: upload })).body.equals(upload)).toBe(true)
    expect((await visit(port, host, '/bytes?size=5000000')).body.length).toBe(5_000_000)
  }
  expect(await api('GET', '/tunnels/sales')).toMatchObject({ is_connected: true, connected_clients: 1 })
})

test('a status applies on every node', async () => {
  for (const [status, wanted] of [
    ['suspended', 503],
    ['active', 200],
  ] as const) {
    await api('PATCH', '/tunnels/sales', { status })
    for (const port of ports()) await waitFor(`${wanted} at every node`, async () => (await visit(port, host, '/plain')).status === wanted)
  }
})

const upload = Buffer.alloc(2000, 'u')

/** Sends requests through the balancer without a pause until stopped, every other one with a body. Records answers other than 200. */
function startLoad() {
  const failures: string[] = []
  let answered = 0
  let isOver = false
  const loops = Array.from({ length: 6 }, async (_, i) => {
    while (!isOver) {
      const asked =
        i % 2 === 0 ? visit(balancerPort(), host, '/plain') : visit(balancerPort(), host, '/echo', { method: 'POST', body: upload })
      await asked.then(
        ({ status, headers }) => (status === 200 ? answered++ : failures.push(`${status} ${headers['x-tunnel-error']}`)),
        (error: Error) => failures.push(error.message),
      )
    }
  })
  return {
    failures,
    answered: () => answered,
    stop: async () => {
      isOver = true
      await Promise.all(loops)
    },
  }
}

test('nodes killed in turn lose their requests in flight and nothing after', async () => {
  for (let i = 0; i < 3; i++) {
    await waitFor('two connections', () => listener.connected === 2, 40_000)
    const load = startLoad()
    await waitFor('some answers', () => load.answered() > 50)
    const dying = nodes[i] as Server
    nodes[i] = null
    dying.signal('SIGKILL')
    await dying.ended
    const atKill = load.answered()
    await waitFor('answers from the others', () => load.answered() > atKill + 150)
    await load.stop()
    // Six concurrent public clients. Each may have had one request at the dying node, either received there or on its way to it.
    expect(load.failures.length, load.failures.join(', ')).toBeLessThanOrEqual(6)
    nodes[i] = await startCallsignd(settings[i] as Settings)
  }
})

test('nodes stopped in turn, as a deployment does, drop no request', async () => {
  for (let i = 0; i < 3; i++) {
    await waitFor('two connections', () => listener.connected === 2, 40_000)
    const load = startLoad()
    await waitFor('some answers', () => load.answered() > 50)
    const leaving = nodes[i] as Server
    // The balancer is updated first, as a readiness check would do.
    nodes[i] = null
    const ended = leaving.stop()
    const before = load.answered()
    await waitFor('answers meanwhile', () => load.answered() > before + 150)
    expect((await ended).code).toBe(0)
    await load.stop()
    expect(load.failures).toEqual([])
    nodes[i] = await startCallsignd(settings[i] as Settings)
  }
})

test('a dead node’s clients are removed, with an event', async () => {
  await listener.close(0)
  await waitFor('nobody connected', async () => (await api('GET', '/tunnels/sales')).is_connected === false)
})
