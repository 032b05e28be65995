// How a tunnel is to be served, and what its owner is told meanwhile.
import type { Transport } from './dial.ts'

/** A request that came through, as the gateway tells it afterwards. */
export type ReportedRequest = {
  at: string
  method: string
  path: string
  status: number | null
  error: string | null
  duration_ms: number
  request_bytes: number
  response_bytes: number
  visitor_address: string
}

/** What became of one of the connections, or of the target. `retryInMs`: when it is tried again. */
export type TunnelChange =
  | { state: 'connected'; connection: number; publicUrl: string; transport: 'upgrade' | 'web-socket' }
  | { state: 'reconnecting'; connection: number; reason: string; retryInMs: number }
  | { state: 'draining'; connection: number; reason: string }
  /** Visitors are told 502; said once for each reason until the target is there again. */
  | { state: 'target-unreachable'; target: string; reason: string }

export type ListenOptions = {
  /** Connections to keep, 1-8; with several gateways they are to different ones as the load balancer has it. Default 2. */
  connections?: number
  /** What stands in Host towards the target: its own address (the default for ports and URLs), or the visitor's with 'preserve', or any other. */
  hostHeader?: 'target' | 'preserve' | (string & {})
  /** Lets the target be on another machine. */
  allowRemote?: boolean
  /** False takes any certificate of an https:// target, such as one that a development server has signed itself. Default true. */
  verifyTarget?: boolean
  /** An HTTP proxy; without it the one of HTTPS_PROXY and its kin; null for none. */
  proxy?: string | null
  transport?: Transport
  /** PEM of an authority to trust besides the usual ones. */
  ca?: string
  signal?: AbortSignal
  onRequest?: (request: ReportedRequest) => void
  onChange?: (change: TunnelChange) => void
  /** What a fetch handler threw, besides the 500 that its visitor gets; without it the console shows it. */
  onError?: (error: unknown) => void
}
