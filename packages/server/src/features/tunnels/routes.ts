// The endpoints of tunnels. Only organization keys change a tunnel, so that an agent cannot resume a suspended one.
import * as contract from '@callsign/contract/tunnels'
import { type Route, route } from '../../core/route.ts'
import type { Tunnels } from './operations.ts'

export const tunnelRoutes = (tunnels: Tunnels): Route[] => [
  route(contract.listTunnels, 'agent', (call, { query }) => tunnels.listTunnels(call.caller, query)),
  route(contract.getTunnel, 'agent', (call, { params }) => tunnels.getTunnel(call.caller, params.handle)),
  route(contract.updateTunnel, 'organization', (call, { params, body }) => tunnels.updateTunnel(call, params.handle, body)),
  route(contract.listTunnelRequests, 'agent', (call, { params, query }) => tunnels.listRequests(call.caller, params.handle, query)),
  route(contract.replayTunnelRequest, 'agent', (call, { params, body }) =>
    tunnels.replayRequest(call, params.handle, params.tunnel_request_id, body),
  ),
]
