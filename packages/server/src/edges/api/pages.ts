// Pages of other edges on the server of the API, and the checks and operations that they are lent.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { ApiCalls } from '../../core/api-call.ts'
import type { Caller } from '../../core/caller.ts'
import type { ApiError } from '../../core/errors.ts'
import type { FindByToken } from './authenticate.ts'
import type { FailureShape } from './exchange.ts'

/** Paths that another edge adds to the server. `paths` are those that can answer 405. */
export type Pages = {
  paths: { method: string; path: string }[]
  mount: (app: FastifyInstance, tools: PageTools) => void
  /** The shape of its errors. */
  failures?: FailureShape
  /** Sees the requests that a browser sent for a page of some origin. */
  onCrossOrigin?: (request: FastifyRequest, reply: FastifyReply) => void
  /** WebSockets of the edge. */
  sockets?: {
    claims(request: IncomingMessage): boolean
    upgrade(apiCalls: ApiCalls, request: IncomingMessage, socket: Socket, early: Buffer): void
    closeAll(): void
  }
}

/** The checks and operations of the API, for pages of other edges. */
export type PageTools = {
  /** Calls operations of the API inside of this process. */
  apiCalls: ApiCalls
  admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean): ApiError | undefined
  bodyCheck(schema: TSchema): (data: unknown) => { error?: ApiError }
  /** Counts a wrong secret of the client's address. Returns 429 above the limit. */
  countWrongSecret(request: FastifyRequest): ApiError | undefined
  /** Resolves with the result of `find` for the bearer token of a request, or with the refusal, which counts for the client's address. */
  readToken<T>(request: FastifyRequest, find: FindByToken<T>): Promise<T | ApiError>
  /** Counts a request of a key. Returns 429 above the limit. */
  limitCaller(request: FastifyRequest, caller: Caller): ApiError | undefined
  /** Opens a path to pages of every site. Returns the function that opens each response. */
  openToPages: typeof openToPages
}

/** Seconds that a browser may keep the answer to a preflight request. Chromium keeps it for 2 hours at most. */
const preflightKeptSeconds = 7200

const responseHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Mcp-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id',
}

/**
 * Cross-origin requests (Fetch, section 3.3) for endpoints that read a token and no cookie. A page has no token unless a person gave it one.
 * Answers preflight requests of a path. Returns the function that opens a response to pages of every site, refusals included.
 */
export function openToPages(app: FastifyInstance, path: string, methods: string[]): (reply: FastifyReply) => void {
  app.route({
    method: 'OPTIONS',
    url: path,
    onRequest: async (request) => {
      request.pattern = path
    },
    handler: async (_request, reply) =>
      reply
        .code(204)
        .headers({
          ...responseHeaders,
          'access-control-allow-methods': methods.join(', '),
          // The wildcard does not stand for Authorization.
          'access-control-allow-headers': 'Authorization, *',
          'access-control-max-age': String(preflightKeptSeconds),
        })
        .send(),
  })
  return (reply) => void reply.headers(responseHeaders)
}
