// The shape of one API operation: what the server validates, what /openapi.json says and what a client sends all come from this value.
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export type Operation<
  P extends TObject | undefined = TObject | undefined,
  Q extends TObject | undefined = TObject | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  R extends TSchema | undefined = TSchema | undefined,
> = {
  /** The OpenAPI operationId, camelCase, unique. */
  id: string
  method: Method
  /** The whole path, parameters as `{name}`. */
  path: string
  /** One sentence for the reference. */
  summary: string
  tag: string
  params?: P
  query?: Q
  body?: B
  /** True when the request may come without a body. */
  bodyOptional?: boolean
  /** The status of success; 405 for an operation that only says that there is none. */
  status: 200 | 201 | 204 | 405
  /** The JSON body of success; absent for 204 and for the content types of `media`. */
  reply?: R
  /** The content type of success when it is not JSON. */
  media?: string
  /** Error codes beyond those that any operation may answer. */
  errors?: ErrorCode[]
  /** Codes that this operation returns with status 400, although they have another status elsewhere. */
  codesOf400?: ErrorCode[]
  /** True when the operation takes an Idempotency-Key. Every POST that creates or sends does. */
  idempotent?: boolean
  /** The largest request body in bytes: 1 MB unless the operation takes attachments. */
  bodyBytesMax?: number
  /** True when no key is needed. */
  open?: boolean
  /** True when the body is taken as bytes of any content type, because a signature covers them; there is no `body` then. */
  raw?: boolean
}

/** Declares an operation, keeping its schema types for the handler and the client. */
export const operation = <
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
  R extends TSchema | undefined = undefined,
>(
  shape: Operation<P, Q, B, R>,
): Operation<P, Q, B, R> => shape

type Of<S> = S extends TSchema ? Static<S> : undefined

/** What an operation takes and answers, as plain types: for clients, which carry no schemas. */
export type QueryOf<O> = O extends Operation<infer _P, infer Q, infer _B, infer _R> ? Of<Q> : never
export type BodyOf<O> = O extends Operation<infer _P, infer _Q, infer B, infer _R> ? Of<B> : never
export type ReplyOf<O> = O extends Operation<infer _P, infer _Q, infer _B, infer R> ? Of<R> : never
