// Responses to public requests that get no response from the target. One table defines their status, message and Retry-After.
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import { limitReading } from './limit-reading.ts'

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

export type Refusal = { status: number; code: string; message: string; headers: string[]; body: Buffer }

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
  return { status, code, message, headers, body }
}

/** True for a request that takes HTML, as those of browsers do. */
export const takesPages = (accept: string | undefined): boolean => accept?.toLowerCase().includes('text/html') === true

/** Writes a refusal as the response, as a page for browsers. */
export function writeRefusal(
  response: ServerResponse,
  { method, wantsPage }: { method: string; wantsPage: boolean },
  refusal: Refusal,
): void {
  const { status, headers, body } = wantsPage ? asPage(refusal) : refusal
  response.writeHead(status, STATUS_CODES[status] ?? '', headers)
  if (method === 'HEAD') response.end()
  else response.end(body)
  limitReading(response)
}

const titles: Record<string, string> = {
  tunnel_not_found: 'No tunnel has this address',
  tunnel_offline: 'This tunnel is offline',
  tunnel_suspended: 'This tunnel is suspended',
  target_unreachable: 'The program behind this tunnel is not running',
}

const hints: Record<string, string> = {
  tunnel_offline: 'If it is yours, start a client: <code>callsign tunnel PORT --agent HANDLE</code>. Then load this page again.',
  target_unreachable: 'If it is yours, start the program at the address that the client of the tunnel prints. Then load this page again.',
}

/** The refusal as a page. The texts are constants of this server. */
function asPage({ status, code, message, headers }: Refusal): Pick<Refusal, 'status' | 'headers' | 'body'> {
  const title = titles[code] ?? STATUS_CODES[status] ?? 'Error'
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}code{overflow-wrap:anywhere}</style></head>
<body><h1>${title}</h1><p>${message}</p><p>${hints[code] ?? ''}</p><p><small>${status} <code>${code}</code></small></p></body></html>
`
  const body = Buffer.from(page)
  const kept = headers.map((value, index) => {
    if (headers[index - 1] === 'Content-Type') return 'text/html; charset=utf-8'
    return headers[index - 1] === 'Content-Length' ? String(body.length) : value
  })
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return { status, headers: [...kept, 'Content-Security-Policy', policy], body }
}

/** A refusal as text, for a socket that Node no longer treats as HTTP. It asks to close the connection. */
export function refusalText(
  { status, headers, body }: Pick<Refusal, 'status' | 'headers' | 'body'>,
  more: Record<string, string> = {},
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n`
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  for (const [name, value] of Object.entries(more)) text += `${name}: ${value}\r\n`
  return `${text}\r\n${body.toString('latin1')}`
}
