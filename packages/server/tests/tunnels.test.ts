// Tunnels in the API. Covers their fields, permissions, and the effect of clients that connect and disconnect.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Callsign, type TunnelListener } from '../../sdk/src/index.ts'
import { type Origin, startOrigin, visit } from './harness/origin.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let origin: Origin
const open: TunnelListener[] = []
beforeAll(async () => {
  harness = await startHarness()
  origin = await startOrigin()
  for (const handle of ['first', 'second_one', 'third']) await harness.createAgent(handle)
})
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close(0)
})
afterAll(async () => {
  await harness.stop()
  await origin.stop()
})

const client = (key = harness.organizationKey) => new Callsign({ url: harness.baseUrl, apiKey: key })
const port = () => Number(new URL(harness.baseUrl).port)
const listen = async (handle: string, key?: string, options = {}) => {
  const listener = await client(key).tunnels.listen(handle, origin.port, options)
  open.push(listener)
  return listener
}
const get = (handle: string): Promise<Json> => harness.expectApi(200, 'GET', `/tunnels/${handle}`)

test('a tunnel has the fields of the contract, by handle and by id', async () => {
  const tunnel = await get('second_one')
  const identity = await harness.expectApi(200, 'GET', '/identities/second_one')
  expect(tunnel).toMatchObject({
    id: expect.stringMatching(/^tun_/),
    agent_id: identity.id,
    agent_handle: 'second_one',
    public_url: 'https://second_one.tunnel.localhost',
    local_url: `http://second_one.tunnel.localhost:${new URL(harness.baseUrl).port}/`,
    capture: 'bodies',
    status: 'active',
    is_connected: false,
    connected_clients: 0,
    last_request_at: null,
  })
  expect(await get(tunnel.id)).toEqual(tunnel)
  expect((await harness.api('GET', '/tunnels/nobody')).status).toBe(404)
  expect((await harness.api('GET', `/tunnels/${tunnel.id}`, { key: harness.otherOrganization.key })).status).toBe(404)
})

test('the list is newest first, its cursor is the id of the last item, and status filters it', async () => {
  const all = await harness.expectApi(200, 'GET', '/tunnels')
  expect(all).toMatchObject({ object: 'list', has_more: false })
  expect(all.data.map((one: Json) => one.agent_handle)).toEqual(['third', 'second_one', 'first'])
  const first = await harness.expectApi(200, 'GET', '/tunnels?limit=2')
  expect([first.data.length, first.has_more]).toEqual([2, true])
  const rest = await harness.expectApi(200, 'GET', `/tunnels?limit=2&cursor=${first.data[1].id}`)
  expect([rest.data.map((one: Json) => one.agent_handle), rest.has_more]).toEqual([['first'], false])
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'suspended' } })
  expect((await harness.expectApi(200, 'GET', '/tunnels?status=suspended')).data.map((one: Json) => one.agent_handle)).toEqual(['third'])
  expect((await harness.expectApi(200, 'GET', '/tunnels?status=disabled')).data).toEqual([])
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'active' } })
  for (const query of ['limit=0', 'limit=101', 'status=open', 'cursor=nonsense'])
    expect((await harness.api('GET', `/tunnels?${query}`)).status).toBe(400)
})

test('any status may follow any other', async () => {
  const statuses = ['active', 'suspended', 'disabled']
  for (const from of statuses) {
    for (const to of statuses) {
      await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: from } })
      expect((await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: to } })).status).toBe(to)
    }
  }
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'active' } })
  for (const body of [{}, { status: 'open' }, { status: null }, { public_url: 'x' }])
    expect((await harness.api('PATCH', '/tunnels/third', { body })).status).toBe(400)
})

test('an agent key sees its own tunnel, cannot change it, and 403 reveals nothing of others', async () => {
  const key = await harness.agentKey('first')
  expect((await harness.expectApi(200, 'GET', '/tunnels', { key })).data.map((one: Json) => one.agent_handle)).toEqual(['first'])
  const own = await harness.expectApi(200, 'GET', '/tunnels/first', { key })
  expect((await harness.api('GET', `/tunnels/${own.id}`, { key })).status).toBe(200)
  for (const other of ['third', 'nobody', (await get('third')).id])
    expect((await harness.api('GET', `/tunnels/${other}`, { key })).status).toBe(403)
  expect((await harness.api('PATCH', '/tunnels/first', { key, body: { status: 'disabled' } })).status).toBe(403)
  await expect(listen('third', key)).rejects.toMatchObject({ status: 403 })
})

test('a client is counted while connected, with an event for the first and after the last', async () => {
  const { id } = await get('first')
  const events = async () => (await harness.eventsOf(id)).map(({ type }) => type)
  const one = await listen('first', await harness.agentKey('first'))
  await waitFor('both connections', () => one.connected === 2)
  expect(await get('first')).toMatchObject({ is_connected: true, connected_clients: 1 })
  const two = await listen('first', undefined, { connections: 1 })
  expect(await get('first')).toMatchObject({ connected_clients: 2 })
  expect(await events()).toEqual(['tunnel.connected'])
  await one.close()
  await waitFor('one client left', async () => (await get('first')).connected_clients === 1)
  await two.close()
  await waitFor('none left', async () => !(await get('first')).is_connected)
  expect(await events()).toEqual(['tunnel.connected', 'tunnel.disconnected'])
  await expect(two.done).resolves.toBeUndefined()
})

test('a request at the public address reaches the target, and last_request_at has its time', async () => {
  await listen('second_one')
  for (const host of ['second_one.tunnel.localhost', 'second-one.tunnel.localhost:80', 'Second-One.TUNNEL.localhost']) {
    const answer = await visit(port(), host, '/a?b=c')
    expect([answer.status, answer.body.toString()]).toEqual([200, 'hello from /a?b=c'])
  }
  await waitFor('last_request_at', async () => (await get('second_one')).last_request_at !== null)
  expect(origin.seen.at(-1)?.headers).toMatchObject({
    host: `localhost:${origin.port}`,
    'x-forwarded-host': 'Second-One.TUNNEL.localhost',
    'x-forwarded-proto': 'http',
    'x-forwarded-for': '127.0.0.1',
    via: '1.1 callsign',
  })
})

test('active serves, suspended is 503 and keeps its clients, disabled is 404 and disconnects them, no client is 503, and an unknown name is 404', async () => {
  const host = 'third.tunnel.localhost'
  const look = async () => {
    const { status, headers } = await visit(port(), host, '/')
    return [status, headers['x-tunnel-error'], headers['retry-after']]
  }
  expect(await look()).toEqual([503, 'tunnel_offline', '5'])
  const listener = await listen('third')
  expect(await look()).toEqual([200, undefined, undefined])
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'suspended' } })
  expect(await look()).toEqual([503, 'tunnel_suspended', '60'])
  expect(listener.connected).toBeGreaterThan(0)
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'active' } })
  expect(await look()).toEqual([200, undefined, undefined])
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'disabled' } })
  expect(await look()).toEqual([404, 'tunnel_not_found', undefined])
  await expect(listener.done).rejects.toMatchObject({ code: 'tunnel_disabled' })
  await expect(listen('third')).rejects.toMatchObject({ status: 403, code: 'tunnel_disabled' })
  await harness.expectApi(200, 'PATCH', '/tunnels/third', { body: { status: 'active' } })
  expect((await visit(port(), 'nobody.tunnel.localhost', '/')).status).toBe(404)
  expect((await visit(port(), 'a.b.tunnel.localhost', '/')).status).toBe(404)
})

test('a revoked key closes its tunnels, and other keys stay', async () => {
  const { id, key } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'tunnel', type: 'agent', agent_handle: 'first' } })
  const gone = await listen('first', key)
  const stays = await listen('first')
  await harness.expectApi(200, 'DELETE', `/keys/${id}`)
  await expect(gone.done).rejects.toMatchObject({ code: 'tunnel_revoked' })
  expect(stays.connected).toBeGreaterThan(0)
  expect((await visit(port(), 'first.tunnel.localhost', '/')).status).toBe(200)
})

test('a deleted identity deletes its tunnel', async () => {
  await harness.createAgent('mayfly')
  const listener = await listen('mayfly')
  await harness.expectApi(204, 'DELETE', '/identities/mayfly')
  await expect(listener.done).rejects.toMatchObject({ code: 'tunnel_deleted' })
  await waitFor('404', async () => (await visit(port(), 'mayfly.tunnel.localhost', '/')).status === 404)
})

test('connecting requires a key, a tunnel and an upgrade', async () => {
  await expect(listen('first', 'svc_live_nonsense')).rejects.toMatchObject({ status: 401 })
  await expect(listen('nobody')).rejects.toMatchObject({ status: 404 })
  const plain = await fetch(`${harness.baseUrl}/api/v1/tunnels/first/connect`)
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'callsign-tunnel/1'])
})

test('a handle that looks like a tunnel id is reserved', async () => {
  const { id } = await get('first')
  expect((await harness.api('POST', '/identities', { body: { agent_handle: id } })).status).toBe(409)
})
