// Tracks one request and its response from the first header to the last byte. Refuses heads that two programs could read differently.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorCode } from '@callsign/contract/errors'
import type { Operation } from '@callsign/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import { failureBody, securityHeaders, toApiError } from './failure.ts'
import type { BodyMemory } from './input/body-reader.ts'
import type { AccessLog } from './logs/access-log.ts'
import type { RequestLog } from './logs/request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the key is authenticated. Stays null on operations without a key. */
    caller: Caller | null
    /** The route's path with its parameters as `{name}`, or null before a route has matched. */
    pattern: string | null
    /** The operation of the route. Null for pages. */
    operation: Operation | null
    /** The code of an error response. */
    errorCode: ErrorCode | null
    /** The cause of a 5xx response, for the log. */
    failure: unknown
    startedMs: number
    /** Maximum size of the body in bytes. 0 when the operation does not have one. */
    bodyBytesMax: number
    /** True when the body is passed on as bytes. */
    isBodyRaw: boolean
    /** Counts the body. Null when the operation does not have one. */
    bodyMemory: BodyMemory | null
  }
}

const exchangeOf = Symbol('exchange')

type TrackedResponse = ServerResponse & { [exchangeOf]?: FastifyReply }

export type Exchanges = {
  /** Responses in flight. */
  inFlight: Set<ServerResponse>
  /** Starts the tracking of a request that Fastify refused before its hooks ran. */
  begin(request: FastifyRequest, reply: FastifyReply): void
}

type TrackingParts = {
  requestLog: RequestLog
  accessLog: AccessLog | null
  /** True ends kept-alive connections. */
  isDraining: () => boolean
  /** See the requests that a browser sent for a page of some origin. */
  onCrossOrigin: ((request: FastifyRequest, reply: FastifyReply) => void)[]
}

/** Adds hooks to every request, for ids and headers at its start, and the log line and metrics at its end. */
export function trackExchanges(app: FastifyInstance, { requestLog, accessLog, isDraining, onCrossOrigin }: TrackingParts): Exchanges {
  const inFlight = new Set<ServerResponse>()

  decorateRequests(app)

  // `close` fires once per response, also when the client disconnected. Fastify's onResponse does not fire then.
  function end(this: ServerResponse): void {
    inFlight.delete(this)
    const reply = (this as TrackedResponse)[exchangeOf] as FastifyReply
    const { request } = reply
    const ms = performance.now() - request.startedMs
    const bytes = lengthOf(reply.getHeader('content-length'))
    accessLog?.write({ request, status: this.statusCode, bytes: bytes ?? null, ms })
    requestLog.note({
      id: request.id,
      method: request.method,
      route: request.pattern ?? 'unmatched',
      status: this.statusCode,
      ms,
      // Unknown for streams.
      bytes,
      caller: request.caller,
      operation: request.operation,
      params: request.params,
      query: givenQuery(request),
      body: request.body,
      errorCode: request.errorCode,
      failure: request.failure,
      isAborted: !this.writableFinished,
    })
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
    const problem = findRequestProblem(request.raw)
    if (problem === null && request.headers.origin !== undefined) for (const see of onCrossOrigin) see(request, reply)
    done(problem ?? undefined)
  })

  return { inFlight, begin }
}

/** Adds the fields of a request before it starts, so that all requests have one shape. */
function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('pattern', null)
  app.decorateRequest('operation', null)
  app.decorateRequest('errorCode', null)
  app.decorateRequest('failure', null)
  app.decorateRequest('startedMs', 0)
  app.decorateRequest('bodyBytesMax', 0)
  app.decorateRequest('isBodyRaw', false)
  app.decorateRequest('bodyMemory', null)
}

/** The query without the defaults of parameters that are missing, which Fastify's has too. */
function givenQuery({ raw }: FastifyRequest): Record<string, string> | undefined {
  const [, given] = (raw.url as string).split('?', 2)
  return given === undefined ? undefined : Object.fromEntries(new URLSearchParams(given))
}

const lengthOf = (header: number | string | string[] | undefined): number | undefined => (header === undefined ? undefined : Number(header))

/** The shape of errors of an API that another edge has below a path. */
export type FailureShape = {
  path: string
  shape(failure: ApiError, request: FastifyRequest): { status: number; body: object }
}

export type SendFailure = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

/** Sends the response for an error, in the shape of the API that was asked, and keeps errors of the server for the log. */
export const createSendFailure =
  (shapes: readonly FailureShape[]): SendFailure =>
  (error, request, reply) => {
    const failure: ApiError = toApiError(error)
    request.errorCode = failure.code
    if (failure.status >= 500) request.failure = error
    // A handler may already have set headers that only apply to a success.
    reply.removeHeader('content-disposition').removeHeader('content-length')
    reply.header('cache-control', securityHeaders['cache-control'])
    const { status, body } = shapes.find(({ path }) => isBelow(request.raw.url as string, path))?.shape(failure, request) ?? {
      status: failure.status,
      body: failureBody(failure, request.id),
    }
    reply.code(status).headers(failure.headers).type('application/json; charset=utf-8').send(body)
  }

/** True for a path, with its query, at a base or below it. */
const isBelow = (target: string, base: string): boolean => target === base || target.startsWith(`${base}/`) || target.startsWith(`${base}?`)

/** The longest path with its query, in bytes. */
export const targetBytesMax = 8192

/** The error in the request line or the headers, or null. */
export const findRequestProblem = (request: IncomingMessage): ApiError | null =>
  findTargetProblem(request.url as string) ?? findHeaderProblem(request)

/** The error in a path with its query, or null. */
export function findTargetProblem(target: string): ApiError | null {
  if (target.length > targetBytesMax) {
    return new ApiError('uri_too_long', `The path and query are longer than ${targetBytesMax} bytes.`)
  }
  return target.includes('%') ? findEscapeProblem(target) : null
}

function findEscapeProblem(target: string): ApiError | null {
  if (target.includes('%00')) return new ApiError('validation_error', 'The path and query must not contain a NUL character.')
  try {
    decodeURIComponent(target)
    return null
  } catch {
    return new ApiError(
      'validation_error',
      'The path or query is not valid. A % must be followed by the two hexadecimal digits of a UTF-8 byte.',
    )
  }
}

/**
 * Host exactly once (RFC 9112 §3.2, optional in HTTP/1.0) and Authorization at most once. Node keeps the first of several, but a proxy in
 * front may have used the last.
 */
function findHeaderProblem(request: IncomingMessage): ApiError | null {
  const raw = request.rawHeaders
  let hosts = 0
  let authorizations = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) return new ApiError('validation_error', 'The request has more than one Host header: send exactly one.')
  if (hosts === 0 && request.httpVersionMinor > 0)
    return new ApiError('validation_error', 'The request has no Host header: send exactly one.')
  if (authorizations > 1) return new ApiError('validation_error', 'The request has more than one Authorization header: send exactly one.')
  return null
}

/** The path and query of a request target in absolute form (RFC 9112 §3.2.2). Other targets are unchanged. */
export function originForm(request: { url?: string | undefined }): string {
  const target = request.url as string
  if (target.charCodeAt(0) === 0x2f) return target
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1]
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}
