// The shape of one row in a feature's routes table: a contract operation, who may call it, and the function that does it.

import type { Readable } from 'node:stream'
import type { Operation } from '@callsign/contract/operation'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from './caller.ts'
import type { Transact } from './sql.ts'

/**
 * One request as an operation sees it. `transact` is where an operation makes its effect; when the request carries an
 * Idempotency-Key, the key's row and the stored answer commit with it, and what `work` returns is the answer. So an idempotent
 * operation calls it exactly once and returns its result unchanged.
 */
export type Call = { caller: Caller; requestId: string; transact: Transact }

/** An answer that is not JSON. */
export class Raw {
  readonly contentType: string
  readonly headers: Record<string, string>
  readonly body: Buffer | Readable
  constructor(contentType: string, body: Buffer | Readable, headers: Record<string, string> = {}) {
    this.contentType = contentType
    this.body = body
    this.headers = headers
  }
}

type Of<S> = S extends TSchema ? Static<S> : undefined

/** What a request brought, validated by the operation's schemas. */
export type Input<O> = O extends Operation<infer P, infer Q, infer B, infer _R> ? { params: Of<P>; query: Of<Q>; body: Of<B> } : never

type ReplyOf<O> = O extends Operation<infer _P, infer _Q, infer _B, infer R> ? (R extends TSchema ? Static<R> : Raw | undefined) : never

/** One row. `access: 'organization'` refuses agent-scoped keys with 403 before anything is looked up. */
export type Route = {
  shape: Operation
  access: 'agent' | 'organization'
  run: (call: Call, input: { params: never; query: never; body: never }) => Promise<unknown>
}

/** Ties an operation to its function, checking that input and reply have the contract's types. */
export const route = <
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
  R extends TSchema | undefined,
>(
  shape: Operation<P, Q, B, R>,
  access: Route['access'],
  run: (call: Call, input: Input<Operation<P, Q, B, R>>) => Promise<ReplyOf<Operation<P, Q, B, R>>>,
): Route => ({ shape: shape as unknown as Operation, access, run: run as Route['run'] })
