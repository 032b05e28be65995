// Turns every error into an HTTP response of the shape in contract/errors.ts, without stack, SQL or internal addresses.
import { randomInt } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { ApiError } from '../../core/errors.ts'
import { DatabaseUnavailable } from '../../core/sql.ts'

const mediaTypeWanted = 'Send the body as JSON, with Content-Type: application/json.'

/** What Fastify throws by itself and a caller can cause, in our words. */
const frameworkFailures: Record<string, () => ApiError> = {
  FST_ERR_BAD_URL: () =>
    new ApiError('validation_error', 'The path is not valid: a % has to be followed by the two digits of a UTF-8 byte.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ApiError('uri_too_long', 'The path is too long.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type', mediaTypeWanted),
}

/** 415, saying which content type is wanted. */
export const unsupportedMediaType = (): ApiError => new ApiError('unsupported_media_type', mediaTypeWanted)

/** 413, saying how much is taken. */
export const payloadTooLarge = (bytesMax: number): ApiError =>
  new ApiError('payload_too_large', `The body is larger than the ${bytesMax} bytes that this operation takes.`)

/** What the caller is told about any error: an ApiError as it is, an unreachable database as 503, and everything unforeseen as 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof DatabaseUnavailable) {
    // A few different seconds, so that everyone who was turned away does not come back at once.
    return new ApiError('unavailable', 'The server cannot answer right now. Try again in a few seconds.', {
      headers: { 'Retry-After': String(randomInt(1, 5)) },
    })
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const known = typeof code === 'string' ? frameworkFailures[code] : undefined
  return known ? known() : new ApiError('internal_error', 'Something went wrong on our side. Tell the operator the request id.')
}

/** The JSON text of an error answer. */
export const failureBody = (failure: ApiError, requestId: string): string =>
  JSON.stringify({ error: { code: failure.code, message: failure.message, details: failure.details, request_id: requestId } })

/** Headers that every answer of the API carries besides its content type and request id. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** A whole HTTP/1.1 answer as text, for requests that never became one because the parser refused their bytes. */
export function refusalText(failure: ApiError, requestId: string): string {
  const body = failureBody(failure, requestId)
  const headers = {
    ...securityHeaders,
    ...failure.headers,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}

/** What Node's parser complained about, as an answer. */
export function parserFailure(error: { code?: string }): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large', 'The request line and headers are larger than 16 KB.')
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'The request did not arrive in time.')
  return new ApiError('validation_error', 'This is not a well-formed HTTP/1.1 request.')
}
