// The shape of one row in a feature's routes table: a contract operation, who may call it, and the function that does it.

import type { Readable } from 'node:stream'
import type { Operation } from '@callsign/contract/operation'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from './caller.ts'
import type { Transact } from './sql.ts'

/** A request as it came, for an operation that has to verify a signature: `target` is path and query as they were sent, header names are lower case. */
export type RawRequest = { target: string; headers: Record<string, string | string[] | undefined>; body: Buffer }

/**
 * One request as an operation sees it. `transact` is where an operation makes its effect; when the request carries an
 * Idempotency-Key, the key's row and the stored answer commit with it, and what `work` returns is the answer. So an idempotent
 * operation calls it exactly once and returns its result unchanged.
 */
export type Call = {
  caller: Caller
  requestId: string
  transact: Transact
  /** The Last-Event-ID header as it came (WHATWG HTML, section 9.2.4), or null. */
  lastEventId: string | null
  /** The request itself, for operations whose body is raw; null for all others. */
  raw: RawRequest | null
}

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

/** One server-sent event. `data` is one line. */
export type LiveEvent = { id: string; data: string }

/**
 * An answer without an end: server-sent events (WHATWG HTML, section 9.2). `follow` gives what there is, batch by batch, and waits for more; it is asked for
 * the next batch only when the reader has taken the one before, so nothing piles up for a slow reader. It ends when `signal` fires, and may
 * end by itself, which closes the connection.
 */
export class Live {
  readonly follow: (signal: AbortSignal) => AsyncIterable<LiveEvent[]>
  constructor(follow: Live['follow']) {
    this.follow = follow
  }
}

/** A JSON answer that comes when there is something to say, or when `signal` fires: the client has gone, or the server is about to. */
export class Later<T> {
  readonly answer: (signal: AbortSignal) => Promise<T>
  constructor(answer: Later<T>['answer']) {
    this.answer = answer
  }
}

type Of<S> = S extends TSchema ? Static<S> : undefined

/** What a request brought, validated by the operation's schemas. */
export type Input<O> = O extends Operation<infer P, infer Q, infer B, infer _R> ? { params: Of<P>; query: Of<Q>; body: Of<B> } : never

type ReplyOf<O> =
  O extends Operation<infer _P, infer _Q, infer _B, infer R>
    ? R extends TSchema
      ? Static<R> | Later<Static<R>>
      : Raw | Live | undefined
    : never

/** One row. `access: 'organization'` refuses agent-scoped keys with 403 before anything is looked up. */
export type Route = {
  shape: Operation
  access: 'agent' | 'organization'
  run: (call: Call, input: { params: never; query: never; body: never }, found: unknown) => Promise<unknown>
  /**
   * Begins to read what the path names while the key is still being looked up, which saves a round trip; the parameters are not checked
   * yet. What it gives goes to `run`, which is called only for a good key and decides then whether this caller may have it.
   */
  lookAhead?: ((params: never) => Promise<unknown> | undefined) | undefined
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

/** The same for an operation that looks ahead. */
export const routeAhead = <
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
  R extends TSchema | undefined,
  F extends Promise<unknown> | undefined,
>(
  shape: Operation<P, Q, B, R>,
  access: Route['access'],
  lookAhead: (params: Of<P>) => F,
  run: (call: Call, input: Input<Operation<P, Q, B, R>>, found: F) => Promise<ReplyOf<Operation<P, Q, B, R>>>,
): Route => ({ ...route(shape, access, run as never), lookAhead: lookAhead as Route['lookAhead'] })
