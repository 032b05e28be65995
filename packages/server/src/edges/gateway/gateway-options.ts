// Everything that the gateway needs from the server.
import type { Authenticate } from '../../core/caller.ts'
import type { Log } from '../../core/log.ts'
import type { PublicAccess } from '../../features/tunnels/model.ts'
import type { Presence, Recorder, TunnelAdmission } from '../../features/tunnels/operations.ts'

export type GatewayOptions = {
  tunnelDomain: string
  presence: Presence
  recorder: Recorder
  admit: TunnelAdmission['admit']
  authenticate: Authenticate
  /** Takes one request from the tunnel's rate limit. Returns 0, or the milliseconds to wait. */
  takeRequest: (tunnelId: string) => number
  /** CIDRs of trusted proxies, whose forwarding headers are used. */
  trustedProxies: string[]
  /** False for a process without public requests. It only repeats captured requests, over the nodes that have the client. */
  isServing: boolean
  /** The secret shared by all nodes of an installation. */
  peerKey: Buffer
  /** Listener for other nodes, or null on a single node. `address` is advertised to them and defaults to host and port. */
  listener: { host: string; port: number; address: string | null } | null
  answerMsMax: number
  streamsMax: number
  pingEveryMs: number
  /** Memory limit, in bytes, for the flow-control windows of all connections. */
  windowBytesMax: number
  /** Writes one public request into the access log. Null when it is off. */
  noteAccess: ((access: PublicAccess) => void) | null
  log: Log
}
