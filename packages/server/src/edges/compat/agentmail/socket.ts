// The socket of AgentMail's SDK: a subscription is answered with the events of our stream, in the shape of AgentMail.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { getCaller } from '@callsign/contract/accounts'
import { type Event, type StreamCursor, streamEvents } from '@callsign/contract/events'
import { queryText } from '@callsign/contract/query-text'
import { getThreadById } from '@callsign/contract/threads'
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type ApiCall, CallFailure, createApiCall } from '../api-calls.ts'
import { ownTypesOf, threadIdOf, toAgentMailEvent } from './events.ts'
import { handlesOf } from './inboxes.ts'
import { AgentMailFailure, podId } from './route.ts'

type Payload = Static<typeof Event>

const path = '/compat/agentmail/v0'

/** Proxies close connections that are silent for a minute. A reader that answers no ping by the next one is disconnected. */
const pingMs = 15_000
const messageBytesMax = 64 * 1024

export type AgentMailSockets = {
  claims(request: IncomingMessage): boolean
  /** Answers the upgrade request, with 401 for a wrong key. The key is in the Authorization header only, because addresses are logged. */
  upgrade(app: FastifyInstance, request: IncomingMessage, socket: Socket, early: Buffer): void
  closeAll(): void
}

export function createAgentMailSockets(): AgentMailSockets {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: messageBytesMax })
  return {
    claims: (request) =>
      request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && request.url?.split('?', 1)[0] === path,

    upgrade(app, request, socket, early) {
      socket.on('error', () => socket.destroy())
      const from = { headers: request.headers, ip: socket.remoteAddress ?? '' }
      const call = createApiCall(app, from)
      call(getCaller).then(
        () => server.handleUpgrade(request, socket, early, (webSocket) => serve(webSocket, app, call, from)),
        (error: unknown) => refuse(socket, error instanceof CallFailure ? error.status : 500),
      )
    },

    closeAll() {
      for (const webSocket of server.clients) webSocket.close(1001, 'The server stops. Reconnect and subscribe again.')
    },
  }
}

const refuse = (socket: Socket, status: number): void => {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

type From = Parameters<typeof createApiCall>[1]

function serve(webSocket: WebSocket, app: FastifyInstance, call: ApiCall, from: From): void {
  let isAlive = true
  let end = (): void => {}
  const pings = setInterval(() => {
    if (!isAlive) webSocket.terminate()
    isAlive = false
    webSocket.ping()
  }, pingMs).unref()
  webSocket.on('pong', () => {
    isAlive = true
  })
  webSocket.on('error', () => webSocket.terminate())
  webSocket.once('close', () => {
    clearInterval(pings)
    end()
  })
  webSocket.on('message', (data: RawData) => {
    // A further subscription takes the place of the one before it.
    end()
    const abort = new AbortController()
    end = () => abort.abort()
    follow(webSocket, app, call, from, String(data), abort.signal).catch((error: unknown) => fail(webSocket, error))
  })
}

const send = (webSocket: WebSocket, message: object): Promise<void> =>
  new Promise((resolve) => webSocket.send(JSON.stringify(message), () => resolve()))

function fail(webSocket: WebSocket, error: unknown): void {
  const known = error instanceof CallFailure || error instanceof AgentMailFailure
  void send(webSocket, {
    type: 'error',
    name: known ? error.name : 'ServerError',
    message: known ? error.message : 'Reading events failed.',
  })
}

type Subscription = { type: 'subscribe'; event_types?: string[]; inbox_ids?: string[]; pod_ids?: string[] }

function subscriptionOf(text: string): Subscription {
  const isList = (value: unknown): boolean =>
    value === undefined || value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
  let given: Partial<Subscription> | null = null
  try {
    given = JSON.parse(text)
  } catch {}
  if (given?.type !== 'subscribe' || ![given.event_types, given.inbox_ids, given.pod_ids].every(isList))
    throw new AgentMailFailure(400, 'ValidationError', 'validation_error', 'A message must be a subscription with lists of strings.')
  if (given.pod_ids?.some((id) => id !== podId)) throw new AgentMailFailure(404, 'NotFoundError', 'not_found', 'Pod not found')
  return given as Subscription
}

/** Sends events until the socket closes, the subscription changes, or the key ends. */
async function follow(
  webSocket: WebSocket,
  app: FastifyInstance,
  call: ApiCall,
  from: From,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const { type: _type, ...wanted } = subscriptionOf(text)
  const types = ownTypesOf(wanted.event_types)
  const handles = await handlesOf(call, wanted.inbox_ids ?? [])
  const query = { types: types.join(','), ...(handles.length === 1 && { agent: handles[0] }) }
  const response = await app.inject({
    method: 'GET',
    url: streamEvents.path + queryText(query),
    remoteAddress: from.ip,
    headers: { ...pick(from.headers, 'authorization', 'x-forwarded-for', 'user-agent') },
    payloadAsStream: true,
  })
  const close = (): void => void response.raw.res.destroy()
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) return close()
  if (response.statusCode !== 200)
    throw new AgentMailFailure(response.statusCode, 'ForbiddenError', 'forbidden', 'This key may not read these events.')
  await send(webSocket, { type: 'subscribed', ...wanted })
  try {
    for await (const payload of payloadsOf(response.stream())) {
      if (signal.aborted) return
      if (handles.length > 0 && !handles.includes(String(payload.data.agent_handle))) continue
      const event = toAgentMailEvent(payload, await threadOf(call, payload))
      if (event) await send(webSocket, event)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (!signal.aborted) webSocket.close(4401, 'The key has ended, or events were not read in time.')
}

/** A thread may be gone, or hidden from this key. */
async function threadOf(call: ApiCall, payload: Payload) {
  const thread_id = threadIdOf(payload)
  return thread_id === undefined ? null : call(getThreadById, { params: { thread_id } }).catch(() => null)
}

const pick = (headers: IncomingMessage['headers'], ...names: string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))

/** The payloads of server-sent events. */
async function* payloadsOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Payload> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue
      const message = JSON.parse(line.slice('data: '.length)) as Payload | StreamCursor
      // AgentMail has no reset. Its readers get the events since the lost one.
      if (!('cursor' in message)) yield message
    }
  }
}
