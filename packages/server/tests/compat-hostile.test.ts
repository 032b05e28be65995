// Hostile requests to every route of the APIs of Resend and AgentMail. Each answer is an error in the shape of its API, and shows nothing of others.
import { Agent, fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentMailRoutes } from '../src/edges/compat/agentmail/mount.ts'
import { resendPath, resendRoutes } from '../src/edges/compat/resend/mount.ts'
import { clientOf } from './harness/agentmail/context.ts'
import { speak } from './harness/api-edge.ts'
import { createResend } from './harness/resend-sdk.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

type Route = { method: string; path: string }
type Reply = { status: number; text: string; body: Json }

const routes: Route[] = [
  ...resendRoutes.map(({ method, path }) => ({ method, path: `${resendPath}${path}` })),
  ...agentMailRoutes.filter(({ path }) => !path.includes('/pods/:pod_id/')),
]
const canary = 'canary-of-another-organization'

/** Fields of requests of both APIs. */
const fieldNames = [
  ...['to', 'cc', 'bcc', 'from', 'subject', 'text', 'html', 'reply_to', 'headers', 'attachments', 'tags', 'labels', 'metadata'],
  ...['scheduled_at', 'send_at', 'client_id', 'name', 'alias', 'variables', 'template', 'events', 'endpoint', 'url', 'status', 'domain'],
  ...['event_types', 'inbox_ids', 'entry', 'reason', 'add_labels', 'remove_labels', 'message_ids', 'username', 'display_name', 'email'],
  ...['permission', 'permissions', 'instructions', 'tone', 'actions', 'folder', 'color', 'expires_in', 'in_reply_to', 'forward_of'],
  ...['add_attachments', 'remove_attachments', 'emails', 'ids', 'reply_all', 'pod_ids', 'enabled', 'unread', 'assigned', 'address'],
]
const everyField = (value: unknown): string => JSON.stringify(Object.fromEntries(fieldNames.map((name) => [name, value])))

const bodies: Record<string, string> = {
  number: '42',
  text: '"x"',
  null: 'null',
  list: '[1, null, [], {}]',
  broken: '{"to": ',
  numbers: everyField(42),
  objects: everyField({ constructor: {}, toString: null }),
  nulls: everyField([null]),
  'own names of objects': everyField(['constructor', '__proto__']),
  'control characters': everyField('a\u0000\u0007\r\nBcc: eve@example.org\u202e'),
  'long texts': everyField('a'.repeat(8000)),
  deep: `{"to":${'['.repeat(5000)}${']'.repeat(5000)}}`,
}
/** Values of path parameters, as they stand in the address. */
const pathValues = [
  'unknown',
  'msg_01h455vb4pex5vsknk084sn02q',
  '%00',
  '%0d%0aX-Injected:1',
  '..%2f..%2forganization',
  'constructor',
  'a'.repeat(3000),
]
const queries = [
  'limit=-1',
  'limit=x&page_token=x&after=x',
  'limit=1&limit=2&after=a&after=b&labels=a&labels=b&q=a&q=b&folder=a&folder=b',
  'before=x&ascending=true',
  'page_token=%00&before=%00',
  'start=%2B275760-09-12&end=%2B275760-09-13&start_date=x&end_date=x&period=86400',
  'labels=%5B1%5D&event_types=constructor&usage_types=__proto__&q=%00',
]

let harness: Harness
let foreign: Record<string, string>
const connections = new Agent()

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  const { key } = harness.otherOrganization
  const make = (path: string, body: object) => harness.expectApi(201, 'POST', path, { key, body })
  const { mailbox_address: address } = await harness.createAgent('victim', { display_name: canary }, key)
  const sent = await make('/mail/send', { agent: 'victim', to: ['a@example.com'], subject: canary, text: canary })
  const draft = await make('/mailboxes/victim/drafts', { subject: canary, text: canary })
  const label = await make('/mailboxes/victim/labels', { name: canary })
  const webhook = await make('/webhooks', { url: `https://example.com/${canary}`, events: ['email.sent'] })
  const domain = await make('/domains', { domain: `${canary}.example.com` })
  const suppression = await make('/suppressions', { email_address: `${canary}@example.com` })
  const template = await make('/templates', { name: canary, subject: canary, text: canary })
  const { id: keyId } = await make('/keys', { name: canary, type: 'organization' })
  foreign = { address, message: sent.id, thread: sent.thread_id, draft: draft.id, label: label.id, webhook: webhook.id }
  foreign = { ...foreign, domain: domain.data.id, suppression: suppression.id, template: template.id, key: keyId }
})
afterAll(async () => {
  await connections.close()
  await harness?.stop()
})

async function ask({ method, path }: Route, body?: string): Promise<Reply> {
  const response = await fetch(`${harness.baseUrl}${path}`, {
    method,
    dispatcher: connections,
    headers: { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' },
    ...(method !== 'GET' && body !== undefined && { body }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('application/json')
  return { status: response.status, text, body: isJson && text !== '' ? JSON.parse(text) : null }
}

const withParameters = ({ method, path }: Route, parameterOf: (name: string) => string): Route => ({
  method,
  path: path.replace(/:(\w+)/g, (_, name: string) => parameterOf(name)),
})

/** Throws for an answer that is neither a success nor an error of the API. */
function checkShape(route: Route, label: string, { status, text, body }: Reply): void {
  const about = `${route.method} ${route.path.slice(0, 120)} with ${label}: ${status} ${text.slice(0, 300)}`
  if (status < 300) return
  expect((status >= 400 && status < 500) || status === 501, about).toBe(true)
  expect(body, about).toMatchObject({ name: expect.any(String), message: expect.stringMatching(/\S/) })
  if (route.path.startsWith(resendPath)) expect(body.statusCode, about).toBe(status)
  else expect(body.code, about).toEqual(expect.any(String))
  expect(text.length, about).toBeLessThan(20_000)
}

describe('answers in the shape of the API', () => {
  test.each(Object.keys(bodies))('to a body: %s', async (label) => {
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      const asked = withParameters(route, (name) => (name.includes('inbox') ? 'sales@agents.localhost' : 'unknown'))
      checkShape(asked, label, await ask(asked, bodies[label]))
    }
  })

  test.each(pathValues.map((value): [string, string] => [value.slice(0, 30), value]))('to the id %s', async (_, value) => {
    for (const route of routes.filter(({ path }) => path.includes(':'))) {
      const asked = withParameters(route, () => value)
      const reply = await ask(asked, '{"text":"x","to":["a@example.com"]}')
      checkShape(asked, 'this id', reply)
      if (route.method === 'DELETE') expect(reply.status).toBeGreaterThanOrEqual(400)
    }
  })

  test('to an address above 8,192 bytes', async () => {
    for (const route of routes) {
      // The parser refuses a request line above 16 KB itself.
      const { method, path } = withParameters(route, () => 'x')
      const asked = { method, path: `${path}?q=${'a'.repeat(9000)}` }
      const reply = await ask(asked, '{}')
      checkShape(asked, 'a long address', reply)
      expect(reply.status).toBe(414)
    }
  })

  test.each(queries)('to the query %s', async (query) => {
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const { method, path } = withParameters(route, (name) => (name.includes('inbox') ? 'sales@agents.localhost' : 'unknown'))
      const asked = { method, path: `${path}?${query}` }
      checkShape(asked, query, await ask(asked))
    }
  })

  test('to a body above its limit, and to a path that cannot be decoded', async () => {
    const huge = JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) })
    for (const path of [`${resendPath}/templates`, '/compat/agentmail/v0/inboxes']) {
      const route = { method: 'POST', path }
      const reply = await ask(route, huge)
      checkShape(route, 'a huge body', reply)
      expect(reply.status).toBe(413)
    }
    for (const [path, status] of [
      [`${resendPath}/emails/%zz`, 422],
      ['/compat/agentmail/v0/inboxes/%zz', 400],
    ] as const) {
      const reply = await ask({ method: 'GET', path })
      checkShape({ method: 'GET', path }, 'a wrong escape', reply)
      expect(reply.status).toBe(status)
    }
  })

  test('to a path and a method that do not exist', async () => {
    for (const base of [resendPath, '/compat/agentmail', '/compat/agentmail/v0'])
      for (const route of ['GET', 'OPTIONS'].flatMap((method) => [base, `${base}?x=1`].map((path) => ({ method, path })))) {
        const reply = await ask(route)
        checkShape(route, 'nothing', reply)
        expect(reply.status, `${route.method} ${route.path}`).toBeGreaterThanOrEqual(400)
      }
    const { status, body } = await ask({ method: 'GET', path: '/compat/resending/emails' })
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  })
})

describe('a body in chunks', () => {
  const narrow = '"name":"narrow","permission":"sending_access","permissions":{"message_read":true}'
  const paths = [`${resendPath}/api-keys`, '/compat/agentmail/v0/api-keys']
  const send = async (path: string, text: string, authorization = `Bearer ${harness.organizationKey}`) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const body = new Blob([text]).stream()
    const response = await fetch(`${harness.baseUrl}${path}`, { method: 'POST', headers, body, duplex: 'half', dispatcher: connections })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const narrowKeys = async () =>
    (await harness.expectApi(200, 'GET', '/keys?limit=100')).data.filter(({ name }: Json) => name === 'narrow' || name === 'API key')

  test.each([
    ['of a number out of range', `{${narrow},"ref":12345678901234567890}`, [422, 400]],
    ['that ends early', `{${narrow}`, [422, 400]],
    ['above the limit', `{${narrow},"x":"${'x'.repeat(1024 * 1024)}"}`, [413, 413]],
    ['of null', 'null', [422, 400]],
    ['of a text', '"narrow"', [422, 400]],
  ])('%s makes no key', async (_, text, statuses) => {
    const before = await narrowKeys()
    for (const [index, path] of paths.entries()) expect((await send(path, text)).status, path).toBe(statuses[index])
    expect(await narrowKeys()).toEqual(before)
  })

  test('makes the key that it describes, and an empty body is absent', async () => {
    for (const path of paths) expect((await send(path, `{${narrow}}`)).status, path).toBeLessThan(300)
    const scopes = (await narrowKeys()).map((key: Json) => key.scopes)
    expect(scopes).toHaveLength(2)
    expect(scopes.every((own: string[]) => own.length > 0)).toBe(true)
    expect((await send('/compat/agentmail/v0/inboxes', '')).status).toBe(200)
  })

  test('of a client without a key is refused before it is read', async () => {
    for (const [path, status] of [
      [`${resendPath}/emails`, 401],
      ['/compat/agentmail/v0/inboxes/sales@agents.localhost/messages/send', 401],
    ] as const) {
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      expect(await speak(Number(new URL(harness.baseUrl).port), `${head}1\r\n{\r\n`, (got) => got.includes('\r\n\r\n'))).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} `),
      )
    }
  })
})

describe('the SDKs read every error', () => {
  const agentMailError = async (call: (client: ReturnType<typeof clientOf>) => Promise<unknown>) =>
    call(clientOf(harness, harness.organizationKey)).catch((error: unknown) => error)

  test.each([
    ['an address with a NUL character', '\0', [400, 422]],
    ['an address above 8,192 bytes', 'a'.repeat(9000), [414, 414]],
  ])('of %s', async (_, id, [status, resendStatus]) => {
    expect((await createResend(harness).webhooks.get(encodeURIComponent(id))).error).toEqual({
      statusCode: resendStatus,
      name: 'validation_error',
      message: expect.stringMatching(/path/),
    })
    expect(await agentMailError(({ inboxes }) => inboxes.get(id))).toMatchObject({
      statusCode: status,
      body: { name: 'ValidationError', code: expect.any(String), message: expect.stringMatching(/path/) },
    })
  })

  test('of a failure of the server, which shows no cause', async () => {
    await harness.db.query({ text: 'ALTER TABLE suppressions RENAME TO suppressions_away' })
    await harness.db.query({ text: 'ALTER TABLE mail_rules RENAME TO mail_rules_away' })
    try {
      expect((await createResend(harness).suppressions.list()).error).toEqual({
        statusCode: 500,
        name: 'internal_server_error',
        message: expect.stringMatching(/^The server failed/),
      })
      expect(await agentMailError(({ lists }) => lists.list('send', 'block'))).toMatchObject({
        statusCode: 500,
        body: { name: 'ServerError', code: 'internal_error', message: expect.stringMatching(/^The server failed/) },
      })
    } finally {
      await harness.db.query({ text: 'ALTER TABLE suppressions_away RENAME TO suppressions' })
      await harness.db.query({ text: 'ALTER TABLE mail_rules_away RENAME TO mail_rules' })
    }
  })
})

test('an object of another organization does not exist', async () => {
  const kinds: [RegExp, string][] = [
    [/inbox/, 'address'],
    [/message|\/emails/, 'message'],
    [/thread/, 'thread'],
    [/draft/, 'draft'],
    [/label/, 'label'],
    [/webhook/, 'webhook'],
    [/domain/, 'domain'],
    [/suppression/, 'suppression'],
    [/template/, 'template'],
    [/key/, 'key'],
  ]
  const body = JSON.stringify({
    to: ['a@example.com'],
    subject: 'x',
    text: 'x',
    name: 'x',
    add_labels: ['x'],
    entry: 'a.example',
    folder: 'trash',
  })
  for (const route of routes.filter(({ path }) => path.includes(':'))) {
    let before = ''
    const asked = withParameters(route, (name) => {
      before = name === 'id' ? route.path : name
      return encodeURIComponent(foreign[kinds.find(([pattern]) => pattern.test(before))?.[1] ?? 'message'] as string)
    })
    const reply = await ask(asked, body)
    checkShape(asked, 'ids of another organization', reply)
    expect(reply.text, `${asked.method} ${asked.path}`).not.toContain(canary)
    expect(reply.status, `${asked.method} ${asked.path}: ${reply.text.slice(0, 200)}`).toBeGreaterThanOrEqual(400)
  }
  const { key } = harness.otherOrganization
  expect(await harness.expectApi(200, 'GET', `/mailboxes/victim/messages/${foreign.message}`, { key })).toMatchObject({
    labels: [],
    subject: canary,
  })
  for (const kind of ['webhooks', 'domains'] as const)
    expect((await harness.expectApi(200, 'GET', `/${kind}`, { key })).data).toHaveLength(1)
})
