// One process with the API and two with gateways on one database. Changes at the API take effect at the gateways within a second. Requests at the
// wrong process get an error that names it.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Callsign, type ListenOptions, type TunnelChange, type TunnelListener } from '../../sdk/src/index.ts'
import { type App, startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { type Origin, startOrigin, visit } from './harness/origin.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const host = 'sales.tunnel.localhost'

let harness: Harness
let origin: Origin
let gateways: App[]
/** Address for clients, which leads to the first gateway. */
let entrance: Server
const open: TunnelListener[] = []
const apiPort = () => Number(new URL(harness.baseUrl).port)
const portsOf = () => gateways.map((gateway) => gateway.httpPort as number)

beforeAll(async () => {
  const wires = new Set<Socket>()
  entrance = createServer((socket) => {
    const [port] = portsOf()
    if (port === undefined) return void socket.destroy()
    const onward = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      wires.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => entrance.listen(0, '127.0.0.1', resolve))
  const connectUrl = `http://127.0.0.1:${(entrance.address() as AddressInfo).port}`
  harness = await startHarness({ CALLSIGN_ROLES: 'api,worker', CALLSIGN_TUNNEL_CONNECT_URL: connectUrl })
  gateways = []
  for (let i = 0; i < 2; i++) gateways.push(await startGateway())
  origin = await startOrigin()
  await harness.createAgent('sales')
})
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close(0)
})
afterAll(async () => {
  entrance.close()
  for (const gateway of gateways) await gateway.stop()
  await harness.stop()
  await origin.stop()
})

const startGateway = (): Promise<App> => startApp(readConfig({ ...harness.environment, CALLSIGN_ROLES: 'gateway' }), createLog('silent'))

async function listen(handle = 'sales', key = harness.organizationKey, options: ListenOptions = {}): Promise<TunnelListener> {
  const listener = await new Callsign({ url: harness.baseUrl, apiKey: key }).tunnels.listen(handle, origin.port, {
    connections: 1,
    ...options,
  })
  open.push(listener)
  return listener
}
const seenAt = async (port: number, handle = 'sales'): Promise<unknown[]> => {
  const { status, headers } = await visit(port, `${handle}.tunnel.localhost`, '/plain')
  return [status, headers['x-tunnel-error']]
}
/** Waits until every gateway answers so. */
async function waitForEverywhere(wanted: unknown[], handle?: string): Promise<void> {
  for (const port of portsOf())
    await waitFor(`${wanted} at every gateway`, async () => JSON.stringify(await seenAt(port, handle)) === JSON.stringify(wanted))
}
const api = (method: string, path: string, body?: unknown): Promise<Json> =>
  harness.expectApi(method === 'POST' ? 201 : 200, method, path, body === undefined ? {} : { body })

test('clients find the gateways by connect_url, and either gateway forwards public requests to them', async () => {
  const listener = await listen()
  for (const port of portsOf()) expect(await seenAt(port)).toEqual([200, undefined])
  expect(await api('GET', '/tunnels/sales')).toMatchObject({ is_connected: true, connected_clients: 1 })
  expect(listener.connected).toBe(1)
})

test("a request or a client at a process without gateway gets an error, and the API is not served at a tunnel's address", async () => {
  for (const path of ['/', '/docs', '/api/v1/me', '/api/v1/tunnels/sales/connect']) {
    const answer = await visit(apiPort(), host, path, { headers: { authorization: `Bearer ${harness.organizationKey}` } })
    expect([answer.status, answer.headers['x-tunnel-error']]).toEqual([421, 'misdirected_request'])
  }
  expect((await visit(apiPort(), 'localhost', `http://${host}/docs`)).status).toBe(421)
  const upgrade = { connection: 'Upgrade', upgrade: 'callsign-tunnel/1', authorization: `Bearer ${harness.organizationKey}` }
  const refused = await visit(apiPort(), 'localhost', '/api/v1/tunnels/sales/connect', { headers: upgrade })
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
  expect(JSON.parse(refused.body.toString()).error.message).toContain('CALLSIGN_TUNNEL_CONNECT_URL')
  // Conversely, a gateway alone does not serve the API.
  expect((await fetch(`http://127.0.0.1:${portsOf()[0]}/api/v1/me`)).status).toBe(404)
})

test('a captured request is replayed through a process that only has the API', async () => {
  await listen()
  await api('PATCH', '/tunnels/sales', { capture: 'bodies' })
  const one = await waitFor('a captured request', async () => {
    await visit(portsOf()[1] as number, host, '/echo?n=1', { method: 'PUT', body: 'once more' })
    return (await api('GET', '/tunnels/sales/requests')).data.find((item: Json) => item.path === '/echo?n=1' && item.request_body !== null)
  })
  const replay = await api('POST', `/tunnels/sales/requests/${one.id}/replay`)
  expect(replay).toMatchObject({ method: 'PUT', path: '/echo?n=1', status: 200, error: null, replay_of: one.id })
  expect(Buffer.from(replay.response_body, 'base64').toString()).toBe('once more')
  expect(origin.seen.at(-1)).toMatchObject({ method: 'PUT', url: '/echo?n=1' })
  // Again at once, over the same link, and without a client it is an error.
  expect(await api('POST', `/tunnels/sales/requests/${one.id}/replay`)).toMatchObject({ status: 200 })
  for (const listener of open.splice(0)) await listener.close(0)
  await waitFor('nobody', async () => !(await api('GET', '/tunnels/sales')).is_connected)
  expect(await api('POST', `/tunnels/sales/requests/${one.id}/replay`)).toMatchObject({ status: 503, error: 'tunnel_offline' })
  await api('PATCH', '/tunnels/sales', { capture: 'off' })
})

test('the states suspended, active and disabled apply at every gateway', async () => {
  const listener = await listen()
  for (const [status, wanted] of [
    ['suspended', [503, 'tunnel_suspended']],
    ['active', [200, null]],
    ['disabled', [404, 'tunnel_not_found']],
  ] as const) {
    await api('PATCH', '/tunnels/sales', { status })
    await waitForEverywhere([...wanted])
    if (status !== 'disabled') expect(listener.connected).toBe(1)
  }
  await expect(listener.done).rejects.toMatchObject({ code: 'tunnel_disabled' })
  await expect(listen()).rejects.toMatchObject({ status: 403, code: 'tunnel_disabled' })
  await api('PATCH', '/tunnels/sales', { status: 'active' })
  await listen()
  await waitForEverywhere([200, null])
})

test('a key revoked at the API closes its connection, ends its requests in flight, and refuses public requests everywhere', async () => {
  const { id, key } = await api('POST', '/keys', { name: 'tunnel', type: 'agent', agent_handle: 'sales' })
  const listener = await listen('sales', key)
  const seenBefore = origin.seen.length
  const inFlight = portsOf().map((port) => visit(port, host, '/hang', { method: 'POST' }).then(({ status }) => status))
  await waitFor('both at the target', () => origin.seen.length === seenBefore + 2)
  await api('DELETE', `/keys/${id}`)
  await expect(listener.done).rejects.toMatchObject({ code: 'tunnel_revoked' })
  expect(await Promise.all(inFlight)).toEqual([502, 502])
  await waitForEverywhere([503, 'tunnel_offline'])
  await waitFor('nobody', async () => !(await api('GET', '/tunnels/sales')).is_connected)
  await expect(listen('sales', key)).rejects.toMatchObject({ status: 401 })
})

test('an expired key and a deleted identity do the same', async () => {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const { id, key } = await api('POST', '/keys', { name: 'short', type: 'agent', agent_handle: 'sales', expires_at })
  const expiring = await listen('sales', key)
  // As if the hour had passed.
  await harness.db.query({ text: 'UPDATE api_keys SET expires_at = now() WHERE id = $1', values: [id] })
  await expect(expiring.done).rejects.toMatchObject({ code: 'tunnel_revoked' })
  await harness.createAgent('mayfly')
  const listener = await listen('mayfly')
  await harness.expectApi(204, 'DELETE', '/identities/mayfly')
  await expect(listener.done).rejects.toMatchObject({ code: 'tunnel_deleted' })
  await waitForEverywhere([404, 'tunnel_not_found'], 'mayfly')
})

test('a client whose gateway refuses temporarily retries, and reports the reason', async () => {
  // The entrance leads to the process without a gateway first, as a load balancer before both might.
  const [first] = gateways as [App, App]
  gateways[0] = { ...first, httpPort: apiPort() }
  const changes: TunnelChange[] = []
  const listening = listen('sales', undefined, { onChange: (change) => changes.push(change) })
  await waitFor('a refusal', () => changes.some((change) => change.state === 'reconnecting' && change.reason.includes('CONNECT_URL')))
  gateways[0] = first
  expect((await listening).connected).toBe(1)
})

test('without a gateway, a replay through the API reports that no client is connected', async () => {
  await api('PATCH', '/tunnels/sales', { capture: 'headers' })
  await listen()
  const one = await waitFor('a captured request', async () => {
    await seenAt(portsOf()[0] as number)
    return (await api('GET', '/tunnels/sales/requests')).data.find((item: Json) => item.replay_refusal === null)
  })
  // The client's gateway stops last, because the client could not reconnect to another.
  for (const gateway of gateways.toReversed()) await gateway.stop()
  gateways = []
  expect(await api('POST', `/tunnels/sales/requests/${one.id}/replay`)).toMatchObject({ status: 503, error: 'tunnel_offline' })
})
