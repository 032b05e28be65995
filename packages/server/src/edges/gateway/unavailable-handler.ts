// What a process without the role gateway says to visitors of tunnels and to their clients: the API is not to answer at the address of a tunnel.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { handleOfHost } from '../../features/tunnels/model.ts'
import { connectReference } from './clients.ts'
import { refusal, writeRefusal } from './error-response.ts'
import { isArriving } from './request-body.ts'

const forVisitors = refusal(421, 'misdirected_request', 'Tunnels are not served by this process.')
// A load balancer may lead to a gateway next time, so the client goes on trying.
const forClients = refusal(
  503,
  'unavailable',
  'This process serves no tunnels: the server should name its gateways in CALLSIGN_TUNNEL_CONNECT_URL.',
  1,
)

export function createClosedDoor(tunnelDomain: string) {
  const isVisitor = ({ headers: { host } }: IncomingMessage): boolean => host !== undefined && handleOfHost(host, tunnelDomain) !== null
  return {
    connections: null,

    claims: (request: IncomingMessage): boolean => isVisitor(request) || connectReference(request.url ?? '') !== null,

    claimsUpgrade: (): boolean => false,

    handle(request: IncomingMessage, response: ServerResponse): void {
      if (isArriving(request)) response.shouldKeepAlive = false
      writeRefusal(response, request.method as string, isVisitor(request) ? forVisitors : forClients)
    },

    upgrade(_request: IncomingMessage, socket: Socket): void {
      socket.destroy()
    },
  }
}
