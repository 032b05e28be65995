// Calls of operations by other edges of this process: every check of an HTTP request, with the same errors.
import { operations } from '@callsign/contract'
import type { Operation } from '@callsign/contract/operation'
import { queryText } from '@callsign/contract/query-text'
import { type Scope, scopes } from '@callsign/contract/scopes'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ApiCalls, ApiClient } from '../src/core/api-call.ts'
import type { Caller } from '../src/core/caller.ts'
import { ApiError } from '../src/core/errors.ts'
import type { Replays, StoredAnswer } from '../src/core/replay.ts'
import type { Route } from '../src/core/route.ts'
import type { PageTools } from '../src/edges/api/pages.ts'
import { agentMailRoutes, mountAgentMail } from '../src/edges/compat/agentmail/mount.ts'
import { mountResend, resendPath, resendRoutes } from '../src/edges/compat/resend/mount.ts'
import type { SeenRequest } from '../src/features/account/requests/model.ts'
import { callerOf, shapes, startEdge } from './harness/api-edge.ts'

type Edge = Awaited<ReturnType<typeof startEdge>>
type Refusal = { status: number; code: string; message: string; details?: unknown; retryAfter?: string | undefined }

const ownAgent = { identityId: 'ident_a', handle: 'a', mailboxId: 'mbx_a', address: 'a@agents.localhost' }
const withScopes = (name: string, isAgent: boolean, held: readonly Scope[]): [string, Caller] => [
  name,
  { ...callerOf(`key_${name}`, isAgent ? ownAgent : null), scopes: new Set(held) },
]

/** Organization and agent keys without scopes, with each scope alone and with all of them. */
const callers = new Map<string, Caller>([
  withScopes('none', false, []),
  withScopes('agent-none', true, []),
  withScopes('all', false, scopes),
  withScopes('agent-all', true, scopes),
  ...scopes.map((scope) => withScopes(scope.replace(':', '-'), false, [scope])),
])

/** The first callers, without those of one scope. Access alone decides about them. */
const wholeKeys = 4

/** Operations that ran, in place of their effects. */
const ran: string[] = []
const seen: SeenRequest[] = []
let tools: PageTools
const keepTools = (_app: unknown, given: PageTools): void => {
  tools = given
}

const stubOf =
  (access: Route['access']) =>
  (shape: Operation): Route => ({
    shape,
    access,
    run: async () => {
      ran.push(shape.id)
      return undefined
    },
  })

/** The real operations with stubs in place of their functions, since the checks come before them. */
const startStubs = (access: Route['access'], more: Parameters<typeof startEdge>[0] = {}): Promise<Edge> =>
  startEdge({
    routes: operations.map(stubOf(access)),
    authenticate: async (token) => callers.get(token) ?? null,
    requestRecorder: { note: (one) => void seen.push(one), flush: async () => {} },
    pages: [
      {
        paths: [],
        mount(app, given) {
          tools = given
          mountResend(app, given)
          mountAgentMail(app, given)
        },
      },
    ],
    ...more,
  })

const params = (shape: Operation) => Object.fromEntries([...shape.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name as string, 'none']))

async function overHttp(edge: Edge, shape: Operation, authorization: string | undefined): Promise<Refusal | 'ran'> {
  const before = ran.length
  const answer = await request(`http://127.0.0.1:${edge.port}${shape.path.replace(/\{\w+\}/g, 'none')}`, {
    method: shape.method as 'GET',
    headers: authorization === undefined ? {} : { authorization },
  })
  const text = await answer.body.text()
  if (ran.length > before) return 'ran'
  const { code, message, details } = JSON.parse(text).error
  return { status: answer.statusCode, code, message, details, retryAfter: answer.headers['retry-after'] as string | undefined }
}

async function asCall(client: ApiClient, shape: Operation, input: object = { params: params(shape) }): Promise<Refusal | 'ran'> {
  const before = ran.length
  const refused = await client.call(shape, input).then(
    () => null,
    (error: unknown) => error,
  )
  if (ran.length > before) return 'ran'
  if (!(refused instanceof ApiError)) throw refused
  return {
    status: refused.status,
    code: refused.code,
    message: refused.message,
    details: refused.details,
    retryAfter: refused.headers['Retry-After'],
  }
}

const received = (authorization: string | undefined) => ({
  headers: authorization === undefined ? {} : { authorization },
  socket: { remoteAddress: '127.0.0.1' },
})

// Raw bodies belong to callbacks of providers, which only HTTP has.
const callable = operations.filter((one) => !one.raw)

describe.each(['agent', 'organization'] as const)('every operation with access %s', (access) => {
  let edge: Edge
  let calls: ApiCalls
  beforeAll(async () => {
    edge = await startStubs(access)
    calls = tools.apiCalls
  })
  afterAll(() => edge.server.drain(1000))

  const names = [...callers.keys()].slice(0, access === 'agent' ? undefined : wholeKeys)

  test.each(names)('admits and refuses the key %s as HTTP does', async (name) => {
    for (const shape of callable) {
      const expected = await overHttp(edge, shape, `Bearer ${name}`)
      const client = calls.withKeyOf(received(`Bearer ${name}`))
      expect([shape.id, await asCall(client, shape)]).toEqual([shape.id, expected])
      expect([shape.id, await asCall(calls.as(callers.get(name) as Caller), shape)]).toEqual([shape.id, expected])
    }
  })

  test.each([undefined, 'Basic b3duZXI=', 'Bearer', 'Bearer unknown'])('refuses the header %s as HTTP does', async (authorization) => {
    for (const shape of callable.filter((one, index) => one.open || index % 20 === 0)) {
      const expected = await overHttp(edge, shape, authorization)
      expect([shape.id, await asCall(calls.withKeyOf(received(authorization)), shape)]).toEqual([shape.id, expected])
    }
  })
})

describe('the APIs of other services', () => {
  let edge: Edge
  beforeAll(async () => {
    edge = await startStubs('agent')
  })
  afterAll(() => edge.server.drain(1000))

  const body = {
    from: 'a@agents.localhost',
    to: ['b@example.net'],
    subject: 's',
    text: 't',
    name: 'n',
    email: 'b@example.net',
    events: ['x'],
  }
  const routes = [...resendRoutes.map((one) => ({ ...one, path: resendPath + one.path })), ...agentMailRoutes]

  test('run no operation for a key without scopes, except those that need none', async () => {
    ran.length = 0
    for (const { method, path } of routes) {
      const answer = await request(`http://127.0.0.1:${edge.port}${path.replace(/:\w+/g, 'default')}`, {
        method,
        headers: { authorization: 'Bearer none', ...(method !== 'GET' && { 'content-type': 'application/json' }) },
        ...(method !== 'GET' && { body: JSON.stringify(body) }),
      })
      await answer.body.dump()
    }
    expect([...new Set(ran)].filter((id) => operations.some((one) => one.id === id && one.scopes.length > 0))).toEqual([])
  })
})

test('one rate limit counts requests and calls of a key', async () => {
  const limits = { organizationKeyPerSecond: 0.001, organizationKeyBurst: 2, agentKeyPerSecond: 0, agentKeyBurst: 1 }
  const edge = await startStubs('agent', { limits })
  const shape = operations.find(({ id }) => id === 'getCaller') as Operation
  try {
    const client = tools.apiCalls.withKeyOf(received('Bearer all'))
    expect(await overHttp(edge, shape, 'Bearer all')).toBe('ran')
    expect(await asCall(client, shape)).toBe('ran')
    expect(await asCall(client, shape)).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(await asCall(tools.apiCalls.as(callers.get('all') as Caller), shape)).toMatchObject({ status: 429 })
    expect(await overHttp(edge, shape, 'Bearer all')).toMatchObject({ status: 429 })
  } finally {
    await edge.server.drain(1000)
  }
})

test('the address of a client counts wrong keys of requests and calls', async () => {
  const edge = await startStubs('agent')
  const shape = operations.find(({ id }) => id === 'getCaller') as Operation
  // The limit gives back twenty tries a second.
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const { apiCalls } = tools
    const wrong = received('Bearer unknown')
    let refusal: unknown
    for (let i = 0; i < 260 && !(refusal instanceof ApiError && refusal.status === 429); i++)
      refusal = await apiCalls.authenticate(wrong).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(await asCall(apiCalls.withKeyOf(wrong), shape)).toMatchObject({ status: 429 })
  } finally {
    vi.useRealTimers()
    await edge.server.drain(1000)
  }
})

describe('the input of a call', () => {
  const noted: SeenRequest[] = []
  const answers = new Map<string, StoredAnswer>()
  const nameOf = (scope: object): string => JSON.stringify(scope)
  const replays: Replays = {
    find: async (scope) => answers.get(nameOf(scope)) ?? null,
    claim: async (_tx, scope, bodyHash) => {
      answers.set(nameOf(scope), { bodyHash, status: 0, body: '' })
      return 'claimed'
    },
    store: async (_tx, scope, status, body) => {
      answers.set(nameOf(scope), { ...(answers.get(nameOf(scope)) as StoredAnswer), status, body })
    },
    sweep: async () => 0,
  }
  let edge: Edge
  let client: ApiClient
  beforeAll(async () => {
    edge = await startEdge({
      replays,
      requestRecorder: { note: (one) => void noted.push(one), flush: async () => {} },
      pages: [{ paths: [], mount: keepTools }],
    })
    client = tools.apiCalls.withKeyOf({ ...received('Bearer owner') })
  })
  afterAll(() => edge.server.drain(1000))

  const refusalOf = (answer: { status: number; text: string }) => {
    const { code, message, details } = JSON.parse(answer.text).error
    return { status: answer.status, code, message, details, retryAfter: undefined }
  }

  test.each([
    [{ subject: 1, to: 'b', kind: 'c', more: true }],
    [{ to: [], count: -1 }],
    [{ subject: 'a\0b' }],
    [{ subject: '\ud800' }],
    [{ count: 2 ** 60 }],
    [JSON.parse('{"headers":{"__proto__":"a"}}')],
    [JSON.parse(`${'{"headers":'.repeat(40)}1${'}'.repeat(40)}`)],
    [[]],
    ['text'],
    [null],
  ])('the body %j has the error of the same request', async (body) => {
    expect(await asCall(client, shapes.write, { body })).toEqual(refusalOf(await edge.post('/api/v1/notes', body)))
  })

  test.each([{ limit: 0 }, { limit: 'x' }, { unknown: 'a' }, { after: 'today' }, { count: 1.5 }, { is_read: 'maybe' }])(
    'the query %j has the error of the same request',
    async (query) => {
      const text = queryText(query).slice(1)
      expect(await asCall(client, shapes.read, { params: { note_id: 'a' }, query })).toEqual(
        refusalOf(await edge.call(`/api/v1/notes/a?${text}`)),
      )
    },
  )

  test('parameters and defaults of the query reach the operation as those of a request do', async () => {
    const query = { limit: 7, is_read: true, cursor: undefined }
    const answer = await edge.call('/api/v1/notes/a%2Fb%20c?limit=7&is_read=true')
    expect(await client.call(shapes.read, { params: { note_id: 'a/b c' }, query: query as never })).toEqual(JSON.parse(answer.text))
  })

  test.each(['', '.', '..', '\ud800'])('the parameter %j names nothing', async (note_id) => {
    expect(await asCall(client, shapes.read, { params: { note_id } })).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('a NUL in a parameter and a path that is too long have the errors of requests', async () => {
    expect(await asCall(client, shapes.read, { params: { note_id: 'a\0' } })).toEqual(refusalOf(await edge.call('/api/v1/notes/a%00')))
    const long = 'a'.repeat(8180)
    expect(await asCall(client, shapes.read, { params: { note_id: long } })).toEqual(refusalOf(await edge.call(`/api/v1/notes/${long}`)))
  })

  test('a body above the limit of the operation is 413', async () => {
    const subject = 'a'.repeat(1024 * 1024)
    expect(await asCall(client, shapes.write, { body: { subject } })).toEqual(refusalOf(await edge.post('/api/v1/notes', { subject })))
  })

  test.each(['database', 'known', 'reply', 'unforeseen'])('a failure of the kind %s has the error of a request', async (kind) => {
    const { retryAfter: _, ...refusal } = (await asCall(client, shapes.fail, { params: { kind } })) as Refusal
    const { retryAfter: __, ...expected } = refusalOf(await edge.call(`/api/v1/failures/${kind}`))
    expect(refusal).toEqual(expected)
  })

  test('a repeated Idempotency-Key has the first answer, and another body a conflict', async () => {
    const own = tools.apiCalls.withKeyOf({
      ...received('Bearer owner'),
      headers: { authorization: 'Bearer owner', 'idempotency-key': 'once' },
    })
    const first = await own.call(shapes.write, { body: { subject: 'once' } })
    expect(await own.call(shapes.write, { body: { subject: 'once' } })).toEqual(first)
    expect(await client.call(shapes.write, { body: { subject: 'once' }, idempotencyKey: 'once' })).toEqual(first)
    const replayed = await edge.post('/api/v1/notes', { subject: 'once' }, { headers: { 'idempotency-key': 'once' } })
    expect([replayed.headers.get('idempotent-replayed'), JSON.parse(replayed.text)]).toEqual(['true', first])
    expect(await asCall(own, shapes.write, { body: { subject: 'other' } })).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
    expect(await asCall(client, shapes.write, { body: {}, idempotencyKey: 'é' })).toMatchObject({ status: 400 })
  })

  test('the reply has the fields of the schema only, and other content is its text', async () => {
    expect(await client.call(shapes.write, { body: { to: 'b@c' } })).toEqual({ id: expect.any(String), subject: null, to: ['b@c'] })
    expect(await client.call(shapes.media, { params: { name: 'stream' } })).toBe('abcd')
    expect(await client.call(shapes.media, { params: { name: 'bytes' } })).toBe('abcd')
    await expect(client.call(shapes.hook, { params: { name: 'a' } })).rejects.toMatchObject({ status: 500 })
  })

  test('the request log and the metrics have a call as they have a request', async () => {
    noted.length = 0
    await edge.post('/api/v1/notes', { subject: 'seen' })
    await client.call(shapes.write, { body: { subject: 'seen' } })
    await asCall(client, shapes.write, { body: { count: 'x' } })
    const entries = noted.map(({ id: _, durationMs: __, ...entry }) => entry)
    expect(entries).toHaveLength(3)
    expect(entries[1]).toEqual(entries[0])
    expect(entries[2]).toMatchObject({ keyId: 'key_owner', status: 400, errorCode: 'validation_error' })
    const lines = edge.harness
      .lines()
      .filter((line) => line.msg === 'request')
      .slice(-3)
    expect(lines[1]).toMatchObject({ ...lines[0], time: expect.any(Number), ms: expect.any(Number), request_id: expect.any(String) })
  })
})
