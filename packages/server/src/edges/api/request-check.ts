// Refuses requests that two programs could read differently, before authentication.
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../core/errors.ts'

/** The longest path with its query, in bytes. */
export const targetBytesMax = 8192

/** The error in the request line or the headers, or null. */
export const findRequestProblem = (request: IncomingMessage): ApiError | null =>
  findTargetProblem(request.url as string) ?? findHeaderProblem(request)

/** The error in a path with its query, or null. */
export function findTargetProblem(target: string): ApiError | null {
  if (target.length > targetBytesMax) {
    return new ApiError('uri_too_long', `The path and query are longer than ${targetBytesMax} bytes.`)
  }
  return target.includes('%') ? findEscapeProblem(target) : null
}

function findEscapeProblem(target: string): ApiError | null {
  if (target.includes('%00')) return new ApiError('validation_error', 'The path and query must not contain a NUL character.')
  try {
    decodeURIComponent(target)
    return null
  } catch {
    return new ApiError(
      'validation_error',
      'The path or query is not valid. A % must be followed by the two hexadecimal digits of a UTF-8 byte.',
    )
  }
}

/**
 * Host exactly once (RFC 9112 §3.2, optional in HTTP/1.0) and Authorization at most once. Node keeps the first of several, but a proxy in
 * front may have used the last.
 */
function findHeaderProblem(request: IncomingMessage): ApiError | null {
  const raw = request.rawHeaders
  let hosts = 0
  let authorizations = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) return new ApiError('validation_error', 'The request has more than one Host header: send exactly one.')
  if (hosts === 0 && request.httpVersionMinor > 0)
    return new ApiError('validation_error', 'The request has no Host header: send exactly one.')
  if (authorizations > 1) return new ApiError('validation_error', 'The request has more than one Authorization header: send exactly one.')
  return null
}

/** The path and query of a request target in absolute form (RFC 9112 §3.2.2). Other targets are unchanged. */
export function originForm(request: { url?: string | undefined }): string {
  const target = request.url as string
  if (target.charCodeAt(0) === 0x2f) return target
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1]
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}
