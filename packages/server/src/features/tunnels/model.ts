// The tunnel: its rows, its view for the gateway, and the masking of recorded requests.
import type { TunnelCapture, TunnelStatus } from '@callsign/contract/tunnels'

export type TunnelRow = {
  id: string
  organization_id: string
  identity_id: string
  agent_handle: string
  status: TunnelStatus
  capture: TunnelCapture
  connected_clients: number
  last_request_at: Date | null
  created_at: Date
  updated_at: Date
}

/** The part of a tunnel that a gateway needs to serve a request. */
export type TunnelRoute = { id: string; organizationId: string; handle: string; status: TunnelStatus; capture: TunnelCapture }

/** A public request, as the access log has it. `path` has no query, and `bytes` counts the body that the target sent. */
export type PublicAccess = {
  client: string
  host: string
  method: string
  path: string
  protocol: string
  status: number
  bytes: number
  ms: number
}

/** One connection of a client to the gateway of this process. */
export type OpenSession = {
  id: string
  tunnelId: string
  organizationId: string
  instanceId: string
  keyId: string
  hostHeader: string | null
  targetScheme: 'http' | 'https'
  connectedAt: Date
}

/** A connection of a client to the gateway of another node. */
export type RemoteSession = {
  id: string
  tunnelId: string
  nodeId: string
  address: string
  hostHeader: string | null
  targetScheme: 'http' | 'https'
  isDraining: boolean
}

/** A header list as it goes over the wire. */
export type HeaderPairs = [string, string][]

/** One request that came through, as the inspector keeps it. */
export type RequestRecord = {
  id: string
  organizationId: string
  tunnelId: string
  method: string
  path: string
  status: number | null
  error: string | null
  remoteAddress: string
  requestBytes: number
  responseBytes: number
  durationMs: number
  replayOf: string | null
  /** Null when nothing but the first line was to be kept. */
  captured: CapturedRequest | null
  at: Date
}

export type CapturedRequest = {
  requestHeaders: HeaderPairs
  responseHeaders: HeaderPairs | null
  requestBody: Buffer | null
  responseBody: Buffer | null
  isRequestBodyWhole: boolean
  isResponseBodyWhole: boolean
}

/** A stored request. Sizes are text, as bigint columns are. */
export type RequestRow = {
  id: string
  tunnel_id: string
  method: string
  path: string
  status: number | null
  error: string | null
  remote_address: string
  request_bytes: string
  response_bytes: string
  duration_ms: number
  replay_of: string | null
  is_captured: boolean
  request_headers: HeaderPairs | null
  response_headers: HeaderPairs | null
  request_body: Buffer | null
  response_body: Buffer | null
  is_request_body_whole: boolean
  is_response_body_whole: boolean
  created_at: Date
}

/** A request that is to be sent again. */
export type RepeatedRequest = { method: string; path: string; headers: HeaderPairs; body: Buffer; replayOf: string }

/** The most that is kept of one body. */
export const capturedBytesMax = 64 * 1024

/** Limit of a recorded path. Longer ones are truncated. */
export const pathCharactersMax = 2048

/** The latest requests of a tunnel that are kept, and for how long. */
export const requestsKeptMax = 200
export const requestsKeptMs = 24 * 3_600_000

/**
 * The handle in a host name, or null when the name is not below the domain. `-` stands for `_`, which host names cannot contain.
 * Handles never contain `-`.
 */
export function handleOfHost(host: string, domain: string): string | null {
  const colon = host.lastIndexOf(':')
  let name = (colon > 0 ? host.slice(0, colon) : host).toLowerCase()
  // Written out to the root (RFC 1034 section 3.1), as browsers pass it on.
  if (name.endsWith('.')) name = name.slice(0, -1)
  if (name.length <= domain.length + 1 || !name.endsWith(domain) || name[name.length - domain.length - 1] !== '.') return null
  return name.slice(0, -domain.length - 1).replaceAll('-', '_')
}
