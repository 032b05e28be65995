// Time until a revoked key loses its open tunnel, event stream and waiting request, and until a changed tunnel status applies.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Callsign } from '../packages/sdk/src/index.ts'
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { readOptions } from './harness/side-by-side.ts'
import { printHead, printTable, withSpread } from './harness/table.ts'

const { rounds } = readOptions()
const handle = 'measured'
const times: Record<string, number[]> = {}

/** Measures from the start of `change` until `event`. */
async function measure(name: string, change: () => Promise<unknown>, event: () => Promise<unknown>): Promise<void> {
  const beganMs = performance.now()
  await change()
  await event()
  times[name] ??= []
  times[name].push(performance.now() - beganMs)
}

const target = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
await once(target, 'listening')
const targetPort = (target.address() as AddressInfo).port

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const key = server.key as string
const api = <T>(method: string, path: string, body?: unknown): Promise<T> => ask<T>(server, key, method, `/api/v1${path}`, body)
const newKey = () => api<{ id: string; key: string }>('POST', '/keys', { name: 'measured', type: 'agent', agent_handle: handle })
const revoke = (id: string) => api('DELETE', `/keys/${id}`)

/** The status of a public request, on a connection of its own. */
async function statusOf(): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET / HTTP/1.1\r\nHost: ${handle}.tunnel.localhost\r\nConnection: close\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return chunk.toString('latin1', 9, 12)
}

async function untilStatus(wanted: string): Promise<void> {
  while ((await statusOf()) !== wanted);
}

await api('POST', '/identities', { agent_handle: handle })
for (let round = 0; round < rounds; round++) {
  const forTunnel = await newKey()
  const listener = await new Callsign({ url: server.url, apiKey: forTunnel.key }).tunnels.listen(handle, targetPort)
  await untilStatus('200')
  for (const [status, wanted] of [
    ['suspended', '503'],
    ['active', '200'],
  ] as const) {
    const change = () => api('PATCH', `/tunnels/${handle}`, { status })
    await measure(`tunnel status ${status} applies`, change, () => untilStatus(wanted))
  }
  const closed = listener.done.catch(() => {})
  await measure(
    'tunnel of a revoked key closed',
    () => revoke(forTunnel.id),
    () => closed,
  )

  const forWait = await newKey()
  const wait = fetch(`${server.url}/api/v1/mailboxes/${handle}/wait?timeout=60`, { headers: { authorization: `Bearer ${forWait.key}` } })
  const forStream = await newKey()
  const stream = await fetch(`${server.url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${forStream.key}` } })
  const streamEnded = stream.text().catch(() => {})
  await measure(
    'waiting request of a revoked key answered',
    () => revoke(forWait.id),
    () => wait,
  )
  await measure(
    'event stream of a revoked key ended',
    () => revoke(forStream.id),
    () => streamEnded,
  )
}
await server.stop()
directory.remove()

printHead('Revocation', ['From sending the change until its effect. The documents promise one second, and two for a waiting request.'])
printTable(
  ['event', 'ms'],
  Object.entries(times).map(([name, own]) => [name, withSpread(own)]),
)
process.exit()
