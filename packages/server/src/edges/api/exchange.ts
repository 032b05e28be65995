// One request and its answer, from first header to last byte: what each carries, and the one line and the figures that it leaves behind.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/caller.ts'
import type { ApiError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { failureBody, securityHeaders, toApiError } from './failure.ts'
import type { HttpMetrics } from './metrics.ts'
import { findRequestProblem } from './request-check.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key is known; stays null on operations that need none. */
    caller: Caller | null
    /** The route's path with its parameters as `{name}`; null until a route has matched. */
    pattern: string | null
    /** What the route's `lookAhead` is reading. */
    found: Promise<unknown> | undefined
    /** What made the answer a 5xx, for the log. */
    failure: unknown
    startedMs: number
    /** The most bytes that the operation takes as a body; 0 when it takes none. */
    bodyBytesMax: number
    /** True when the body is handed on as bytes. */
    isBodyRaw: boolean
  }
}

const exchangeOf = Symbol('exchange')

type TrackedResponse = ServerResponse & { [exchangeOf]?: FastifyReply }

export type Exchanges = {
  /** Answers in the making. */
  inFlight: Set<ServerResponse>
  /** Starts the exchange of a request that Fastify refused before its hooks ran. */
  begin(request: FastifyRequest, reply: FastifyReply): void
}

/** Hooks into every request: ids and headers on the way in, line and figures on the way out. `isDraining` ends kept-alive connections. */
export function trackExchanges(
  app: FastifyInstance,
  log: Log,
  observe: () => HttpMetrics['observe'],
  isDraining: () => boolean,
): Exchanges {
  const inFlight = new Set<ServerResponse>()

  app.decorateRequest('caller', null)
  app.decorateRequest('pattern', null)
  app.decorateRequest('found', undefined)
  app.decorateRequest('failure', null)
  app.decorateRequest('startedMs', 0)
  app.decorateRequest('bodyBytesMax', 0)
  app.decorateRequest('isBodyRaw', false)

  // `close` comes once for every answer, whether it was finished or the client went away; Fastify's onResponse misses the latter.
  function end(this: ServerResponse): void {
    inFlight.delete(this)
    const reply = (this as TrackedResponse)[exchangeOf] as FastifyReply
    const { request } = reply
    const ms = performance.now() - request.startedMs
    const route = request.pattern ?? 'unmatched'
    const status = this.statusCode
    observe()(request.method, route, status, ms / 1000)
    const line = {
      method: request.method,
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      // Unknown for what is streamed.
      bytes: lengthOf(reply.getHeader('content-length')),
      request_id: request.id,
      key_id: request.caller?.keyId,
      organization_id: request.caller?.organizationId,
      aborted: this.writableFinished ? undefined : true,
    }
    // An answer such as /readyz's 503 is no failure of ours.
    if (status >= 500 && request.failure !== null) log.error({ ...line, err: request.failure }, 'request')
    else log.info(line, 'request')
  }

  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    request.startedMs = performance.now()
    const response = reply.raw as TrackedResponse
    response[exchangeOf] = reply
    inFlight.add(response)
    response.on('close', end)
    reply.header('x-request-id', request.id)
    reply.header('cache-control', securityHeaders['cache-control'])
    reply.header('referrer-policy', securityHeaders['referrer-policy'])
    reply.header('x-content-type-options', securityHeaders['x-content-type-options'])
    if (isDraining()) response.shouldKeepAlive = false
  }

  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    done(findRequestProblem(request.raw) ?? undefined)
  })

  return { inFlight, begin }
}

const lengthOf = (header: number | string | string[] | undefined): number | undefined => (header === undefined ? undefined : Number(header))

/** Sends the answer for an error, and keeps what is ours to mend for the log. */
export function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure: ApiError = toApiError(error)
  if (failure.status >= 500) request.failure = error
  // An answer made for success may have set headers that do not hold for an error.
  reply.removeHeader('content-disposition').removeHeader('content-length')
  reply.header('cache-control', securityHeaders['cache-control'])
  reply.code(failure.status).headers(failure.headers).type('application/json; charset=utf-8').send(failureBody(failure, request.id))
}
