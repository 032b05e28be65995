// Every way in refuses a key outside of its allowed_ips, and admits it inside.
import { once } from 'node:events'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Callsign } from '../../sdk/src/index.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
const keys = { inside: '', outside: '' }

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_SUBMISSION_PORT: '0' })
  await harness.createAgent('anna')
  const create = async (allowed_ips: string[]) =>
    (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Limited', type: 'organization', allowed_ips } })).key
  keys.inside = await create(['127.0.0.0/8', '::1'])
  keys.outside = await create(['192.0.2.0/24', '2001:db8::/32'])
})
afterAll(() => harness?.stop())

const statusOf = async (path: string, key: string, init: RequestInit = {}): Promise<number> => {
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const response = await fetch(harness.baseUrl + path, { headers, ...init })
  await response.body?.cancel()
  return response.status
}

const ways: Record<string, (key: string) => Promise<unknown>> = {
  'the API': (key) => statusOf('/api/v1/me', key),
  'the event stream': (key) => statusOf('/api/v1/events/stream', key),
  'the event stream over WebSocket': async (key) => {
    const socket = new WebSocket(`${harness.baseUrl.replace('http', 'ws')}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${key}` },
    })
    socket.on('error', () => {})
    const [status] = await Promise.race([
      once(socket, 'open').then(() => [200]),
      once(socket, 'unexpected-response').then(([, response]) => [response.statusCode]),
    ])
    socket.terminate()
    return status
  },
  MCP: (key) => statusOf('/mcp', key, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
  'the API of Resend': (key) => statusOf('/compat/resend/domains', key),
  'the API of AgentMail': (key) => statusOf('/compat/agentmail/v0/inboxes', key),
  'a tunnel': async (key) => {
    try {
      const listener = await new Callsign({ url: harness.baseUrl, apiKey: key }).tunnels.listen('anna', 9)
      await listener.close(0)
      return 200
    } catch (error) {
      return (error as { status?: number }).status
    }
  },
  'SMTP submission': async (key) => {
    const transport = createTransport({
      host: '127.0.0.1',
      port: harness.submissionPorts[0] as number,
      requireTLS: true,
      auth: { user: 'anna@agents.localhost', pass: key },
      tls: { rejectUnauthorized: false },
    })
    return transport.verify().then(
      () => 200,
      (error: { responseCode?: number }) => (error.responseCode === 535 ? 403 : error),
    )
  },
}

test.each(Object.entries(ways))('%s', async (name, ask) => {
  // Resend answers 401 to a key that is not allowed to do what was asked.
  const refused = name === 'the API of Resend' ? 401 : 403
  expect([await ask(keys.inside), await ask(keys.outside)]).toEqual([200, refused])
})
