// The HTTP server of the API: builds its parts on Fastify, listens, and drains.
//
// A request to an operation takes five steps:
// 1. listener.ts and exchange.ts read and check its head.
// 2. authenticate.ts finds the caller of its key.
// 3. The same file admits the caller by scope and rate limit. Then input/ reads and checks the body.
// 4. operation-runner.ts runs the operation, once per Idempotency-Key.
// 5. dispatch.ts sends the result, and logs/ notes it.
import type { IncomingMessage } from 'node:http'
import { streamEvents } from '@callsign/contract/events'
import Fastify, { type FastifyInstance } from 'fastify'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Authenticate } from '../../core/caller.ts'
import { createClientReader } from '../../core/client-address.ts'
import { newId } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import type { Replays } from '../../core/replay.ts'
import type { Route } from '../../core/route.ts'
import type { Transact } from '../../core/sql.ts'
import type { RequestRecorder } from '../../features/account/requests/model.ts'
import { createApiCalls } from './api-calls.ts'
import { admitBody, createAdmission, type RateLimits } from './authenticate.ts'
import { createNotFound, mountRoutes } from './dispatch.ts'
import { createSendFailure, originForm, targetBytesMax, trackExchanges } from './exchange.ts'
import type { FindHttpsUrl, HttpsOptions } from './https.ts'
import { readBody } from './input/body-reader.ts'
import { bodyCheck } from './input/validation.ts'
import { type ArrivalLimits, arrivalLimits, createListener, refuseSocket, type TunnelHandler } from './listener.ts'
import { createEventSockets } from './live/event-socket.ts'
import { createEventStreams } from './live/event-stream.ts'
import type { AccessLog } from './logs/access-log.ts'
import { createHttpMetrics, createRequestLog, type HttpMetrics } from './logs/request-log.ts'
import { createLongPolls, createRunner } from './operation-runner.ts'
import { openToPages, type Pages } from './pages.ts'

type Readiness = () => Promise<Record<string, boolean>>

export type HttpServerOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  /** The address that clients use, or null for `http://localhost:<port>`. */
  publicUrl: string | null
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
  /** Checks each part of the server, by name, and returns true for those that work. */
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

const readinessTimeoutMs = 2000

/** Pages mounted by this file in addition to the tables. */
const ownPages = ['/healthz', '/readyz'].map((path) => ({ method: 'GET', path }))

/** Builds the server without listening. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, businessEvents, pages = [], transact, replays } = options
  let isDraining = false
  let metrics: HttpMetrics | null = null

  const sockets = createEventSockets(streamEvents.path, log)
  const pageSockets = (request: IncomingMessage) => pages.find((page) => page.sockets?.claims(request))?.sockets
  const opening = Promise.withResolvers<void>()
  const listener = createListener({
    host: options.host,
    port: options.port,
    https: options.https ?? null,
    findHttpsUrl: options.findHttpsUrl ?? null,
    hstsSeconds: options.hstsSeconds ?? 0,
    tunnels: options.tunnels,
    arrival: { ...arrivalLimits, ...options.arrival },
    upgrades: {
      claims: (request) => sockets.claims(request) || pageSockets(request) !== undefined,
      upgrade(request, socket, early, route) {
        const ofPage = pageSockets(request)
        if (ofPage) void opening.promise.then(() => ofPage.upgrade(apiCalls, request, socket, early))
        else sockets.upgrade(request, socket, early, route)
      },
    },
  })

  const sendFailure = createSendFailure(pages.flatMap(({ failures }) => failures ?? []))
  const app: FastifyInstance = Fastify({
    logger: false,
    genReqId: () => newId('request'),
    rewriteUrl: originForm,
    return503OnClosing: false,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: targetBytesMax },
    serverFactory: listener.serve,
    clientErrorHandler: refuseSocket,
    frameworkErrors: (error, request, reply) => {
      exchanges.begin(request, reply)
      sendFailure(error, request, reply)
    },
  })

  const requestLog = createRequestLog(log, () => (metrics as HttpMetrics).observe, options.requestRecorder ?? null)
  const exchanges = trackExchanges(app, {
    requestLog,
    accessLog: options.accessLog ?? null,
    isDraining: () => isDraining,
    onCrossOrigin: pages.flatMap((page) => page.onCrossOrigin ?? []),
  })
  metrics = createHttpMetrics(businessEvents.registry, () => exchanges.inFlight.size)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  app.setErrorHandler(sendFailure)
  const describeMissing = createNotFound([...options.routes.map(({ shape }) => shape), ...ownPages, ...pages.flatMap(({ paths }) => paths)])
  app.setNotFoundHandler((request, reply) => sendFailure(describeMissing(request), request, reply))
  mountHealth(app, options.readiness, () => isDraining)

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
      return listener.listen()
    },
    open() {
      listener.open()
      opening.resolve()
    },
    get url() {
      return options.publicUrl ?? `http://localhost:${listener.port ?? options.port}`
    },
    inFlight: () => exchanges.inFlight.size,
    async drain(graceMs) {
      if (isDraining) return
      isDraining = true
      streams.closeAll()
      sockets.closeAll()
      for (const page of pages) page.sockets?.closeAll()
      polls.endAll()
      await listener.drain(exchanges.inFlight, graceMs)
      await app.close()
    },
  }
}

/** Adds /healthz and /readyz. */
function mountHealth(app: FastifyInstance, readiness: Readiness, isDraining: () => boolean): void {
  let asking: Promise<Record<string, boolean>> | null = null

  // Concurrent requests share one check, because it costs a round trip to the database.
  const ask = (): Promise<Record<string, boolean>> => {
    asking ??= Promise.race([readiness(), late()])
      .catch(() => ({ readiness: false }))
      .finally(() => {
        asking = null
      })
    return asking
  }

  app.get('/healthz', async (request) => {
    request.pattern = '/healthz'
    return { status: 'ok' }
  })

  app.get('/readyz', async (request, reply) => {
    request.pattern = '/readyz'
    const checks = await ask()
    const isReady = Object.values(checks).every(Boolean)
    const status = isDraining() ? 'draining' : isReady ? 'ready' : 'unavailable'
    return reply.code(status === 'ready' ? 200 : 503).send({ status, checks })
  })
}

const late = (): Promise<Record<string, boolean>> =>
  new Promise((resolve) => setTimeout(() => resolve({ readiness: false }), readinessTimeoutMs).unref())
