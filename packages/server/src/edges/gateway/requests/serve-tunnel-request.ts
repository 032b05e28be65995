// Serves one public request over a client of its tunnel. The function reads as the steps of the flow.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestRecord, TunnelRoute } from '../../../features/tunnels/model.ts'
import { type Failure, type Refusal, refusalOf } from '../responses/error-response.ts'
import { ProxiedRequest } from './proxied-request.ts'
import type { ProxiedRequestHost } from './proxied-request-host.ts'
import type { RequestHead } from './request-head.ts'

/** The gateway as it serves requests of public clients. */
export type TunnelRequestHost = ProxiedRequestHost & {
  /** The head of a request, or the refusal of one that two parsers could read differently. */
  readHead(request: IncomingMessage): RequestHead | Refusal
  /** Resolves when all earlier responses on the connection are complete. */
  waitForTurn(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** The tunnel of this handle, or null. Rejects while it cannot be looked up. */
  findTunnel(handle: string): TunnelRoute | null | Promise<TunnelRoute | null>
  /** The reason to refuse a request, by the status and the rate limit of its tunnel, or null. */
  problemOf(route: TunnelRoute | null): Failure | null
  /** Responds in place of the target. */
  refuse(handle: string, request: IncomingMessage, response: ServerResponse, refusal: Refusal): void
}

/** Resolves when the request is over, with its record. Null when it was refused before it reached a tunnel. */
export async function serveTunnelRequest(
  host: TunnelRequestHost,
  handle: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<RequestRecord | null> {
  const refuse = (refusal: Refusal): null => {
    host.refuse(handle, request, response, refusal)
    return null
  }
  // One at a time per connection, so that a client cannot put as many requests in flight as it can send.
  await host.waitForTurn(request, response)
  const head = host.readHead(request)
  if ('code' in head) return refuse(head)
  // Finds the tunnel in the cache of the directory or the database, and checks its status and rate limit.
  let route: TunnelRoute | null
  try {
    route = await host.findTunnel(handle)
  } catch {
    return refuse(refusalOf('unavailable'))
  }
  const problem = host.problemOf(route)
  if (problem !== null || route === null) return refuse(refusalOf(problem ?? 'tunnel_not_found'))
  if (request.socket.destroyed) return null
  const proxied = new ProxiedRequest(host, route, head, request, response)
  let record: RequestRecord | null = null
  while (record === null) {
    const client = await proxied.chooseClient()
    // Opens a stream and sends head and body. The response is read strictly and written at the pace of the slower side.
    // Null when the client was lost before the response, and another one may be tried.
    record = typeof client === 'string' ? proxied.refuse(client) : await proxied.send(client)
  }
  host.record(record, route, head)
  return record
}
