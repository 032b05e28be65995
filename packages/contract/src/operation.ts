// The declaration of one API operation. The server's validation, /openapi.json and the client's requests all use it.
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { Scope } from './scopes.ts'

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
  /** The caller needs one of these scopes. Empty if any valid key may call it, or none is needed. */
  scopes: readonly Scope[]
  params?: P
  query?: Q
  body?: B
  /** True if the body is optional. */
  bodyOptional?: boolean
  /** The status of success. 405 for an operation that is only documented as unsupported. */
  status: 200 | 201 | 204 | 405
  /** The JSON body of success. Absent for 204 and for the content types of `media`. */
  reply?: R
  /** The content type of success when it is not JSON. */
  media?: string
  /** Error codes beyond those that any operation may answer. */
  errors?: ErrorCode[]
  /** Codes that this operation returns with status 400, although they have another status elsewhere. */
  codesOf400?: ErrorCode[]
  /** True when the operation takes an Idempotency-Key. Every POST that creates or sends does. */
  idempotent?: boolean
  /** True if the reply contains a secret that no other reply has. A replay then goes only to the API key that made the request. */
  hasSecretReply?: boolean
  /** The maximum size of the request body in bytes, 1 MB unless the operation takes attachments. */
  bodyBytesMax?: number
  /** True when no key is needed. */
  open?: boolean
  /** True if the body is read as bytes of any content type, because a signature covers them. `body` is absent then. */
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

/** The input and output of an operation as plain types, for clients, which do not carry the schemas. */
export type QueryOf<O> = O extends Operation<infer _P, infer Q, infer _B, infer _R> ? Of<Q> : never
export type BodyOf<O> = O extends Operation<infer _P, infer _Q, infer B, infer _R> ? Of<B> : never
export type ReplyOf<O> = O extends Operation<infer _P, infer _Q, infer _B, infer R> ? Of<R> : never
