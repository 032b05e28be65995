// Calls of the API's operations from inside of this process, for edges that speak other protocols.
import type { BodyOf, Operation, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from './caller.ts'
import type { LiveEvent } from './route.ts'

export type CallInput<O> = {
  params?: Record<string, string>
  query?: QueryOf<O> extends undefined ? undefined : Partial<QueryOf<O> & object>
  body?: BodyOf<O>
  /** Used by operations that take an Idempotency-Key. */
  idempotencyKey?: string | undefined
}

/** Calls one operation. Rejects with ApiError. The reply of an operation without JSON is its text. */
export type ApiCall = <O extends Operation>(operation: O, input?: CallInput<O>) => Promise<ReplyOf<O>>

/** Operations with the checks of the API: scopes, rate limits, schemas, idempotency and the request log. */
export type ApiClient = {
  call: ApiCall
  /** Opens an operation without an end. The batches end with the signal, with the caller's access, or when the server stops. */
  follow(operation: Operation, input: { query?: object }, signal: AbortSignal): Promise<AsyncIterable<LiveEvent[]>>
}

/** The headers and the connection of a request that came to another edge. */
export type ReceivedRequest = {
  headers: Record<string, string | string[] | undefined>
  socket: { remoteAddress?: string | undefined }
}

export interface ApiCalls {
  /** Operations with the key and the Idempotency-Key of a request. Each call authenticates the key, so that a revocation holds at once. */
  withKeyOf(request: ReceivedRequest): ApiClient
  /** Operations as a caller that was authenticated for the request at hand. `signal` ends waits when its client has gone. */
  as(caller: Caller, signal?: AbortSignal): ApiClient
  /** The caller of the key of a request. Rejects with 401, and with 429 for an address with too many wrong keys. */
  authenticate(request: ReceivedRequest): Promise<Caller>
}
