// The HTTP server. Builds Fastify from the routes tables, listens, and drains without interrupting requests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { streamEvents } from '@callsign/contract/events'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { ApiCalls } from '../../core/api-call.ts'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Authenticate, Caller } from '../../core/caller.ts'
import { createClientReader } from '../../core/client-address.ts'
import { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import type { Replays } from '../../core/replay.ts'
import type { Route } from '../../core/route.ts'
import type { Transact } from '../../core/sql.ts'
import type { RequestRecorder } from '../../features/account/requests/model.ts'
import type { AccessLog } from './access-log.ts'
import { createApiCalls } from './api-calls.ts'
import { type ArrivalLimits, arrivalLimits, limitArrival } from './arrival.ts'
import { admitBody, createAdmission, type FindByToken, type RateLimits } from './authenticate.ts'
import { readBody } from './input/body-reader.ts'
import { openToPages } from './cors.ts'
import { createNotFound, mountRoutes } from './dispatch.ts'
import { drainServer, trackFreshConnections } from './drain.ts'
import { createEventSockets } from './live/event-socket.ts'
import { createEventStreams } from './live/event-stream.ts'
import { createSendFailure, type FailureShape, trackExchanges } from './exchange.ts'
import { mountHealth, type Readiness } from './health.ts'
import { createHttpsFront, type FindHttpsUrl, type HttpsOptions, isEncrypted, listenOn, sendToHttps } from './https.ts'
import { createLongPolls } from './long-polls.ts'
import { createHttpMetrics, type HttpMetrics } from './metrics.ts'
import { mountOpenApi } from '../docs-site/pages.ts'
import { createRunner } from './operation-runner.ts'
import { originForm, targetBytesMax } from './request-check.ts'
import { createRequestLog } from './request-log.ts'
import { refuse, refuseSocket, refuseUnanswered } from './socket-refusal.ts'
import { passConnections, type TunnelHandler } from './tunnel-handler.ts'
import { bodyCheck } from './input/validation.ts'

export type HttpServerOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  /** The address that clients use, or null for `http://localhost:<port>`. */
  publicUrl: string | null
  /** The version that the reference shows. */
  version: string
  routes: Route[]
  /** Operations that only other edges of this process call. */
  innerRoutes?: Route[]
  authenticate: Authenticate
  /** The caller of a token that opens event sockets only. */
  authenticateSocket: Authenticate
  /** Proxies whose X-Forwarded-For is trusted, as CIDR ranges. */
  trustedProxies: string[]
  /** Gets every request with a valid key, or null when the log of requests is off. */
  requestRecorder?: RequestRecorder | null
  /** Gets a line per request, or null when it is off. */
  accessLog?: AccessLog | null
  /** Transactions of the database, for operations. */
  transact: Transact
  replays: Replays
  limits: RateLimits
  readiness: Readiness
  /** Time limits for the arrival of a request, when they are not the usual ones. */
  arrival?: Partial<ArrivalLimits>
  /** Pages of other edges on the same port. */
  pages?: Pages[]
  /** Handles public tunnel requests and tunnel clients, or null when another process does. */
  tunnels: TunnelHandler | null
  /** A port for HTTPS beside the plain one. */
  https?: HttpsOptions | null
  /** Redirects plain requests. Without it they are served. */
  findHttpsUrl?: FindHttpsUrl | null
  /** max-age of Strict-Transport-Security on encrypted connections. 0 sends no such header. */
  hstsSeconds?: number
  log: Log
  businessEvents: BusinessEvents
}

/** Paths that another edge adds to the server. `paths` are those that can answer 405. */
export type Pages = {
  paths: { method: string; path: string }[]
  mount: (app: FastifyInstance, tools: PageTools) => void
  /** The shape of its errors. */
  failures?: FailureShape
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

export type HttpServer = {
  /** Starts to listen. Rejects when the address is in use. */
  listen(): Promise<{ port: number; httpsPort: number | null }>
  /** Lets requests to the API through, which wait from `listen` until this call. */
  open(): void
  /** The public address, which is known after `listen` when it was given as null. */
  readonly url: string
  /** Stops the server. /readyz reports it at once, new connections are refused, and requests in flight get up to `graceMs` to finish. */
  drain(graceMs: number): Promise<void>
  /** The number of requests in flight. */
  inFlight(): number
}

const headersTimeoutMs = 20_000
const tooLate = new ApiError('request_timeout', 'The request did not arrive in time.')

/** Longer than the 60 seconds after which common proxies close idle connections, so that the proxies close first. */
const keepAliveTimeoutMs = 65_000

const headerBytesMax = 16 * 1024

/** Pages mounted by this file in addition to the tables. */
const ownPages = ['/healthz', '/readyz', '/openapi.json', '/docs', '/llms.txt', '/llms-full.txt'].map((path) => ({
  method: 'GET',
  path,
}))

/** Builds the server without listening. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, businessEvents, tunnels, pages = [] } = options
  let isDraining = false
  const opening = Promise.withResolvers<void>()
  let isOpen = false
  let metrics: HttpMetrics | null = null

  const { findHttpsUrl = null, hstsSeconds = 0 } = options
  const answer =
    (own: (request: IncomingMessage, response: ServerResponse) => void) => (request: IncomingMessage, response: ServerResponse) => {
      const httpsUrl = findHttpsUrl?.(request) ?? null
      if (httpsUrl !== null) return sendToHttps(request, response, httpsUrl)
      if (tunnels?.claims(request)) return tunnels.handle(request, response)
      if (hstsSeconds > 0 && isEncrypted(request)) response.setHeader('strict-transport-security', `max-age=${hstsSeconds}`)
      limitArrival(request, { ...arrivalLimits, ...options.arrival }, () => refuseUnanswered(request.socket, tooLate))
      if (isOpen) own(request, response)
      else void opening.promise.then(() => own(request, response))
    }

  const sockets = createEventSockets(streamEvents.path, log)
  const sendFailure = createSendFailure(pages.flatMap(({ failures }) => failures ?? []))
  const pageSockets = (request: IncomingMessage) => pages.find((page) => page.sockets?.claims(request))?.sockets
  const app: FastifyInstance = Fastify({
    logger: false,
    genReqId: () => newId('request'),
    rewriteUrl: originForm,
    return503OnClosing: false,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: targetBytesMax },
    serverFactory: (handler) =>
      createServer(
        {
          maxHeaderSize: headerBytesMax,
          // Bodies for tunnels have no time limit. limitArrival applies one to bodies for the API.
          requestTimeout: 0,
          headersTimeout: headersTimeoutMs,
          keepAliveTimeout: keepAliveTimeoutMs,
          connectionsCheckingInterval: 5000,
          // Checked by this server, with its own message.
          requireHostHeader: false,
          shouldUpgradeCallback: (request: IncomingMessage) =>
            (findHttpsUrl?.(request) ?? null) === null &&
            (tunnels?.claimsUpgrade(request) === true || sockets.claims(request) || pageSockets(request) !== undefined),
        },
        answer(handler),
      ),
    clientErrorHandler: refuseSocket,
    frameworkErrors: (error, request, reply) => {
      exchanges.begin(request, reply)
      sendFailure(error, request, reply)
    },
  })
  const server = app.server
  // Headers are limited by their bytes. Dropping those beyond a number could hide a duplicate.
  server.maxHeadersCount = 0
  const fresh = trackFreshConnections(server)
  // A look at the bytes of a plain connection would come before its redirect.
  const serveSocket = passConnections(server, findHttpsUrl === null ? (tunnels?.connections ?? null) : null)
  const https = options.https ? createHttpsFront(options.https, serveSocket) : null
  const route = answer((request, response) => app.routing(request, response))
  server.on('checkContinue', route)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) => {
    const ofPage = pageSockets(request)
    if (tunnels?.claimsUpgrade(request)) tunnels.upgrade(request, socket, early)
    else if (ofPage) void opening.promise.then(() => ofPage.upgrade(apiCalls, request, socket, early))
    else sockets.upgrade(request, socket, early, route)
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response.socket as Socket, new ApiError('expectation_failed', 'Expect may only be 100-continue.'))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    refuse(socket, new ApiError('validation_error', 'CONNECT is not supported.'))
  })

  const requestLog = createRequestLog(log, () => (metrics as HttpMetrics).observe, options.requestRecorder ?? null)
  const exchanges = trackExchanges(app, requestLog, options.accessLog ?? null, () => isDraining)
  metrics = createHttpMetrics(businessEvents.registry, () => exchanges.inFlight.size)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  app.setErrorHandler(sendFailure)
  const describeMissing = createNotFound([...options.routes.map(({ shape }) => shape), ...ownPages, ...pages.flatMap(({ paths }) => paths)])
  app.setNotFoundHandler((request, reply) => sendFailure(describeMissing(request), request, reply))

  const publicUrl = (): string => {
    if (options.publicUrl !== null) return options.publicUrl
    const address = server.address() as AddressInfo | null
    return `http://localhost:${address?.port ?? options.port}`
  }
  mountHealth(app, options.readiness, () => isDraining)
  mountOpenApi(
    app,
    { serverUrl: publicUrl, version: options.version },
    options.routes.map(({ shape }) => shape),
  )
  const admission = createAdmission({
    authenticate: options.authenticate,
    authenticateSocket: options.authenticateSocket,
    opensSocket: (request) => sockets.claims(request),
    readClient: createClientReader(options.trustedProxies),
    limits: options.limits,
    businessEvents,
  })
  const streams = createEventStreams(log)
  const polls = createLongPolls()
  const { transact, replays } = options
  const toRun = createRunner({ transact, replays, polls, businessEvents })
  const operations = options.routes.map(toRun)
  const apiCalls = createApiCalls({ operations: [...operations, ...(options.innerRoutes ?? []).map(toRun)], admission, requestLog })
  for (const { mount } of pages)
    mount(app, {
      apiCalls,
      admitBody: (request, reply, bytesMax, isRaw = false) => admitBody(request, reply, bytesMax, isRaw),
      bodyCheck: (schema) => bodyCheck(schema, false),
      countWrongSecret: ({ id, raw }) => admission.countWrongSecret({ id, address: raw.socket.remoteAddress }),
      readToken: async ({ id, raw }, find) => admission.readToken(raw, id, find),
      limitCaller: ({ id }, caller) => admission.limitCaller(caller, id),
      openToPages,
    })
  mountRoutes(app, {
    operations,
    admission: admission.of,
    sendLive: (request, reply, live) => (sockets.claims(request.raw) ? sockets : streams).send(request, reply, live),
  })

  return {
    async listen() {
      await app.ready()
      await listenOn(server, options.port, options.host)
      return { port: (server.address() as AddressInfo).port, httpsPort: https ? await https.listen() : null }
    },
    open() {
      isOpen = true
      opening.resolve()
    },
    get url() {
      return publicUrl()
    },
    inFlight: () => exchanges.inFlight.size,
    async drain(graceMs) {
      if (isDraining) return
      isDraining = true
      streams.closeAll()
      sockets.closeAll()
      for (const page of pages) page.sockets?.closeAll()
      polls.endAll()
      await drainServer(server, fresh, exchanges.inFlight, tunnels?.connections ?? null, graceMs, https)
      await app.close()
    },
  }
}
