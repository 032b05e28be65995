// The tunnel: its rows, what the gateway knows of it, and what of a request may be kept.
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

/** One connection of a client to the gateway of this process. */
export type OpenSession = {
  id: string
  tunnelId: string
  organizationId: string
  instanceId: string
  keyId: string
  hostHeader: string | null
  connectedAt: Date
}

/** A connection of a client to the gateway of another node. */
export type RemoteSession = {
  id: string
  tunnelId: string
  nodeId: string
  address: string
  hostHeader: string | null
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
  visitorAddress: string
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

/** A request that is to be sent again. */
export type RepeatedRequest = { method: string; path: string; headers: HeaderPairs; body: Buffer; replayOf: string }

/** The most that is kept of one body. */
export const capturedBytesMax = 64 * 1024

/** Kept of one path; a longer one ends there. */
export const pathCharactersMax = 2048

/** The latest requests of a tunnel that are kept, and for how long. */
export const requestsKeptMax = 200
export const requestsKeptMs = 24 * 3_600_000

/** Placeholder for a masked value. */
export const masked = '(masked)'

const secretName =
  /^(cookie|set-cookie|key|code)$|(^|[-_.[])(auth|jwt|otp|hmac|pin|pwd?|sig|sid)($|[-_.\]])|authorization|token|secret|passw|passphrase|credential|session|signature|(api|auth|access|private|account)[-_]?key/i

/** Header values that are addresses, whose queries hold what queries hold. */
const addressName = /^(referer|location|content-location|refresh|link)$|(^|-)ur[il]$/i

/** Headers as they may be kept: values of those that usually hold secrets are masked, and such parameters of those that hold addresses. */
export const maskHeaders = (pairs: HeaderPairs): HeaderPairs =>
  pairs.map(
    ([name, value]) => [name, secretName.test(name) ? masked : addressName.test(name) ? maskPath(value) : value] as [string, string],
  )

/** An address or path with the values of query parameters that usually hold secrets masked, in a fragment too. */
export function maskPath(path: string): string {
  const begin = path.search(/[?#]/)
  if (begin < 0) return path
  // Part by part: a pattern for name and value together would look at every name from each of its letters on.
  const query = path.slice(begin).replace(/[^?#&;>]+/g, (part) => {
    const equals = part.indexOf('=')
    return equals > 0 && secretName.test(plainOf(part.slice(0, equals))) ? `${part.slice(0, equals)}=${masked}` : part
  })
  return path.slice(0, begin) + query
}

/** A name of a query as it is meant, or as it stands when its escapes are broken. */
function plainOf(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** A record as it may be stored. */
export const maskRecord = (record: RequestRecord): RequestRecord => ({
  ...record,
  path: maskPath(record.path),
  captured: record.captured && {
    ...record.captured,
    requestHeaders: maskHeaders(record.captured.requestHeaders),
    responseHeaders: record.captured.responseHeaders && maskHeaders(record.captured.responseHeaders),
  },
})

/**
 * The handle that a host name stands for, or null when it is none below the domain. `-` may stand for `_`, which is not legal in host names;
 * no handle holds a `-`.
 */
export function handleOfHost(host: string, domain: string): string | null {
  const colon = host.lastIndexOf(':')
  let name = (colon > 0 ? host.slice(0, colon) : host).toLowerCase()
  // Written out to the root (RFC 1034 section 3.1), as browsers pass it on.
  if (name.endsWith('.')) name = name.slice(0, -1)
  if (name.length <= domain.length + 1 || !name.endsWith(domain) || name[name.length - domain.length - 1] !== '.') return null
  return name.slice(0, -domain.length - 1).replaceAll('-', '_')
}
