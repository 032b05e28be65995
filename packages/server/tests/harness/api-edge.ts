// A server with a few operations for the tests of the HTTP edge, and raw sockets that send it input that no ordinary client would send.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { attachmentBodyBytesMax } from '@callsign/contract/attachments'
import { operation } from '@callsign/contract/operation'
import { Cursor, id, Limit, nullableString, strict, stringOrList, Timestamp } from '@callsign/contract/schema'
import { pino } from 'pino'
import Type from 'typebox'
import { createBusinessEvents } from '../../src/core/business-events.ts'
import type { Caller, CallerAgent } from '../../src/core/caller.ts'
import { ApiError } from '../../src/core/errors.ts'
import type { Replays } from '../../src/core/replay.ts'
import { Raw, type Route, route } from '../../src/core/route.ts'
import { DatabaseUnavailable, type Transact } from '../../src/core/sql.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/edges/api/server.ts'
import { mountDocs } from '../../src/edges/docs-site/pages.ts'

export const callerOf = (keyId: string, agent: CallerAgent | null): Caller => ({
  keyId,
  keyName: keyId,
  keyType: agent ? 'agent' : 'organization',
  listedScopes: [],
  scopes: new Set(),
  organizationId: 'org_one',
  organizationName: 'One',
  userId: 'user_one',
  role: agent ? 'agent' : 'owner',
  agents: agent && [agent],
  limits: { expiresAt: null, allowedIps: [] },
  session: null,
  mailApproval: 'agent',
})

/** The keys that the test server knows, by token. */
const callers: Record<string, Caller> = {
  owner: callerOf('key_owner', null),
  second: callerOf('key_second', null),
  agent: callerOf('key_agent', { identityId: 'ident_a', handle: 'a', mailboxId: 'mbx_a', address: 'a@agents.localhost' }),
}

const Note = Type.Object({ id: Type.String(), subject: nullableString(), to: Type.Array(Type.String()) }, { $id: 'Note' })

export const shapes = {
  read: operation({
    id: 'readNote',
    method: 'GET',
    path: '/api/v1/notes/{note_id}',
    summary: 'Reads a note.',
    tag: 'Notes',
    scopes: [],
    params: strict({ note_id: Type.String({ maxLength: 200 }) }),
    query: strict({
      limit: Limit,
      cursor: Cursor,
      is_read: Type.Optional(Type.Boolean()),
      after: Type.Optional(Timestamp),
      count: Type.Optional(Type.Integer()),
      thread_id: Type.Optional(id('thread')),
    }),
    status: 200,
    reply: Type.Object({ id: Type.String(), query: Type.Record(Type.String(), Type.Unknown()) }),
  }),
  write: operation({
    id: 'writeNote',
    method: 'POST',
    path: '/api/v1/notes',
    summary: 'Writes a note.',
    tag: 'Notes',
    scopes: [],
    body: strict({
      subject: Type.Optional(nullableString({ maxLength: 998 })),
      to: Type.Optional(stringOrList(Type.String({ minLength: 3, maxLength: 900 }), 50)),
      kind: Type.Optional(Type.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] })),
      count: Type.Optional(Type.Integer({ minimum: 0 })),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    status: 201,
    reply: Note,
    errors: ['conflict'],
    idempotent: true,
  }),
  writeTo: operation({
    id: 'writeNoteTo',
    method: 'POST',
    path: '/api/v1/agents/{handle}/notes',
    summary: 'Writes a note to an agent.',
    tag: 'Notes',
    scopes: [],
    params: strict({ handle: Type.String() }),
    body: strict({ subject: Type.String() }),
    status: 201,
    reply: Note,
    idempotent: true,
  }),
  upload: operation({
    id: 'upload',
    method: 'POST',
    path: '/api/v1/uploads',
    summary: 'Takes a large body.',
    tag: 'Notes',
    scopes: [],
    body: strict({ content: Type.String() }),
    bodyOptional: true,
    status: 200,
    reply: Type.Object({ size: Type.Integer() }),
    bodyBytesMax: attachmentBodyBytesMax,
  }),
  remove: operation({
    id: 'removeNote',
    method: 'DELETE',
    path: '/api/v1/notes/{note_id}',
    summary: 'Removes a note.',
    tag: 'Notes',
    scopes: [],
    params: strict({ note_id: Type.String() }),
    status: 204,
  }),
  fail: operation({
    id: 'failNote',
    method: 'GET',
    path: '/api/v1/failures/{kind}',
    summary: 'Fails.',
    tag: 'Notes',
    scopes: [],
    params: strict({ kind: Type.String() }),
    status: 200,
    reply: Type.Object({ needed: Type.String() }),
  }),
  wait: operation({
    id: 'wait',
    method: 'GET',
    path: '/api/v1/wait',
    summary: 'Waits.',
    tag: 'Notes',
    scopes: [],
    status: 200,
    reply: Type.Object({ ok: Type.Boolean() }),
  }),
  media: operation({
    id: 'media',
    method: 'GET',
    path: '/media/{name}',
    summary: 'Sends bytes.',
    tag: 'Notes',
    scopes: [],
    params: strict({ name: Type.String() }),
    status: 200,
    media: 'application/octet-stream',
    open: true,
  }),
  hook: operation({
    id: 'hook',
    method: 'POST',
    path: '/hooks/{name}',
    summary: 'Takes bytes of any type.',
    tag: 'Notes',
    scopes: [],
    params: strict({ name: Type.String() }),
    status: 200,
    reply: Type.Object({ target: Type.String(), body: Type.String(), signature: Type.String() }),
    bodyBytesMax: 64,
    raw: true,
    open: true,
  }),
}

/** State that the operations record and wait on. */
export type Harness = {
  /** Bodies that `writeNote` ran with. */
  written: unknown[]
  /** Set to hold the operations `wait` and `writeNote` until `release` is called. */
  holds: boolean
  /** Resolves when a held operation has started. */
  held: () => Promise<void>
  release: () => void
  /** Runs inside the transaction of the next write, after its effect. */
  afterWrite: (() => Promise<void>) | null
  lines: () => Record<string, unknown>[]
}

const createState = (lines: string[]) => {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let hasStarted = (): void => {}
  const started = new Promise<void>((resolve) => {
    hasStarted = resolve
  })
  const harness: Harness = {
    written: [],
    holds: false,
    held: () => started,
    release: () => release(),
    afterWrite: null,
    lines: () =>
      lines
        .flatMap((line) => line.split('\n'))
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  }
  const pass = async (): Promise<void> => {
    if (!harness.holds) return
    hasStarted()
    await released
  }
  return { harness, pass }
}

const toList = (to: string | string[] | undefined): string[] => [to ?? []].flat()

function routesFor(harness: Harness, pass: () => Promise<void>): Route[] {
  let notes = 0
  return [
    route(shapes.read, 'agent', async (_call, { params, query }) => ({ id: params.note_id, query })),
    route(shapes.write, 'agent', async (call, { body }) =>
      call.transact(async () => {
        harness.written.push(body)
        await pass()
        await harness.afterWrite?.()
        return { id: `note_${++notes}`, subject: body.subject ?? null, to: toList(body.to) }
      }),
    ),
    route(shapes.writeTo, 'agent', async (call, { params, body }) => {
      if (call.caller.agents && !call.caller.agents.some((agent) => agent.handle === params.handle))
        throw new ApiError('forbidden', 'Not yours.')
      return call.transact(async () => {
        harness.written.push(body)
        return { id: `note_${++notes}`, subject: body.subject, to: [params.handle] }
      })
    }),
    route(shapes.upload, 'agent', async (_call, { body }) => ({ size: body?.content.length ?? 0 })),
    route(shapes.remove, 'organization', async () => undefined),
    route(shapes.fail, 'agent', async (_call, { params }) => {
      if (params.kind === 'database') throw new DatabaseUnavailable('connect ECONNREFUSED 10.1.2.3:5432', null)
      if (params.kind === 'known') throw new ApiError('conflict', 'It is taken.', { details: [{ path: '/x', message: 'is taken' }] })
      if (params.kind === 'reply') return {} as { needed: string }
      throw new Error('relation "secret_table" does not exist at 10.1.2.3')
    }),
    route(shapes.wait, 'agent', async () => {
      await pass()
      return { ok: true }
    }),
    route(shapes.media, 'agent', async (_call, { params }) => {
      const headers = { 'Content-Disposition': 'attachment' }
      if (params.name === 'missing') throw new ApiError('not_found', 'No such attachment.')
      const body = params.name === 'stream' ? Readable.from([Buffer.from('ab'), Buffer.from('cd')]) : Buffer.from('abcd')
      return new Raw('application/octet-stream', body, headers)
    }),
    route(shapes.hook, 'agent', async ({ raw }) => ({
      target: raw?.target ?? '',
      body: raw?.body.toString('base64') ?? '',
      signature: String(raw?.headers['x-signature']),
    })),
  ]
}

/** Operations here make no effect in the database, so tests that are not about idempotency go without one. */
const noDatabase = (): never => {
  throw new Error('this test has no database')
}
const noTransact: Transact = (work) => work({ query: noDatabase, afterCommit: noDatabase })
const noReplays = {} as Replays

/** Starts a server on a free port. */
export async function startEdge(overrides: Partial<HttpServerOptions> = {}) {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const log = pino({ level: 'info', base: null, formatters: { level: (label) => ({ level: label }) } }, sink)
  const { harness, pass } = createState(lines)
  const businessEvents = createBusinessEvents(log)
  const routes = overrides.routes ?? routesFor(harness, pass)
  const operations = routes.map(({ shape }) => shape)
  const about = { serverUrl: () => server.url, version: '1.2.3' }
  const server: HttpServer = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    routes,
    pages: [{ paths: [], mount: (app) => mountDocs(app, about, operations) }],
    authenticateSocket: () => null,
    authenticate: async (token) => (Object.hasOwn(callers, token) ? (callers[token] as Caller) : null),
    trustedProxies: [],
    transact: noTransact,
    replays: noReplays,
    limits: { organizationKeyPerSecond: 0, organizationKeyBurst: 0, agentKeyPerSecond: 0, agentKeyBurst: 0 },
    readiness: async () => ({ database: true }),
    tunnels: null,
    log,
    businessEvents,
    ...overrides,
  })
  const { port } = await server.listen()
  server.open()
  const call = async (path: string, init: RequestInit & { key?: string } = {}): Promise<Answer> => {
    const { key = 'owner', ...rest } = init
    const headers = new Headers(rest.headers)
    if (key !== '') headers.set('authorization', `Bearer ${key}`)
    if (rest.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...rest, headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    server,
    port,
    harness,
    call,
    /** The page of metrics. */
    metrics: () => businessEvents.registry.metrics(),
    post: (path: string, body: unknown, init: RequestInit & { key?: string } = {}) =>
      call(path, { method: 'POST', body: JSON.stringify(body), ...init }),
  }
}

export type Answer = { status: number; headers: Headers; text: string }

/** Opens a socket, sends the bytes, and collects the answer until the server ends the connection or `isEnough` returns true. */
export async function speak(port: number, bytes: string | Buffer, isEnough?: (text: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  let text = ''
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1')
    if (isEnough?.(text)) break
  }
  socket.destroy()
  return text
}
