// The event stream over WebSocket: the same events, cursor, filters and checks as server-sent events.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())

const urlOf = (query = '') => `${harness.baseUrl.replace('http', 'ws')}/api/v1/events/stream${query}`
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

/** An open socket with everything that it received. */
async function open(query = '', key = harness.organizationKey) {
  const socket = new WebSocket(urlOf(query), bearer(key))
  const messages: Json[] = []
  socket.on('message', (text) => messages.push(JSON.parse(String(text))))
  const closed = new Promise<[number, string]>((resolve) => {
    socket.once('close', (code, reason) => resolve([code, String(reason)]))
  })
  await once(socket, 'open')
  const events = () => messages.filter((one) => one.id !== undefined)
  return {
    socket,
    messages,
    events,
    closed,
    waitFor: (count: number) => waitFor(`${count} events`, () => events().length >= count && events()),
  }
}
/** The status of a refused upgrade. */
const refusal = (query: string, options: object, protocols: string[] = []): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(urlOf(query), protocols, options)
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode as number)
      response.resume()
      socket.on('error', () => {})
      socket.terminate()
    })
    socket.once('open', () => reject(new Error('was opened')))
    socket.once('error', () => {})
  })
const arrive = async (handle: string, subject: string): Promise<void> => {
  await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: subject })
  await harness.waitForMail(handle, subject)
}

test('sends its starting point and then events, as they are in the list, and continues after a cursor', async () => {
  const first = await open('?types=email.received')
  await waitFor('the starting point', () => first.messages.length === 1)
  expect(first.messages[0]).toEqual({ cursor: expect.stringMatching(/^evt_/) })
  for (const subject of ['socket 1', 'socket 2']) await arrive('ann', subject)
  const events = await first.waitFor(2)
  const listed = await harness.expectApi(200, 'GET', `/events?types=email.received&cursor=${first.messages[0].cursor}`)
  expect(events).toEqual(listed.data)
  first.socket.close()

  await arrive('ann', 'socket 3')
  const second = await open(`?types=email.received&after=${events[0].id}`)
  expect((await second.waitFor(2)).map((one) => one.data.subject)).toEqual(['socket 2', 'socket 3'])
  second.socket.close()
})

test('an agent key gets its own events, and filters apply', async () => {
  const own = await open('?types=email.received', await harness.agentKey('ann'))
  const ofBob = await open('?agent=bob&types=email.received')
  await Promise.all([waitFor('both', () => own.messages.length > 0 && ofBob.messages.length > 0)])
  await arrive('bob', 'for bob')
  await arrive('ann', 'for ann')
  expect((await own.waitFor(1)).map((one) => one.data.subject)).toEqual(['for ann'])
  expect((await ofBob.waitFor(1)).map((one) => one.data.subject)).toEqual(['for bob'])
  for (const one of [own, ofBob]) one.socket.close()
})

test('a request that the stream refuses is refused with the same status', async () => {
  const key = bearer(harness.organizationKey)
  expect(await refusal('', {})).toBe(401)
  expect(await refusal('', bearer(`${harness.organizationKey.slice(0, -6)}aaaaaa`))).toBe(401)
  expect(await refusal('?types=unknown', key)).toBe(400)
  expect(await refusal('?after=wrong', key)).toBe(400)
  expect(await refusal('?agent=nobody', key)).toBe(404)
  expect(await refusal('?agent=bob', bearer(await harness.agentKey('ann')))).toBe(403)
  // A key does not belong into a URL, or into a subprotocol.
  expect(await refusal(`?api_key=${harness.organizationKey}`, {})).toBe(401)
  expect(await refusal('', {}, ['callsign.events', `bearer.${harness.organizationKey}`])).toBe(401)
})

test('a browser authenticates by a subprotocol with its short token, which ends with its session', async () => {
  const browser = openBrowser(harness)
  await browser.signInByLink(harness.consoleUrl)
  const socket = new WebSocket(urlOf(), ['callsign.events', `bearer.${await browser.token()}`])
  const closed = once(socket, 'close')
  await once(socket, 'open')
  expect(socket.protocol).toBe('callsign.events')
  expect((await harness.api('POST', '/events/socket-token', { key: await browser.token() })).status).toBe(403)
  await browser.ask('POST', 'sign-out')
  expect((await closed)[0]).toBe(4401)
})

test('revocation closes the socket with its code', async () => {
  const made = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Short', type: 'organization' } })
  const one = await open('', made.key)
  await harness.expectApi(200, 'DELETE', `/keys/${made.id}`)
  expect(await one.closed).toEqual([4401, 'The key or session has ended.'])
})

test('a ping is answered, and a message closes the socket', async () => {
  const one = await open()
  one.socket.ping('are you there')
  expect(String((await once(one.socket, 'pong'))[0])).toBe('are you there')
  one.socket.send('hello')
  expect((await one.closed)[0]).toBe(1003)
})

test('an opening that is not a WebSocket is refused, and the server goes on', async () => {
  const { port } = new URL(harness.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end(
    `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.organizationKey}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  )
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400/)
  const after = await open()
  after.socket.close()
  expect((await after.closed)[0]).toBe(1005)
})

test('a reader that stops reading is disconnected, and others are not', async () => {
  const { port } = new URL(harness.baseUrl)
  // Starts before all events, so that there is enough to send.
  const text = 'words '.repeat(40_000)
  for (let n = 0; n < 30; n++) await harness.send('ann', 'bob@agents.localhost', { subject: `bulk ${n}`, text })
  const slow = connect(Number(port), '127.0.0.1')
  const after = (await harness.expectApi(200, 'GET', '/events?limit=1')).data[0].id
  slow.write(
    `GET /api/v1/events/stream?after=${after} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.organizationKey}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  )
  slow.pause()
  const quick = await open(`?after=${after}`)
  await waitFor('the slow reader to be disconnected', () => harness.logLines().some((line) => line.includes('read too slowly')), 40_000)
  await quick.waitFor(30)
  quick.socket.close()
  slow.destroy()
})

test('a stop closes sockets with 1001', async () => {
  const other = await startHarness()
  const socket = new WebSocket(`${other.baseUrl.replace('http', 'ws')}/api/v1/events/stream`, bearer(other.organizationKey))
  await once(socket, 'open')
  const closed = once(socket, 'close')
  await other.stop()
  expect((await closed)[0]).toBe(1001)
})

test('a socket token opens sockets with the rights of its key, and nothing else', async () => {
  const key = await harness.agentKey('ann')
  const { token, expires_at } = await harness.expectApi(201, 'POST', '/events/socket-token', { key })
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(61_000)
  for (const path of ['/events', '/me', '/mailboxes/ann/messages'])
    expect((await harness.api('GET', path, { key: token })).status).toBe(401)
  expect((await harness.api('GET', '/events/stream', { key: token })).status).toBe(401)
  expect((await harness.api('POST', '/events/socket-token', { key: token })).status).toBe(401)
  expect(await refusal('?agent=bob', {}, ['callsign.events', `bearer.${token}`])).toBe(403)
  expect(await refusal('', {}, ['callsign.events', `bearer.${token.slice(0, -2)}`])).toBe(401)
  const socket = new WebSocket(urlOf('?types=email.received'), ['callsign.events', `bearer.${token}`])
  const messages: Json[] = []
  socket.on('message', (text) => messages.push(JSON.parse(String(text))))
  await waitFor('the starting point', () => messages.length === 1)
  await arrive('bob', 'token bob')
  await arrive('ann', 'token ann')
  await waitFor('the event', () => messages.length === 2)
  expect(messages[1].data.subject).toBe('token ann')
  const closed = once(socket, 'close')
  const { data } = await harness.expectApi(200, 'GET', '/keys')
  const [id] = data.filter((one: Json) => token.includes(one.id)).map((one: Json) => one.id)
  await harness.expectApi(200, 'DELETE', `/keys/${id}`)
  expect((await closed)[0]).toBe(4401)
  expect(await refusal('', {}, ['callsign.events', `bearer.${token}`])).toBe(401)
})
