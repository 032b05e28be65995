// Event streams over WebSocket (RFC 6455). A request for a stream with Upgrade passes the same checks as one without, and becomes a socket at its end.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cursorMessage } from '@callsign/contract/events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../../core/log.ts'
import type { Live } from '../../../core/route.ts'

/** Proxies close connections that are silent for a minute. A reader that answers no ping by the next one is gone. */
const pingMs = 15_000
/** A reader that takes nothing for this long while events are pending is disconnected. */
const stallMsMax = 10_000
/** Bytes that may wait for one reader, in addition to the kernel's buffer. */
const waitingBytesMax = 64 * 1024
/** Bytes of a message from a reader. None has a meaning. */
const messageBytesMax = 1024
/** Time for a reader to answer a close frame. */
const closeMs = 1000

/** The subprotocol of browsers, which cannot set headers. A second one, `bearer.` and a socket token or console token, authenticates. */
const protocol = 'callsign.events'
const bearerPrefix = 'bearer.'
/** API keys are long-lived and are not accepted where browsers can only give short-lived tokens. */
const keyPrefix = 'svc_live_'

/** Reasons for which the server closes a socket. 4000-4999 are for applications. */
const closeCodes = {
  stopping: [1001, 'The server stops. Reconnect and continue after your last event.'],
  noMessages: [1003, 'This socket takes no messages.'],
  failed: [1011, 'Reading events failed. Reconnect and continue after your last event.'],
  revoked: [4401, 'The key or session has ended.'],
  tooSlow: [4408, 'Events were not read in time. Reconnect and continue after your last event.'],
} as const

export type EventSockets = {
  /** True for a request that asks for an event stream over WebSocket. */
  claims(request: IncomingMessage): boolean
  /** Passes an upgrade request on as an ordinary one. `route` answers it, with an error or through `send`. */
  upgrade(
    request: IncomingMessage,
    socket: Socket,
    early: Buffer,
    route: (request: IncomingMessage, response: ServerResponse) => void,
  ): void
  /** Makes a socket of a checked request, and sends the events of the live answer. */
  send(request: FastifyRequest, reply: FastifyReply, live: Live): FastifyReply
  closeAll(): void
}

export function createEventSockets(path: string, log: Log): EventSockets {
  const open = new Set<EventSocket>()
  const earlyBytes = new WeakMap<IncomingMessage, Buffer>()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  })
  let isClosed = false

  return {
    claims: (request) =>
      request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && request.url?.split('?', 1)[0] === path,

    upgrade(request, socket, early, route) {
      socket.on('error', () => socket.destroy())
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      response.once('finish', () => socket.end())
      earlyBytes.set(request, early)
      readBearer(request)
      route(request, response)
    },

    send(request, reply, live) {
      reply.hijack()
      const { socket } = request.raw
      const response = reply.raw
      response.detachSocket(socket)
      response.statusCode = 101
      socket.once('close', () => response.emit('close'))
      server.handleUpgrade(request.raw, socket, earlyBytes.get(request.raw) ?? Buffer.alloc(0), (webSocket) => {
        const one = new EventSocket(webSocket, log.child({ request_id: request.id }))
        open.add(one)
        webSocket.once('close', () => open.delete(one))
        void one.run(live)
        if (isClosed) one.close('stopping')
      })
      return reply
    },

    closeAll() {
      isClosed = true
      for (const one of open) one.close('stopping')
    },
  }
}

/** Moves a token from the subprotocols to the Authorization header, which every other check reads. */
function readBearer(request: IncomingMessage): void {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
  const token = offered.find((one) => one.startsWith(bearerPrefix))?.slice(bearerPrefix.length)
  if (token === undefined || token.startsWith(keyPrefix) || request.headers.authorization !== undefined) return
  request.headers.authorization = `Bearer ${token}`
}

class EventSocket {
  readonly #socket: WebSocket
  readonly #log: Log
  readonly #abort = new AbortController()
  #isAlive = true

  constructor(socket: WebSocket, log: Log) {
    this.#socket = socket
    this.#log = log
    const pings = setInterval(() => this.#ping(), pingMs).unref()
    socket.on('pong', () => {
      this.#isAlive = true
    })
    socket.on('message', () => this.close('noMessages'))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      clearInterval(pings)
      this.#abort.abort()
    })
  }

  /** Sends events until the reader leaves, its access ends or it is too slow. */
  async run(live: Live): Promise<void> {
    const { signal } = this.#abort
    try {
      for await (const batch of live.follow(signal)) {
        for (const event of batch) {
          if (signal.aborted) return
          if (!(await this.#write(event.data ?? JSON.stringify(cursorMessage(event.id, event.lost))))) return this.close('tooSlow')
        }
        if (signal.aborted) return
      }
      if (!signal.aborted) this.close('revoked')
    } catch (err) {
      if (signal.aborted) return
      this.#log.warn({ err }, 'an event socket ended early')
      this.close('failed')
    }
  }

  close(reason: keyof typeof closeCodes): void {
    if (this.#abort.signal.aborted) return
    this.#abort.abort()
    const [code, text] = closeCodes[reason]
    if (reason === 'tooSlow') this.#log.info('an event socket was closed because its client read too slowly')
    this.#socket.close(code, text)
    setTimeout(() => this.#socket.terminate(), closeMs).unref()
  }

  /** Writes a message. False when the reader has too much to read, and takes nothing in time. */
  async #write(text: string): Promise<boolean> {
    const written = new Promise<void>((resolve) => this.#socket.send(text, () => resolve()))
    if (this.#socket.bufferedAmount < waitingBytesMax) return true
    let timer: NodeJS.Timeout | undefined
    const stalled = new Promise<'stalled'>((resolve) => {
      timer = setTimeout(() => resolve('stalled'), stallMsMax)
    })
    const outcome = await Promise.race([written, stalled])
    clearTimeout(timer)
    return outcome !== 'stalled'
  }

  #ping(): void {
    if (!this.#isAlive) this.#socket.terminate()
    this.#isAlive = false
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping()
  }
}
