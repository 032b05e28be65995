// What visitors are told when the tunnel cannot bring them the target's answer: one table, one shape.
import { STATUS_CODES } from 'node:http'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { VisitorResponse } from './public-response.ts'

/** By its word: status, sentence, seconds for Retry-After. The word is in X-Tunnel-Error and in the inspector. */
const faults = {
  tunnel_not_found: { status: 404, message: 'There is no tunnel of this name.' },
  tunnel_offline: { status: 503, message: 'Nobody is connected to this tunnel right now.', retryAfter: 5 },
  tunnel_suspended: { status: 503, message: 'This tunnel is suspended.', retryAfter: 60 },
  tunnel_busy: { status: 503, message: 'This tunnel has as many requests under way as it may.', retryAfter: 1 },
  too_many_requests: { status: 429, message: 'This tunnel gets more requests than it may.', retryAfter: 1 },
  tunnel_lost: { status: 502, message: 'The client of this tunnel went away before it had answered.' },
  target_unreachable: { status: 502, message: 'The client of this tunnel is connected, but its target is not running.' },
  target_lost: { status: 502, message: 'The target closed the connection before it had answered.' },
  bad_answer: { status: 502, message: 'What the target answered is not well-formed HTTP/1.1.' },
  target_timeout: { status: 504, message: 'The target did not begin to answer in time.' },
  unavailable: { status: 503, message: 'The gateway cannot look up this tunnel right now.', retryAfter: 2 },
} as const

export type Failure = keyof typeof faults

/** What a stream that was reset before an answer means for its request; `isThere`: the way to the client is still open. */
export function troubleOfReset(code: number, isThere: boolean): Failure {
  if (code === resetCodes.targetUnreachable) return 'target_unreachable'
  // It has left that node since we last looked, and got nothing of the request.
  if (code === resetCodes.notHere) return 'tunnel_offline'
  return isThere ? 'target_lost' : 'tunnel_lost'
}

export type Refusal = { status: number; headers: string[]; body: Buffer }

/** The answer for a failure of ours. */
export function refusalOf(failure: Failure): Refusal {
  const row = faults[failure]
  return refusal(row.status, failure, row.message, 'retryAfter' in row ? row.retryAfter : null)
}

/** Any refusal, as JSON for programs with a sentence for people. */
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

/** Answers with a refusal. */
export function writeRefusal(response: VisitorResponse, method: string, { status, headers, body }: Refusal): void {
  response.writeHead(status, STATUS_CODES[status] ?? '', headers)
  if (method === 'HEAD') response.end()
  else response.end(body)
}

/** A refusal as text, for a socket that is no HTTP exchange any more; it closes the connection. */
export function refusalText({ status, headers, body }: Refusal, more: Record<string, string> = {}): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  for (const [name, value] of Object.entries(more)) text += `${name}: ${value}\r\n`
  return `${text}\r\n${body.toString('latin1')}`
}
