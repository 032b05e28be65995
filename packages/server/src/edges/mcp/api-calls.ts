// Calls the API for a tool, inside of this process, so that keys, roles, rate limits, schemas and idempotency are those of the API.
import { queryText } from '@callsign/contract/query-text'
import { requestPath } from '@callsign/contract/tools/request-path'
import type { ToolCall } from '@callsign/contract/tools/run'
import type { FastifyInstance } from 'fastify'

/** A failed call, with the code and message of the API's error. */
class CallFailure extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Calls with this bearer token. `signal` ends a wait when its client has gone. */
export function createApiCalls(app: FastifyInstance, token: string, signal: AbortSignal): ToolCall {
  return async (request, { idempotencyKey }) => {
    const { operation, body } = request
    const response = await app.inject({
      method: operation.method,
      url: requestPath(request) + queryText(request.query),
      headers: {
        ...(operation.open ? {} : { authorization: `Bearer ${token}` }),
        ...(operation.idempotent && idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      signal,
    })
    if (response.statusCode >= 200 && response.statusCode < 300) return response.json()
    const { error } = response.json<{ error?: { code?: string; message?: string } }>()
    throw new CallFailure(error?.code ?? 'internal_error', error?.message ?? '')
  }
}
