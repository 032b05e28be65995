// Node's HTTP server: passes requests to the API or to tunnels, refuses bytes that are not a request, and drains without interrupting one.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptWaiting } from '../../core/accept-waiting.ts'
import { ApiError, forbidden } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { dropUpgradeOutOfTurn, isLateUnread, openResponse } from '../../core/open-response.ts'
import { parserFailure, refusalText } from './failure.ts'
import { createHttpsFront, type FindHttpsUrl, type HttpsOptions, isEncrypted, listenOn } from './https.ts'

/** Requests to the same port that do not belong to the API. */
export type TunnelHandler = {
  /** Sees every connection first, or null. */
  connections: FirstLook | null
  claims(request: IncomingMessage): boolean
  /** An upgrade request that `claims` does not accept is answered like any other request. */
  claimsUpgrade(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Socket, early: Buffer): void
}

/** Reads connections until they carry something else, and then hands them back with those bytes unread. */
export type FirstLook = {
  onConnection(socket: Socket, handOver: (socket: Socket) => void): void
  closeIdle(): void
  closeAll(): void
}

/** WebSockets of the API and of pages. `route` answers the request like an ordinary one. */
export type Upgrades = {
  claims(request: IncomingMessage): boolean
  upgrade(request: IncomingMessage, socket: Socket, early: Buffer, route: RequestListener): void
}

export type ArrivalLimits = {
  /** Milliseconds for the whole request. */
  totalMs: number
  /** Milliseconds in which at least `windowBytesMin` have to arrive. */
  windowMs: number
  windowBytesMin: number
}

/** Enough for a body of 40 MB over a slow line, and at least 1 KB per second. */
export const arrivalLimits: ArrivalLimits = { totalMs: 300_000, windowMs: 10_000, windowBytesMin: 10_240 }

export type ListenerOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  https: HttpsOptions | null
  findHttpsUrl: FindHttpsUrl | null
  hstsSeconds: number
  tunnels: TunnelHandler | null
  upgrades: Upgrades
  arrival: ArrivalLimits
}

export interface Listener {
  /** Node's server, with `handler` as the API's own. */
  serve(handler: RequestListener): Server
  /** Starts to listen. Rejects when the address is in use. */
  listen(): Promise<{ port: number; httpsPort: number | null }>
  /** Lets requests to the API through, which wait from `listen` until this call. */
  open(): void
  /** The port, or null before `listen`. */
  readonly port: number | null
  /** Ends every connection: by itself, as idle, or by force after `graceMs`. `inFlight` are the responses that have not ended. */
  drain(inFlight: Set<ServerResponse>, graceMs: number): Promise<void>
}

const headersTimeoutMs = 20_000
/** Longer than the 60 seconds after which common proxies close idle connections, so that the proxies close first. */
const keepAliveTimeoutMs = 65_000
const headerBytesMax = 16 * 1024
/** Milliseconds that idle connections stay open, because a request may be arriving on one of them. It is answered with Connection: close. */
const idleLingerMs = 250
/** Milliseconds between checks for connections that became idle. */
const checkEveryMs = 50

const tooLate = new ApiError('request_timeout', 'The request did not arrive in time.')

export function createListener({ tunnels, upgrades, findHttpsUrl, hstsSeconds, arrival, ...options }: ListenerOptions): Listener {
  const opening = Promise.withResolvers<void>()
  let isOpen = false

  const server = createServer({
    maxHeaderSize: headerBytesMax,
    // Bodies for tunnels have no time limit. limitArrival applies one to bodies for the API.
    requestTimeout: 0,
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 5000,
    // Checked by this server, with its own message.
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => {
      dropUpgradeOutOfTurn(request)
      return (findHttpsUrl?.(request) ?? null) === null && (tunnels?.claimsUpgrade(request) === true || upgrades.claims(request))
    },
  })
  // Headers are limited by their bytes. Dropping those beyond a number could hide a duplicate.
  server.maxHeadersCount = 0
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const fresh = trackFreshConnections(server)
  // A look at the bytes of a plain connection would come before its redirect.
  const serveSocket = passConnections(server, findHttpsUrl === null ? (tunnels?.connections ?? null) : null)
  const https = options.https ? createHttpsFront(options.https, serveSocket) : null

  const routed =
    (handler: RequestListener): RequestListener =>
    (request, response) => {
      const httpsUrl = findHttpsUrl?.(request) ?? null
      if (httpsUrl !== null) return sendToHttps(request, response, httpsUrl)
      if (tunnels?.claims(request)) return tunnels.handle(request, response)
      if (hstsSeconds > 0 && isEncrypted(request)) response.setHeader('strict-transport-security', `max-age=${hstsSeconds}`)
      limitArrival(request, arrival, () => refuseUnanswered(request.socket, tooLate))
      if (isOpen) handler(request, response)
      else void opening.promise.then(() => handler(request, response))
    }

  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuseInTurn(request.socket, response, new ApiError('expectation_failed', 'Expect may only be 100-continue.'))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    refuseInTurn(socket, null, new ApiError('validation_error', 'CONNECT is not supported.'))
  })

  return {
    serve(handler) {
      const route = routed(handler)
      server.on('request', route)
      server.on('checkContinue', route)
      server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) => {
        if (tunnels?.claimsUpgrade(request)) tunnels.upgrade(request, socket, early)
        else upgrades.upgrade(request, socket, early, route)
      })
      return server
    },

    async listen() {
      await listenOn(server, options.port, options.host)
      return { port: (server.address() as AddressInfo).port, httpsPort: https ? await https.listen() : null }
    },

    open() {
      isOpen = true
      opening.resolve()
    },

    get port() {
      return (server.address() as AddressInfo | null)?.port ?? null
    },

    async drain(inFlight, graceMs) {
      for (const response of inFlight) if (!response.headersSent) response.shouldKeepAlive = false
      if (!server.listening) return void server.close()
      await Promise.all([acceptWaiting(server), https?.stopListening()])
      let isClosed = false
      const closed = Promise.all([
        // The HTTP server's own close() would end idle connections at once.
        new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())),
        https?.closed,
      ]).then(() => {
        isClosed = true
      })
      const deadline = performance.now() + graceMs
      await Promise.race([closed, sleep(Math.min(idleLingerMs, graceMs), undefined, { ref: false })])
      while (!isClosed && performance.now() < deadline) {
        // Node counts a connection as idle although its ended response still has bytes to send.
        if (!sockets.values().some((socket) => openResponse(socket)?.writableEnded)) server.closeIdleConnections()
        tunnels?.connections?.closeIdle()
        // Node counts a connection without any received bytes as busy.
        for (const socket of fresh) if (socket.bytesRead === 0) socket.destroy()
        await Promise.race([closed, sleep(checkEveryMs, undefined, { ref: false })])
      }
      server.closeAllConnections()
      tunnels?.connections?.closeAll()
      https?.closeAll()
      await closed
      // Ends the timer that detects slow requests. The server itself is already closed.
      server.close()
    },
  }
}

/** The connections on which no request has arrived yet. */
function trackFreshConnections(server: Server): Set<Socket> {
  const fresh = new Set<Socket>()
  const forget = function (this: Socket): void {
    fresh.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    fresh.add(socket)
    socket.once('close', forget)
  })
  server.on('request', (request: IncomingMessage) => fresh.delete(request.socket))
  return fresh
}

/**
 * Shows every new connection to `first`, if there is one, before HTTP reads from it. Returns the function that passes a connection to HTTP
 * directly.
 */
function passConnections(server: Server, first: FirstLook | null): (socket: Socket) => void {
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  const serve = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket)
  }
  if (first) {
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => first.onConnection(socket, serve))
  }
  return serve
}

/**
 * Calls `onLate` when the body arrives too slowly, or not completely in time. Time in which this server does not read does not count as
 * slow. Node's own limit applies to a whole server, and uploads through tunnels have no limit.
 */
function limitArrival(request: IncomingMessage, limits: ArrivalLimits, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || length === '0')) return
  let beforeBytes = request.socket.bytesRead
  let wasReading = false
  const end = (): void => {
    clearTimeout(timer)
    clearInterval(windows)
  }
  const cut = (): void => {
    if (request.complete) return
    end()
    onLate()
  }
  const windows = setInterval(() => {
    const bytes = request.socket.bytesRead
    if (wasReading && bytes - beforeBytes < limits.windowBytesMin) cut()
    beforeBytes = bytes
    wasReading = request.readableFlowing === true
  }, limits.windowMs)
  const timer = setTimeout(cut, limits.totalMs)
  windows.unref()
  timer.unref()
  request.once('close', end)
}

/** Redirects a plain request. One with a credential is refused, because a redirect would hide that the credential was sent in the clear. */
function sendToHttps(request: IncomingMessage, response: ServerResponse, url: string): void {
  if (request.headers.authorization !== undefined) {
    const message = `This server takes keys over HTTPS only: use ${new URL(url).origin}. Replace this key, because it was sent unencrypted.`
    refuseInTurn(request.socket, response, forbidden(message))
    return
  }
  response.writeHead(308, { location: url, 'content-length': 0, connection: 'close' }).end()
}

/** Answers bytes that are not a request. */
export function refuseSocket(error: Error & { code?: string }, socket: Socket): void {
  if (isLateUnread(error, socket)) return
  if (error.code === 'ECONNRESET') socket.destroy()
  else refuseUnanswered(socket, parserFailure(error))
}

/** Refuses the request. Closes the connection if a response has started on it, because a second one would be read as its continuation. */
function refuseUnanswered(socket: Socket, failure: ApiError): void {
  if (!socket.writable || openResponse(socket)?.headersSent) socket.destroy()
  else refuse(socket, failure)
}

/** Refuses the request of `own`. Closes the connection if an earlier response is open on it, because the refusal would be read as that one. */
function refuseInTurn(socket: Socket, own: ServerResponse | null, failure: ApiError): void {
  if (openResponse(socket) === own) refuse(socket, failure)
  else socket.destroy()
}

/** Writes a response and closes the connection after it. */
function refuse(socket: Socket, failure: ApiError): void {
  socket.end(refusalText(failure, newId('request')), () => socket.destroy())
}
