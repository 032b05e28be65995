// Declares the types of `tunnels.listen`. Does not import types of Node, so that pages type-check without @types/node.

export type Transport = 'auto' | 'upgrade' | 'web-socket'

/** A handler of web Requests, as other runtimes name it. */
export type FetchHandler = { fetch: (request: Request) => Response | Promise<Response> }

// biome-ignore lint/suspicious/noTsIgnore: an error only in projects without @types/node
/** @ts-ignore `any` in projects without @types/node. */
type NodeHandler = import('node:http').RequestListener

export type TunnelTarget = number | string | URL | NodeHandler | FetchHandler

export type TunnelListener = {
  readonly publicUrl: string
  /** The address that works on a server without a certificate. null where `publicUrl` works. */
  readonly localUrl: string | null
  /** The target of the requests, for display. */
  readonly target: string
  /** Number of open connections. */
  readonly connected: number
  /** Stops accepting requests, waits for those in flight (at most `graceMs`, default 5,000), and disconnects. */
  close(graceMs?: number): Promise<void>
  /** Resolves after `close`. Rejects if the server permanently rejects this client because the tunnel is disabled, deleted or revoked. */
  readonly done: Promise<void>
}

/** A proxied request, as reported by the gateway afterwards. */
export type ReportedRequest = {
  at: string
  method: string
  path: string
  status: number | null
  error: string | null
  duration_ms: number
  request_bytes: number
  response_bytes: number
  remote_address: string
}

/** A change in the state of a connection or of the target. `retryInMs` is the time until the next attempt. */
export type TunnelChange =
  | { state: 'connected'; connection: number; publicUrl: string; localUrl: string | null; transport: 'upgrade' | 'web-socket' }
  | { state: 'reconnecting'; connection: number; reason: string; retryInMs: number }
  | { state: 'draining'; connection: number; reason: string }
  /** Public requests get 502. Reported once per reason until the target is reachable again. */
  | { state: 'target-unreachable'; target: string; reason: string }

export type ListenOptions = {
  /** Connections to keep open, 1-8. With several gateways, the load balancer spreads them. Default 2. */
  connections?: number
  /** The Host header sent to the target. Its own address (default for ports and URLs), `preserve` for the original Host, or another value. */
  hostHeader?: 'target' | 'preserve' | (string & {})
  /** Allows a target on another machine. */
  allowRemote?: boolean
  /** False accepts any certificate of an https:// target, such as a self-signed one. Default true. */
  verifyTarget?: boolean
  /** An HTTP proxy, or null for none. By default HTTPS_PROXY and related variables apply. */
  proxy?: string | null
  transport?: Transport
  /** PEM of an additional certificate authority to trust. */
  ca?: string
  signal?: AbortSignal
  onRequest?: (request: ReportedRequest) => void
  onChange?: (change: TunnelChange) => void
  /** Receives errors thrown by a fetch handler, which answers 500. Without it they are logged to the console. */
  onError?: (error: unknown) => void
}
