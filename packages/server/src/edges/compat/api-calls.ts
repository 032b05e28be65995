// Calls operations of the API inside of this process with the key of the request, so that keys, scopes, limits, schemas and idempotency are those of the API.
import type { ErrorCode } from '@callsign/contract/errors'
import type { BodyOf, Operation, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { queryText } from '@callsign/contract/query-text'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** An error answer of the API. */
export class CallFailure extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly details: { path: string; message: string }[]
  /** Headers that the answer of a compatible API keeps. */
  readonly headers: Record<string, string>
  constructor(status: number, failure: { code: ErrorCode; message: string; details?: unknown }, headers: Record<string, string>) {
    super(failure.message)
    this.status = status
    this.code = failure.code
    this.details = Array.isArray(failure.details) ? failure.details : []
    this.headers = headers
  }
}

export type CallInput<O> = {
  params?: Record<string, string>
  query?: QueryOf<O> extends undefined ? undefined : Partial<QueryOf<O> & object>
  body?: BodyOf<O>
}

/** Calls one operation. Rejects with CallFailure. The reply of an operation without JSON is its text. */
export type ApiCall = <O extends Operation>(operation: O, input?: CallInput<O>) => Promise<ReplyOf<O>>

const keptHeaders = ['retry-after', 'www-authenticate', 'idempotent-replayed']

/** `idempotencyKey` goes with operations that take one. */
export function createApiCall(app: FastifyInstance, request: Pick<FastifyRequest, 'ip' | 'headers'>): ApiCall {
  const { authorization, 'user-agent': userAgent, 'x-forwarded-for': forwarded } = request.headers
  const idempotencyKey = request.headers['idempotency-key']
  return async (operation, { params = {}, query, body } = {}) => {
    const response = await app.inject({
      method: operation.method,
      url: pathOf(operation, params) + queryText(query),
      remoteAddress: request.ip,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        // The address of the client decides about keys with allowed_ips.
        ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
        ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
        ...(operation.idempotent && typeof idempotencyKey === 'string' ? { 'idempotency-key': idempotencyKey } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    if (response.statusCode < 300) return (operation.reply ? response.json() : response.body) as never
    const headers = Object.fromEntries(
      keptHeaders.flatMap((name) => (response.headers[name] ? [[name, String(response.headers[name])]] : [])),
    )
    throw new CallFailure(response.statusCode, response.json<{ error: { code: ErrorCode; message: string } }>().error, headers)
  }
}

const pathOf = (operation: Operation, params: Record<string, string>): string =>
  operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(params[name] ?? ''))

/** One segment of a path. Dots would change the path, and no id consists of them. */
const segmentOf = (value: string): string => (/^\.{0,2}$/.test(value) ? '-' : encodeURIComponent(value))
