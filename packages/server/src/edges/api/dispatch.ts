// Mounts the routes tables. Each row becomes a Fastify route with its checks, its admission and a handler that runs its operation.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { Live, Raw, type RawRequest } from '../../core/route.ts'
import type { Admission } from './authenticate.ts'
import { pathUnknown } from './failure.ts'
import type { PartCheck } from './input/validation.ts'
import type { ClientWatch, OperationResult, OperationRun } from './operation-runner.ts'

const jsonType = 'application/json; charset=utf-8'

export type DispatchOptions = {
  operations: OperationRun[]
  admission: Admission['of']
  /** Answers with events until the reader leaves. */
  sendLive: (request: FastifyRequest, reply: FastifyReply, live: Live) => FastifyReply
}

/** Adds every route to the app. */
export function mountRoutes(app: FastifyInstance, { operations, admission, sendLive }: DispatchOptions): void {
  const send = (request: FastifyRequest, reply: FastifyReply, status: number, result: OperationResult): FastifyReply => {
    if (result instanceof Raw) return reply.code(status).headers(result.headers).type(result.contentType).send(result.body)
    if (result instanceof Live) return sendLive(request, reply.code(status), result)
    if (result.isReplay) reply.header('idempotent-replayed', 'true')
    reply.code(result.status)
    return result.text === '' ? reply.send() : reply.type(jsonType).send(result.text)
  }

  for (const { route, checks, run } of operations) {
    const { shape } = route
    app.route({
      method: shape.method,
      url: fastifyPath(shape.path),
      schema: {
        ...(shape.params && { params: shape.params }),
        ...(shape.query && { querystring: shape.query }),
        ...(shape.body && { body: shape.body }),
      },
      validatorCompiler: ({ httpPart }) =>
        (httpPart === 'body' ? checks.body : httpPart === 'params' ? checks.params : checks.query) as PartCheck,
      onRequest: admission(route),
      handler: async (request, reply) => {
        const lastEventId = request.headers['last-event-id']
        const result = await run({
          id: request.id,
          caller: request.caller,
          input: { params: request.params, query: request.query, body: request.body ?? undefined },
          idempotencyKey: request.headers['idempotency-key'],
          lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : null,
          raw: shape.raw ? rawRequest(request) : null,
          watch: watchConnection(request, reply),
        })
        return send(request, reply, shape.status, result)
      },
    })
  }
}

/** The client of an HTTP request. HEAD asks for the headers only. */
const watchConnection =
  (request: FastifyRequest, reply: FastifyReply): ClientWatch =>
  (stop) => {
    if (request.method === 'HEAD' || reply.raw.destroyed) stop()
    reply.raw.once('close', stop)
    return () => reply.raw.off('close', stop)
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
    if (methods.length === 0) return pathUnknown()
    const allow = [...new Set(methods)].sort().join(', ')
    return new ApiError('method_not_allowed', `This path supports ${allow}.`, { headers: { Allow: allow } })
  }
}

const matches = (pattern: (string | null)[], segments: string[]): boolean =>
  pattern.length === segments.length && pattern.every((segment, i) => (segment === null ? segments[i] !== '' : segment === segments[i]))
