// Responses to public requests that get no response from the target. One table defines their status, message and Retry-After.
import { STATUS_CODES } from 'node:http'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { PublicResponse } from './public-response.ts'

/** Keyed by the error code in X-Tunnel-Error and in the inspector. `retryAfter` is in seconds. */
const faults = {
  tunnel_not_found: { status: 404, message: 'The gateway has no tunnel of this name.' },
  tunnel_offline: { status: 503, message: 'No client is connected to this tunnel right now.', retryAfter: 5 },
  tunnel_suspended: { status: 503, message: 'This tunnel is suspended.', retryAfter: 60 },
  tunnel_busy: { status: 503, message: 'This tunnel has reached its limit of requests in flight.', retryAfter: 1 },
  too_many_requests: { status: 429, message: 'This tunnel has exceeded its request rate limit.', retryAfter: 1 },
  tunnel_lost: { status: 502, message: 'The client of this tunnel disconnected before it responded.' },
  target_unreachable: { status: 502, message: 'The client of this tunnel is connected, but its target is not running.' },
  target_lost: { status: 502, message: 'The target closed the connection before it responded.' },
  bad_answer: { status: 502, message: 'The response of the target is not well-formed HTTP/1.1.' },
  target_timeout: { status: 504, message: 'The target did not start its response in time.' },
  unavailable: { status: 503, message: 'The gateway cannot look up this tunnel right now.', retryAfter: 2 },
} as const

export type Failure = keyof typeof faults

/** The failure of a request whose stream was reset before a response. `isThere` is true while the client session is still open. */
export function failureOfReset(code: number, isThere: boolean): Failure {
  if (code === resetCodes.targetUnreachable) return 'target_unreachable'
  // The client has left that node since the last lookup. It received nothing of the request.
  if (code === resetCodes.notHere) return 'tunnel_offline'
  return isThere ? 'target_lost' : 'tunnel_lost'
}

export type Refusal = { status: number; headers: string[]; body: Buffer }

/** The response for a failure of the tunnel. */
export function refusalOf(failure: Failure): Refusal {
  const row = faults[failure]
  return refusal(row.status, failure, row.message, 'retryAfter' in row ? row.retryAfter : null)
}

/** A refusal in JSON, with a code for programs and a sentence for people. */
export function refusal(status: number, code: string, message: string, retryAfter: number | null = null): Refusal {
  const body = Buffer.from(`${JSON.stringify({ error: { code, message } })}\n`)
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(body.length),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'X-Tunnel-Error',
    code,
  ]
  if (retryAfter !== null) headers.push('Retry-After', String(retryAfter))
  return { status, headers, body }
}

/** Writes a refusal as the response. */
export function writeRefusal(response: PublicResponse, method: string, { status, headers, body }: Refusal): void {
  response.writeHead(status, STATUS_CODES[status] ?? '', headers)
  if (method === 'HEAD') response.end()
  else response.end(body)
}

/** A refusal as text, for a socket that Node no longer treats as HTTP. It asks to close the connection. */
export function refusalText({ status, headers, body }: Refusal, more: Record<string, string> = {}): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  for (const [name, value] of Object.entries(more)) text += `${name}: ${value}\r\n`
  return `${text}\r\n${body.toString('latin1')}`
}
