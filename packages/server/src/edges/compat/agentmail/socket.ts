// The socket of AgentMail's SDK: a subscription is answered with the events of our stream, in the shape of AgentMail.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { getCaller } from '@callsign/contract/accounts'
import { type Event, streamEvents } from '@callsign/contract/events'
import { getThreadById } from '@callsign/contract/threads'
import type { Static } from 'typebox'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { ApiCall, ApiCalls, ApiClient } from '../../../core/api-call.ts'
import { ApiError } from '../../../core/errors.ts'
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
  upgrade(apiCalls: ApiCalls, request: IncomingMessage, socket: Socket, early: Buffer): void
  closeAll(): void
}

export function createAgentMailSockets(): AgentMailSockets {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: messageBytesMax })
  return {
    claims: (request) =>
      request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && request.url?.split('?', 1)[0] === path,

    upgrade(apiCalls, request, socket, early) {
      socket.on('error', () => socket.destroy())
      const api = apiCalls.withKeyOf(request)
      api.call(getCaller).then(
        () => server.handleUpgrade(request, socket, early, (webSocket) => serve(webSocket, api)),
        (error: unknown) => refuse(socket, error instanceof ApiError ? error.status : 500),
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

function serve(webSocket: WebSocket, api: ApiClient): void {
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
    follow(webSocket, api, String(data), abort.signal).catch((error: unknown) => {
      if (!abort.signal.aborted) fail(webSocket, error)
    })
  })
}

const send = (webSocket: WebSocket, message: object): Promise<void> =>
  new Promise((resolve) => webSocket.send(JSON.stringify(message), () => resolve()))

function fail(webSocket: WebSocket, error: unknown): void {
  const known = error instanceof ApiError || error instanceof AgentMailFailure
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
async function follow(webSocket: WebSocket, api: ApiClient, text: string, signal: AbortSignal): Promise<void> {
  const { type: _type, ...wanted } = subscriptionOf(text)
  const types = ownTypesOf(wanted.event_types)
  const handles = await handlesOf(api.call, wanted.inbox_ids ?? [])
  const query = { types: types.join(','), ...(handles.length === 1 && { agent: handles[0] }) }
  const batches = await api.follow(streamEvents, { query }, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    throw new AgentMailFailure(error.status, 'ForbiddenError', 'forbidden', 'This key may not read these events.')
  })
  if (signal.aborted) return
  await send(webSocket, { type: 'subscribed', ...wanted })
  for await (const batch of batches) {
    for (const { data } of batch) {
      if (signal.aborted) return
      // A position without an event. AgentMail has no reset, so its readers get the events since a lost one.
      if (data === null) continue
      const payload = JSON.parse(data) as Payload
      if (handles.length > 0 && !handles.includes(String(payload.data.agent_handle))) continue
      const event = toAgentMailEvent(payload, await threadOf(api.call, payload))
      if (event) await send(webSocket, event)
    }
  }
  if (!signal.aborted) webSocket.close(4401, 'The key has ended, or events were not read in time.')
}

/** A thread may be gone, or hidden from this key. */
async function threadOf(call: ApiCall, payload: Payload) {
  const thread_id = threadIdOf(payload)
  return thread_id === undefined ? null : call(getThreadById, { params: { thread_id } }).catch(() => null)
}
