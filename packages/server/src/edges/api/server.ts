// The HTTP server: Fastify put together from the routes tables, with a start, an address and a way to stop without cutting anyone off.
import { createServer, type Server as HttpListener, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import type { BusinessEvents } from '../../core/business-events.ts'
import { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import type { Replays } from '../../core/replay.ts'
import type { Route } from '../../core/route.ts'
import type { Transact } from '../../core/sql.ts'
import { arrivalMsMax, limitArrival } from './arrival.ts'
import { type Authenticate, createGate, type RateLimits } from './authenticate.ts'
import { readBody } from './body-reader.ts'
import { createNotFound, mountRoutes } from './dispatch.ts'
import { drainServer, trackFreshConnections } from './drain.ts'
import { createEventStreams } from './event-stream.ts'
import { sendFailure, trackExchanges } from './exchange.ts'
import { parserFailure, refusalText } from './failure.ts'
import { mountHealth, type Readiness } from './health.ts'
import { createLongPolls } from './long-polls.ts'
import { createHttpMetrics, type HttpMetrics } from './metrics.ts'
import { mountOpenApi } from './openapi.ts'
import { originForm, targetBytesMax } from './request-check.ts'

export type HttpServerOptions = {
  host: string
  /** 0: any free port. */
  port: number
  /** The address that clients use, or null for `http://localhost:<port>`. */
  publicUrl: string | null
  /** The version that the reference shows. */
  version: string
  routes: Route[]
  authenticate: Authenticate
  /** Transactions of the database, for operations. */
  transact: Transact
  replays: Replays
  limits: RateLimits
  readiness: Readiness
  /** How long a whole request may take to arrive; minutes without it. */
  arrivalMs?: number
  /** Who answers what is none of the API's: visitors of tunnels and their clients; null when that is another process. */
  door: TunnelHandler | null
  log: Log
  businessEvents: BusinessEvents
}

/** What comes to the same port and is not the API's. */
export type TunnelHandler = {
  /** Sees every connection first; null where nobody does. */
  connections: FirstLook | null
  claims(request: IncomingMessage): boolean
  /** A request to upgrade that `claims` it not is answered as if it had not asked. */
  claimsUpgrade(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Socket, early: Buffer): void
}

/** Reads connections until something comes that is not for it, and gives them back then as if it had read nothing of that. */
export type FirstLook = {
  onConnection(socket: Socket, handOver: (socket: Socket) => void): void
  closeIdle(): void
  closeAll(): void
}

export type HttpServer = {
  /** Starts to listen; rejects when the address is taken. */
  listen(): Promise<{ port: number }>
  /** The public address; known after `listen` when it was given as null. */
  readonly url: string
  /** Stops: /readyz says so at once, no connection is accepted any more, requests in flight get up to `graceMs` to finish. */
  drain(graceMs: number): Promise<void>
}

const headersTimeoutMs = 20_000
const tooLate = new ApiError('request_timeout', 'The request did not arrive in time.')

/** Longer than the 60 seconds after which common proxies give up idle connections, so that they close first. */
const keepAliveTimeoutMs = 65_000

const headerBytesMax = 16 * 1024

/** The pages that this file mounts beside the tables. */
const ownPages = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'].map((path) => ({ method: 'GET', path }))

/** Builds the server; nothing listens yet. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, businessEvents, door } = options
  let isDraining = false
  let metrics: HttpMetrics | null = null

  const answer =
    (own: (request: IncomingMessage, response: ServerResponse) => void) => (request: IncomingMessage, response: ServerResponse) => {
      if (door?.claims(request)) return door.handle(request, response)
      limitArrival(request, options.arrivalMs ?? arrivalMsMax, () => refuseUnanswered(request.socket, tooLate))
      own(request, response)
    }

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
          // Bodies for tunnels may take as long as they like; those for the API are timed by limitArrival.
          requestTimeout: 0,
          headersTimeout: headersTimeoutMs,
          keepAliveTimeout: keepAliveTimeoutMs,
          connectionsCheckingInterval: 5000,
          // Ours to refuse, in our words.
          requireHostHeader: false,
          shouldUpgradeCallback: (request: IncomingMessage) => door?.claimsUpgrade(request) ?? false,
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
  // Headers are bounded by their bytes; dropping those beyond a number could hide the second of two.
  server.maxHeadersCount = 0
  const fresh = trackFreshConnections(server)
  if (door?.connections) letLookFirst(server, door.connections)
  const route = answer((request, response) => app.routing(request, response))
  server.on('checkContinue', route)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) => door?.upgrade(request, socket, early))
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response.socket as Socket, new ApiError('expectation_failed', 'Expect may only be 100-continue.'))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    refuse(socket, new ApiError('validation_error', 'CONNECT is not served here.'))
  })

  const exchanges = trackExchanges(
    app,
    log,
    () => (metrics as HttpMetrics).observe,
    () => isDraining,
  )
  metrics = createHttpMetrics(businessEvents.registry, () => exchanges.inFlight.size)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  app.setErrorHandler(sendFailure)
  const describeMissing = createNotFound([...options.routes.map(({ shape }) => shape), ...ownPages])
  app.setNotFoundHandler((request, reply) => sendFailure(describeMissing(request), request, reply))

  const publicUrl = (): string => {
    if (options.publicUrl !== null) return options.publicUrl
    const address = server.address() as AddressInfo | null
    return `http://localhost:${address?.port ?? options.port}`
  }
  mountHealth(app, options.readiness, () => isDraining, businessEvents.registry)
  mountOpenApi(
    app,
    { serverUrl: publicUrl, version: options.version },
    options.routes.map(({ shape }) => shape),
  )
  const streams = createEventStreams(log)
  const polls = createLongPolls()
  mountRoutes(app, {
    routes: options.routes,
    gate: createGate(options.authenticate, options.limits, businessEvents),
    transact: options.transact,
    replays: options.replays,
    streams,
    polls,
    businessEvents,
  })

  return {
    async listen() {
      await app.ready()
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(options.port, options.host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return { port: (server.address() as AddressInfo).port }
    },
    get url() {
      return publicUrl()
    },
    async drain(graceMs) {
      if (isDraining) return
      isDraining = true
      streams.closeAll()
      polls.endAll()
      await drainServer(server, fresh, exchanges.inFlight, door?.connections ?? null, graceMs)
      await app.close()
    },
  }
}

function letLookFirst(server: HttpListener, first: FirstLook): void {
  const listeners = server.listeners('connection') as ((this: HttpListener, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const serve = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket)
  }
  server.on('connection', (socket: Socket) => first.onConnection(socket, serve))
}

/** Answers bytes that are no request. */
function refuseSocket(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else refuseUnanswered(socket, parserFailure(error))
}

/** Refuses; cuts the connection off when an answer is under way on it, which would be taken to go on with ours. */
function refuseUnanswered(socket: Socket, failure: ApiError): void {
  const pending = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
  if (!socket.writable || pending?.headersSent) socket.destroy()
  else refuse(socket, failure)
}

/** Writes an answer and closes the connection once it is out. */
function refuse(socket: Socket, failure: ApiError): void {
  socket.end(refusalText(failure, newId('request')), () => socket.destroy())
}
