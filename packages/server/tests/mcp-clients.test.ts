// Clients of /mcp as people use them: both generations of the official client, keys of an organization, other clients' requests, and pages of other sites.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { speak } from './harness/api-edge.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { fakeBlob, fakeWrapping } from './harness/vault-client.ts'

let harness: Harness
let carefulKey: string
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_HOST_NAMES: 'callsign, host.docker.internal' })
  for (const handle of ['sales', 'support']) await harness.createAgent(handle)
  await harness.createAgent('careful', { draft_approval: 'required' })
  carefulKey = await harness.agentKey('careful')
})
afterAll(() => harness?.stop())

type Shown = { isError: boolean; text: string; structured: Json }
type Connected = { call: (name: string, args?: Json) => Promise<Shown>; list: () => Promise<Json[]>; close: () => Promise<void> }

const shownOf = ({ isError, content, structuredContent }: Json): Shown => ({
  isError: isError === true,
  text: content.map((part: Json) => part.text).join('\n'),
  structured: structuredContent,
})

async function connectSecond(key: string, query = ''): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp${query}`), { requestInit }))
  return {
    call: async (name, args = {}) => shownOf(await client.callTool({ name, arguments: args })),
    list: async () => (await client.listTools()).tools,
    close: () => client.close(),
  }
}

async function connectFirst(key: string, query = ''): Promise<Connected> {
  const client = new FirstClient({ name: 'test', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new FirstTransport(new URL(`${harness.baseUrl}/mcp${query}`), { requestInit }) as never)
  return {
    call: async (name, args = {}) => shownOf(await client.callTool({ name, arguments: args })),
    list: async () => (await client.listTools()).tools,
    close: () => client.close(),
  }
}

describe.each([
  ['1', connectFirst],
  ['2', connectSecond],
])('the official client of version %s', (_version, connect) => {
  test.each(['', '?results=data'])('shows the text of an error (%s)', async (query) => {
    const { call, list, close } = await connect(carefulKey, query)
    // Clients check structured results against the schemas of the list.
    await list()
    const { structured: draft, text } = await call('draft_create', { to: ['ada@example.com'], subject: 'Offer', text: 'Buy now' })
    const id = draft?.id ?? /^id: (\S+)$/m.exec(text)?.[1]
    const refused = await call('draft_send', { draft_id: id })
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain('code: approval_required')
    expect(refused.text).toContain(`${harness.publicUrl}/console/approvals/careful/${id}`)
    for (const [args, words] of [
      [{}, 'mail_get requires message_id.'],
      [{ id: 'msg_1' }, 'mail_get does not take id. It takes message_id, full, offset, max_characters.'],
      [{ message_id: 'msg_nothing' }, 'code: not_found'],
    ] as const)
      expect((await call('mail_get', args)).text).toContain(words)
    await close()
  })

  test('gets a result once: as text, or as data that fits its schema', async () => {
    const [text, data] = [await connect(carefulKey), await connect(carefulKey, '?results=data')]
    expect((await text.list()).every((tool) => tool.outputSchema === undefined)).toBe(true)
    await data.list()
    const [shown, structured] = [await text.call('whoami'), await data.call('whoami')]
    expect(shown.structured).toBeUndefined()
    expect(shown.text).toContain('email_address: careful@agents.localhost')
    expect(structured.text).toBe('You act for careful, careful@agents.localhost.')
    expect(structured.structured).toMatchObject({ agent: 'careful', email_address: 'careful@agents.localhost' })
    await Promise.all([text.close(), data.close()])
  })

  test('finds the agents of an organization key', async () => {
    const { call, close } = await connect(harness.organizationKey)
    const { isError, text } = await call('whoami')
    expect(isError).toBe(false)
    for (const handle of ['sales', 'support', 'careful']) expect(text).toContain(`agent: ${handle}`)
    for (const args of [{}, { agent: 'nobody' }]) {
      const refused = await call('mail_list', args)
      expect(refused.isError).toBe(true)
      expect(refused.text).toMatch(/Choose one of (careful|support|sales), (careful|support|sales), (careful|support|sales)\./)
    }
    expect((await call('mail_list', { agent: 'sales', limit: null, unread: 'false' })).isError).toBe(false)
    await close()
  })
})

test('the list of tools has less than 24 kB in every form', async () => {
  for (const query of ['', '?results=data', '?agent=sales']) {
    const { list, close } = await connectSecond(harness.organizationKey, query)
    expect(JSON.stringify(await list()).length).toBeLessThan(24_000)
    await close()
  }
})

test('agent in the address holds for tools that take no agent', async () => {
  const conversation = async (handle: string, from: string): Promise<string> =>
    (await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, text: `connect @${handle}` } })).conversation_id
  const [own, other] = [await conversation('sales', '+14155550001'), await conversation('support', '+14155550002')]
  await harness.expectApi(201, 'POST', '/vault/initialize', { body: fakeWrapping() })
  for (const [name, agent_handle] of [
    ['Bank', 'sales'],
    ['Safe', 'support'],
  ]) {
    const body = { type: 'login', name, encrypted_payload: fakeBlob() }
    const { id } = await harness.expectApi(201, 'POST', '/vault/secrets', { body })
    expect((await harness.api('POST', `/vault/secrets/${id}/access`, { body: { agent_handle } })).status).toBeLessThan(300)
  }
  const { call, close } = await connectSecond(harness.organizationKey, '?agent=sales')
  expect((await call('imessage_messages', { conversation_id: own })).isError).toBe(false)
  for (const name of ['imessage_messages', 'imessage_send'])
    expect((await call(name, { conversation_id: other, ...(name === 'imessage_send' && { text: 'Hi' }) })).isError).toBe(true)
  const secrets = (await call('vault_list')).text
  expect([secrets.includes('Bank'), secrets.includes('Safe')]).toEqual([true, false])
  expect((await call('mail_list', { agent: 'support' })).isError).toBe(true)
  await close()
  const whole = await connectSecond(harness.organizationKey)
  expect((await whole.call('vault_list')).text).toContain('Safe')
  await whole.close()
  await expect(connectSecond(harness.organizationKey, '?agent=nobody')).rejects.toThrow()
})

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const post = (path: string, headers: Record<string, string>, at = harness, body = ping) =>
  fetch(`${at.baseUrl}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

describe('requests of other clients', () => {
  test.each<[string, string, Record<string, string>, number]>([
    ['a slash at the end', '/mcp/', { accept: 'application/json, text/event-stream' }, 200],
    ['a slash at the end and a selection', '/mcp/?toolsets=mail', { accept: 'application/json, text/event-stream' }, 200],
    ['Accept: */*', '/mcp', { accept: '*/*' }, 200],
    ['Accept with */* last', '/mcp', { accept: 'application/json, */*;q=0.1' }, 200],
    ['an Accept that takes no event stream', '/mcp', { accept: 'text/html' }, 406],
    ['another path', '/mcp/x', { accept: '*/*' }, 404],
  ])('with %s', async (_name, path, headers, status) => {
    expect((await post(path, { authorization: `Bearer ${carefulKey}`, ...headers })).status).toBe(status)
  })

  test.each([
    ['callsign', 200],
    ['HOST.docker.internal:8080', 200],
    ['192.168.1.7:8080', 200],
    ['[fd00::7]:8080', 200],
    ['localhost', 200],
    ['evil.example', 403],
    ['callsign.evil.example', 403],
    ['192.168.1.7.evil.example', 403],
  ])('with Host: %s', async (host, status) => {
    const request = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${carefulKey}\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: ${ping.length}\r\nConnection: close\r\n\r\n${ping}`
    const answer = await speak(Number(new URL(harness.baseUrl).port), request)
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
    if (status === 403) expect(answer).toContain('CALLSIGN_HOST_NAMES')
  })
})

describe('pages of other sites', () => {
  const open = [
    ['POST', '/mcp'],
    ['POST', '/mcp/'],
    ['GET', '/.well-known/oauth-protected-resource'],
    ['GET', '/.well-known/oauth-protected-resource/mcp'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['POST', '/oauth/register'],
    ['POST', '/oauth/token'],
    ['POST', '/oauth/revoke'],
  ] as const

  test.each(open)('may read the answer of %s %s, without credentials, also when it refuses', async (method, path) => {
    const preflight = await fetch(`${harness.baseUrl}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain(method)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('Authorization, *')
    const answer = await fetch(`${harness.baseUrl}${path}`, { method, headers: { origin: 'https://app.example' } })
    for (const { headers } of [preflight, answer]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
    expect(answer.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
  })

  test.each(['/api/v1/me', '/console/api/session', '/oauth/authorize', '/console/connect'])('may not read %s', async (path) => {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await fetch(`${harness.baseUrl}${path}`, {
        method,
        headers: { origin: 'https://app.example' },
        redirect: 'manual',
      })
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

describe('limits', () => {
  let limited: Harness
  beforeAll(async () => {
    limited = await startHarness({ CALLSIGN_RATE_LIMIT_AGENT_KEY: '5' })
    await limited.createAgent('sales')
  })
  afterAll(() => limited?.stop())

  test('a key gets 429 after its burst, also for lists, and another key does not', async () => {
    const key = await limited.agentKey('sales')
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const ask = (of: string) => post('/mcp', { authorization: `Bearer ${of}`, accept: '*/*' }, limited, list)
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(key)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10)
    expect(refused.length).toBeGreaterThan(0)
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await ask(await limited.agentKey('sales'))).status).toBe(200)
  })

  test('wrong keys of an address are counted, and a right one passes', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 15; i++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => post('/mcp', { authorization: `Bearer svc_live_wrong${i}x${n}`, accept: '*/*' }, limited)),
      )
      statuses.push(...answers.map(({ status }) => status))
    }
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
    expect(statuses).toContain(429)
    expect((await post('/mcp', { authorization: `Bearer ${await limited.agentKey('sales')}`, accept: '*/*' }, limited)).status).toBe(200)
  })
})
