// Serves a request that Node's server has parsed, and forwards the events of its connection.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TunnelRoute } from '../../../features/tunnels/model.ts'
import { ProxiedRequest } from './proxied-request.ts'
import type { ProxiedRequestHost } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'

export function serveParsed(
  host: ProxiedRequestHost,
  route: TunnelRoute,
  head: RequestHead,
  request: IncomingMessage,
  response: ServerResponse,
  replayOf: string | null = null,
): void {
  // The public client has disconnected while the tunnel was looked up.
  if (request.socket.destroyed) return
  const proxiedRequest = new ProxiedRequest(host, route, head, request, response, replayOf)
  response.sendDate = false
  response.on('close', () => proxiedRequest.onPublicClose())
  response.on('drain', () => proxiedRequest.onPublicDrain())
  response.on('error', () => {})
  request.on('error', () => {})
  proxiedRequest.start()
}
