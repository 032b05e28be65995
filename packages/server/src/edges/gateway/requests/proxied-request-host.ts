// The gateway as its proxied requests see it.
import type { Log } from '../../../core/log.ts'
import type { RequestRecord, TunnelRoute } from '../../../features/tunnels/model.ts'
import type { ClientSession } from '../clients/client-session.ts'
import type { InFlightList } from './in-flight.ts'
import type { RequestHead } from './request-head.ts'

export type ProxiedRequestHost = {
  proxiedRequests: InFlightList
  /** A client of the tunnel that was not tried yet. Returned synchronously when one is connected here. */
  pick(tunnelId: string, tried: Set<string>): ClientSession | null | Promise<ClientSession | null>
  /** Forgets a client session that does not reach its client. */
  forget(clientSession: ClientSession): void
  /** Called with the record of a request that reached a tunnel. */
  record(record: RequestRecord, route: TunnelRoute, head: RequestHead): void
  /** Id of the captured request that is repeated, or null for a request of a public client. */
  replayOf: string | null
  /** Milliseconds within which a target has to start its response. */
  answerMsMax: number
  /** Maximum of requests in flight per client. */
  streamsMax: number
  log: Log
}
