// Runs an operation for a checked request: once per Idempotency-Key, with its result as the text of the response.
import fastJson from 'fast-json-stringify'
import type { TObject } from 'typebox'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Caller } from '../../core/caller.ts'
import type { Replays } from '../../core/replay.ts'
import { type Call, Later, Live, Raw, type RawRequest, type Route } from '../../core/route.ts'
import type { Transact } from '../../core/sql.ts'
import { shareThread } from '../../core/turn.ts'
import { createOnce, hashBody, readKey, scopeOf } from './idempotency.ts'
import { bareSchema, bodyCheck, type PartCheck, pathCheck, queryCheck } from './input/validation.ts'

export type OperationInput = { params: unknown; query: unknown; body: unknown }

/** A request that was admitted and checked. */
export type OperationRequest = {
  id: string
  /** Null for operations without a key. */
  caller: Caller | null
  input: OperationInput
  /** The Idempotency-Key header. */
  idempotencyKey: string | string[] | undefined
  lastEventId: string | null
  raw: RawRequest | null
  /** Watches the client while it waits for the answer. */
  watch: ClientWatch
}

/** The text of a JSON response, also as bytes in UTF-8, empty without one. Or a response of another kind. */
export type OperationResult = { status: number; text: string; isReplay: boolean } | Raw | Live

/** A route with its checks and its function. The checks return `{}`, or the error when the part is invalid. */
export type OperationRun = {
  route: Route
  checks: { params?: PartCheck; query?: PartCheck; body?: PartCheck }
  run(request: OperationRequest): Promise<OperationResult>
}

export type RunnerOptions = { transact: Transact; replays: Replays; polls: LongPolls; businessEvents: BusinessEvents }

const largeCharacters = 64 * 1024

/** The characters in the texts of a value, counted until they are many. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const part of Object.values(value)) {
    count += charactersOf(part)
    if (count > largeCharacters) break
  }
  return count
}

export function createRunner({ transact, replays, polls, businessEvents }: RunnerOptions): (route: Route) => OperationRun {
  const runOnce = createOnce(replays, transact)

  return (route) => {
    const { shape } = route
    const { status } = shape
    const write = shape.reply ? answerWriter(shape.reply) : () => ''

    /** Large answers are written one after another. Each takes longer than small requests of others should wait. */
    const writeInTurn = (owner: string, value: unknown): string | Promise<string> => {
      if (value === undefined) return ''
      return charactersOf(value) > largeCharacters ? shareThread(owner, () => write(value)) : write(value)
    }

    const answerOnce = async (call: Call, input: OperationInput, key: string): Promise<OperationResult> => {
      const answer = await runOnce({
        scope: scopeOf(call.caller, shape, (input.params ?? {}) as Record<string, string>, key),
        bodyHash: hashBody(route.sameness ? route.sameness(input.body as never) : (input.body ?? null)),
        status,
        serialize: write,
        run: (transactOnce) => route.run({ ...call, transact: transactOnce, hasKey: true }, input as never),
      })
      if (answer.isReplay) businessEvents.answerReplayed({ request_id: call.requestId, organization_id: call.caller.organizationId })
      return { status: answer.status, text: answer.body, isReplay: answer.isReplay }
    }

    return {
      route,
      checks: {
        ...(shape.params && { params: pathCheck(shape.params) }),
        ...(shape.query && { query: queryCheck(shape.query as TObject) }),
        ...(shape.body && { body: bodyCheck(shape.body, shape.bodyOptional === true) }),
      },
      async run({ id, caller, input, idempotencyKey, lastEventId, raw, watch }) {
        const call: Call = { caller: caller as Caller, requestId: id, transact, hasKey: false, lastEventId, raw }
        const key = shape.idempotent ? readKey(idempotencyKey) : null
        if (key !== null) return answerOnce(call, input, key)
        const result = await route.run(call, input as never)
        if (result instanceof Raw || result instanceof Live) return result
        const value = result instanceof Later ? await polls.answer(result, watch) : result
        return { status, text: await writeInTurn(caller?.organizationId ?? '', value), isReplay: false }
      },
    }
  }
}

/** The serializer of one schema, compiled on first use. Drops fields that the schema does not name, and throws when a required one is missing. */
function answerWriter(schema: object): (answer: unknown) => string {
  let write: ReturnType<typeof fastJson> | undefined
  return (answer) => {
    write ??= fastJson(bareSchema(schema))
    return write(answer)
  }
}

/** Watches a client. Calls `stop` when it has gone. The returned function ends the watch. */
export type ClientWatch = (stop: () => void) => () => void

export type LongPolls = {
  /** Resolves with the answer when it is available. */
  answer<T>(later: Later<T>, watch: ClientWatch): Promise<T>
  /** Ends every wait with the answer so far. Later calls end at once too. */
  endAll(): void
}

export function createLongPolls(): LongPolls {
  const open = new Set<AbortController>()
  let isClosed = false
  return {
    async answer(later, watch) {
      const controller = new AbortController()
      const stop = () => controller.abort()
      if (isClosed) stop()
      open.add(controller)
      const unwatch = watch(stop)
      try {
        return await later.answer(controller.signal)
      } finally {
        open.delete(controller)
        unwatch()
      }
    },
    endAll() {
      isClosed = true
      for (const controller of open) controller.abort()
    },
  }
}
