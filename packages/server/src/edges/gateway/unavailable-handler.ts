// Responses to public requests and tunnel clients in a process without the gateway role. The API must not respond at the address of a
// tunnel.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { handleOfHost } from '../../features/tunnels/model.ts'
import { connectReference } from './clients/clients.ts'
import { isArriving } from './requests/request-body.ts'
import { hostOf } from './requests/request-head.ts'
import { refusal, takesPages, writeRefusal } from './responses/error-response.ts'

const forPublicRequests = refusal(421, 'misdirected_request', 'Tunnels are not served by this process.')
// A load balancer may choose a gateway next time, so the client retries.
const forClients = refusal(
  503,
  'unavailable',
  'This process does not serve tunnels. Set CALLSIGN_TUNNEL_CONNECT_URL on the server to the address of its gateways.',
  1,
)

export function createUnavailableHandler(tunnelDomain: string) {
  const isPublicRequest = (request: IncomingMessage): boolean => {
    const host = hostOf(request)
    return host !== undefined && handleOfHost(host, tunnelDomain) !== null
  }
  return {
    connections: null,

    claims: (request: IncomingMessage): boolean => isPublicRequest(request) || connectReference(request.url ?? '') !== null,

    claimsUpgrade: (): boolean => false,

    handle(request: IncomingMessage, response: ServerResponse): void {
      if (isArriving(request)) response.shouldKeepAlive = false
      writeRefusal(
        response,
        { method: request.method as string, wantsPage: takesPages(request.headers.accept) },
        isPublicRequest(request) ? forPublicRequests : forClients,
      )
    },

    upgrade(_request: IncomingMessage, socket: Socket): void {
      socket.destroy()
    },
  }
}
