// One row of a feature's routes table, made of a contract operation, its access rule and its function.

import type { Readable } from 'node:stream'
import type { Operation } from '@callsign/contract/operation'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from './caller.ts'
import type { Transact } from './sql.ts'

/** The unparsed request, for operations that verify a signature. `target` is the received path and query. Header names are lower case. */
export type RawRequest = { target: string; headers: Record<string, string | string[] | undefined>; body: Buffer }

/**
 * One request as an operation sees it. The operation makes its effect in `transact`. With an Idempotency-Key, the key's row and the stored
 * answer commit with the effect, and the result of `work` is the answer.
 * An idempotent operation therefore calls `transact` exactly once and returns its result unchanged.
 */
export type Call = {
  caller: Caller
  requestId: string
  transact: Transact
  /** True with an Idempotency-Key. The effect then needs a transaction of its own. */
  hasKey: boolean
  /** The Last-Event-ID header as it came (WHATWG HTML, section 9.2.4), or null. */
  lastEventId: string | null
  /** The unparsed request for operations with a raw body, null for all others. */
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

/**
 * One server-sent event. `data` is one line, or null to name a position without an event. `lost` is the reader's last event when the
 * log does not have it any more, and the reader continues at this position.
 */
export type LiveEvent = { id: string; data: string | null; lost?: string | null }

/**
 * A response without an end, as server-sent events (WHATWG HTML, section 9.2). `follow` yields batches and waits for more. It is asked for
 * the next batch only when the reader has read the one before, so nothing accumulates for a slow reader.
 * It ends when `signal` fires. It may also end by itself, which closes the connection.
 */
export class Live {
  readonly follow: (signal: AbortSignal) => AsyncIterable<LiveEvent[]>
  constructor(follow: Live['follow']) {
    this.follow = follow
  }
}

/** A JSON answer that is sent when it is available, or when `signal` fires because the client disconnected or the server stops. */
export class Later<T> {
  readonly answer: (signal: AbortSignal) => Promise<T>
  constructor(answer: Later<T>['answer']) {
    this.answer = answer
  }
}

type Of<S> = S extends TSchema ? Static<S> : undefined

/** Parameters, query and body of a request, validated by the operation's schemas. */
export type Input<O> = O extends Operation<infer P, infer Q, infer B, infer _R> ? { params: Of<P>; query: Of<Q>; body: Of<B> } : never

type ReplyOf<O> =
  O extends Operation<infer _P, infer _Q, infer _B, infer R>
    ? R extends TSchema
      ? Static<R> | Later<Static<R>>
      : Raw | Live | undefined
    : never

/** One row. `access: 'organization'` refuses agent-scoped keys with 403 before any lookup. */
export type Route = {
  shape: Operation
  access: 'agent' | 'organization'
  /** Called only for a valid key. */
  run: (call: Call, input: { params: never; query: never; body: never }) => Promise<unknown>
  /** The part of a body that a repeated request with the same Idempotency-Key must equal. The whole body by default. */
  sameness?: (body: never) => unknown
}

/** Connects an operation to its function and checks their types against the contract. */
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
