// The exchange of a request that Node's server has parsed, and what its server tells of the visitor.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TunnelRoute } from '../../features/tunnels/model.ts'
import { Exchange } from './proxied-request.ts'
import type { ExchangeHost } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'

/** Begins an exchange for a request that Node's server has parsed. */
export function serveParsed(
  host: ExchangeHost,
  route: TunnelRoute,
  head: RequestHead,
  request: IncomingMessage,
  response: ServerResponse,
  replayOf: string | null = null,
): void {
  const exchange = new Exchange(host, route, head, request, response, replayOf)
  response.sendDate = false
  response.on('close', () => exchange.visitorGone())
  response.on('drain', () => exchange.visitorReady())
  response.on('error', () => {})
  request.on('error', () => {})
  exchange.start()
}
