// Declares the types of `tunnels.listen`. Imports no types of Node: pages type-check without @types/node.

export type Transport = 'auto' | 'upgrade' | 'web-socket'

/** A handler of web Requests, as other runtimes name it. */
export type FetchHandler = { fetch: (request: Request) => Response | Promise<Response> }

// biome-ignore lint/suspicious/noTsIgnore: an error in projects without @types/node only
/** @ts-ignore `any` in projects without @types/node. */
type NodeHandler = import('node:http').RequestListener

export type TunnelTarget = number | string | URL | NodeHandler | FetchHandler

export type TunnelListener = {
  readonly publicUrl: string
  /** For people: where requests go. */
  readonly target: string
  /** Connections that are up. */
  readonly connected: number
  /** Takes no new requests, lets those under way end (at most `graceMs`, default 5,000), and disconnects. */
  close(graceMs?: number): Promise<void>
  /** Resolves after `close`; rejects when the server has said that this client is not wanted any more: disabled, deleted or revoked. */
  readonly done: Promise<void>
}

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
