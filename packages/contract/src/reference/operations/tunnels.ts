// The reference of network tunnels.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const request = sampleId('tunnelRequest')

export const tunnelDetails: Record<string, OperationDetails> = {
  listTunnels: {
    description:
      'Returns tunnels, newest first. Each identity has one. An agent key gets a list with its own tunnel. The id of the last item is the `cursor` of the next page.',
    query: { status: 'active', limit: 20 },
    sdk: 'const page = await callsign.tunnels.list($query)',
    cli: 'callsign tunnels list --status active',
  },
  getTunnel: {
    description:
      'Returns one tunnel, named by the handle of its agent or by its id. Connect it with `callsign tunnel TARGET` or `callsign.tunnels.listen`. `is_connected` is true while a client is connected.',
    sdk: 'const tunnel = await callsign.tunnels.get($handle)',
    cli: 'callsign tunnels show sales',
  },
  updateTunnel: {
    description:
      'Sets the status or the capture mode of a tunnel. Requests to a `suspended` tunnel are answered with 503, and its clients stay connected. A `disabled` tunnel disconnects its clients and rejects new ones. `capture` sets the parts of each request that the inspector keeps: none, headers, or headers and the beginning of bodies.',
    keys: 'organization',
    body: { status: 'suspended' },
    reply: { status: 'suspended' },
    sdk: 'const tunnel = await callsign.tunnels.update($handle, $body)',
    cli: 'callsign tunnels set sales --status suspended',
  },
  listTunnelRequests: {
    description:
      'Returns the latest requests through a tunnel, newest first. Headers and bodies are null unless the capture mode keeps them. Secrets such as cookies and authorization are masked.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.tunnels.requests($handle, $query)',
    cli: 'callsign tunnels requests sales',
  },
  replayTunnelRequest: {
    description:
      'Sends a captured request through the tunnel again and returns the result as a new request. `method`, `path`, `headers` and `body` replace those of the captured request. `409 conflict` means that a part was not captured whole, for example because the body was cut, and that you did not replace it.',
    body: { path: '/orders?test=1' },
    reply: { replay_of: request },
    sdk: 'const result = await callsign.tunnels.replay($handle, $tunnel_request_id, $body)',
    cli: `callsign tunnels replay sales ${request} --path '/orders?test=1'`,
  },
}
