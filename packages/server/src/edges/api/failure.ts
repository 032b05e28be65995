// Turns every error into an HTTP response of the shape in contract/errors.ts, without stack, SQL or internal addresses.
import { randomInt } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { BlobsUnavailable } from '../../core/blobs.ts'
import { ApiError } from '../../core/errors.ts'
import { DatabaseUnavailable } from '../../core/sql.ts'

const mediaTypeWanted = 'Send the body as JSON, with Content-Type: application/json.'

/** Fastify's own errors that a caller can cause, with this API's messages. */
const frameworkFailures: Record<string, () => ApiError> = {
  FST_ERR_BAD_URL: () =>
    new ApiError('validation_error', 'The path is not valid. A % must be followed by the two hexadecimal digits of a UTF-8 byte.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ApiError('uri_too_long', 'The path is too long.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupported_media_type', mediaTypeWanted),
}

/** 404 for a path without an operation, or with parameters that cannot name anything. */
export const pathUnknown = (): ApiError => new ApiError('not_found', 'This path does not exist. GET /openapi.json lists the paths.')

/** 415 with the accepted content type. */
export const unsupportedMediaType = (): ApiError => new ApiError('unsupported_media_type', mediaTypeWanted)

/** 413 with the size limit. */
export const payloadTooLarge = (bytesMax: number): ApiError =>
  new ApiError('payload_too_large', `The body is larger than ${bytesMax} bytes, the limit of this operation.`)

/** The response to any error. An ApiError is unchanged, an unavailable database or blob store becomes 503, and anything unforeseen becomes 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof DatabaseUnavailable || error instanceof BlobsUnavailable) {
    // A random delay, so that the refused clients do not all return at once.
    return new ApiError('unavailable', 'The server is temporarily unavailable. Retry after the seconds in Retry-After.', {
      headers: { 'Retry-After': String(randomInt(1, 5)) },
    })
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const known = typeof code === 'string' ? frameworkFailures[code] : undefined
  return known
    ? known()
    : new ApiError('internal_error', 'The server failed. Report the request_id to the operator, whose log has the error.')
}

/** The JSON text of an error response. */
export const failureBody = (failure: ApiError, requestId: string): string =>
  JSON.stringify({ error: { code: failure.code, message: failure.message, details: failure.details, request_id: requestId } })

/** Headers of every API response, in addition to its content type and request id. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** A complete HTTP/1.1 response as text, for bytes that the parser refused as a request. */
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

/** The response to an error of Node's parser. */
export function parserFailure(error: { code?: string }): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large', 'The request line and headers are larger than 16 KB.')
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'The request did not arrive in time.')
  return new ApiError('validation_error', 'This is not a well-formed HTTP/1.1 request.')
}
