// Mounts the routes tables. Each row becomes a Fastify route with its schemas, its admission check and a handler that calls its function.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import type { Replays } from '../../core/replay.ts'
import { type Call, Later, Live, Raw, type RawRequest, type Route } from '../../core/route.ts'
import type { Transact } from '../../core/sql.ts'
import type { Admission } from './authenticate.ts'
import { createOnce, hashBody, readKey, scopeOf } from './idempotency.ts'
import type { LongPolls } from './long-polls.ts'
import { answerWriter } from './serialization.ts'
import { bodyCheck, pathCheck, queryCheck, type RequestPart } from './validation.ts'

const jsonType = 'application/json; charset=utf-8'

export type DispatchOptions = {
  routes: Route[]
  admission: Admission['of']
  transact: Transact
  replays: Replays
  /** Answers with events until the reader leaves. */
  sendLive: (request: FastifyRequest, reply: FastifyReply, live: Live) => FastifyReply
  polls: LongPolls
  businessEvents: BusinessEvents
}

type Input = Parameters<Route['run']>[1]

/** Adds every route to the app. */
export function mountRoutes(
  app: FastifyInstance,
  { routes, admission, transact, replays, sendLive, polls, businessEvents }: DispatchOptions,
): void {
  const runOnce = createOnce(replays, transact)

  const answerOnce = async (route: Route, call: Call, input: Input, key: string, reply: FastifyReply): Promise<FastifyReply> => {
    const { status } = route.shape
    const serializeReply = reply.getSerializationFunction(String(status))
    const answer = await runOnce({
      scope: scopeOf(call.caller, route.shape, (input.params ?? {}) as Record<string, string>, key),
      bodyHash: hashBody(input.body ?? null),
      status,
      serialize: (result) => (serializeReply ? (serializeReply(result as Record<string, unknown>) as string) : ''),
      run: (transactOnce) => route.run({ ...call, transact: transactOnce }, input, undefined),
    })
    if (answer.isReplay) {
      businessEvents.answerReplayed({ request_id: call.requestId, organization_id: call.caller.organizationId })
      reply.header('idempotent-replayed', 'true')
    }
    reply.code(answer.status)
    return answer.body === '' ? reply.send() : reply.type(jsonType).send(answer.body)
  }

  for (const route of routes) {
    const { shape } = route
    const parts: Partial<Record<RequestPart, object>> = {}
    if (shape.params) parts.params = shape.params
    if (shape.query) parts.querystring = shape.query
    if (shape.body) parts.body = shape.body
    app.route({
      method: shape.method,
      url: fastifyPath(shape.path),
      schema: { ...parts, ...(shape.reply ? { response: { [shape.status]: shape.reply } } : {}) },
      validatorCompiler: ({ schema, httpPart }) => {
        if (httpPart === 'body') return bodyCheck(schema, shape.bodyOptional === true)
        return httpPart === 'params' ? pathCheck(schema) : queryCheck(schema as TObject)
      },
      serializerCompiler: ({ schema }) => answerWriter(schema),
      onRequest: admission(route),
      handler: async (request, reply) => {
        const lastEventId = request.headers['last-event-id']
        const call: Call = {
          caller: request.caller as Caller,
          requestId: request.id,
          transact,
          lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : null,
          raw: shape.raw ? rawRequest(request) : null,
        }
        const input = { params: request.params, query: request.query, body: request.body ?? undefined } as Input
        if (shape.idempotent) {
          const key = readKey(request.headers['idempotency-key'])
          if (key !== null) return answerOnce(route, call, input, key, reply)
        }
        const result = await route.run(call, input, request.found)
        if (result instanceof Raw) return reply.code(shape.status).headers(result.headers).type(result.contentType).send(result.body)
        if (result instanceof Later) return reply.code(shape.status).send(await polls.answer(request, reply, result))
        if (result instanceof Live) return sendLive(request, reply.code(shape.status), result)
        return reply.code(shape.status).send(result)
      },
    })
  }
}

/** The unparsed request. Throws the errors of the body reader, because raw bodies have no schema that would. */
function rawRequest(request: FastifyRequest): RawRequest {
  const { body } = request
  if (body instanceof Error) throw body
  return { target: request.raw.url as string, headers: request.raw.headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) }
}

const fastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** A path as its segments. A parameter is null. */
type Pattern = { segments: (string | null)[]; methods: string[] }

/**
 * The response when no route has both path and method. It is 405 with Allow when other methods have the path (RFC 9110 §15.5.6), else 404.
 */
export function createNotFound(mounted: { method: string; path: string }[]): (request: FastifyRequest) => ApiError {
  const patterns = new Map<string, Pattern>()
  for (const { method, path } of mounted) {
    const pattern = patterns.get(path) ?? {
      segments: path.split('/').map((segment) => (segment.startsWith('{') ? null : segment)),
      methods: [],
    }
    pattern.methods.push(method)
    if (method === 'GET') pattern.methods.push('HEAD')
    patterns.set(path, pattern)
  }
  return (request) => {
    const segments = decodeURIComponent(request.url.split('?', 1)[0] as string).split('/')
    const methods = [...patterns.values()].filter((pattern) => matches(pattern.segments, segments)).flatMap((pattern) => pattern.methods)
    if (methods.length === 0) return new ApiError('not_found', 'This path does not exist. GET /openapi.json lists the paths.')
    const allow = [...new Set(methods)].sort().join(', ')
    return new ApiError('method_not_allowed', `This path supports ${allow}.`, { headers: { Allow: allow } })
  }
}

const matches = (pattern: (string | null)[], segments: string[]): boolean =>
  pattern.length === segments.length && pattern.every((segment, i) => (segment === null ? segments[i] !== '' : segment === segments[i]))
