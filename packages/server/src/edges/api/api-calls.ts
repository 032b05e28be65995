// Calls operations for other edges inside of this process. A call passes the checks of an HTTP request, in the same order and with the same errors.
import { text } from 'node:stream/consumers'
import type { Operation } from '@callsign/contract/operation'
import { queryText } from '@callsign/contract/query-text'
import type { ApiCall, ApiCalls, ApiClient, CallInput } from '../../core/api-call.ts'
import type { Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { Live, Raw } from '../../core/route.ts'
import { shareThread } from '../../core/turn.ts'
import { type Admission, bodyBytesMaxOf } from './authenticate.ts'
import { findTargetProblem } from './exchange.ts'
import { pathUnknown, payloadTooLarge, toApiError } from './failure.ts'
import { parseInTurns } from './input/body-check.ts'
import { BodyMemory, tooMany } from './input/body-reader.ts'
import type { AnsweredRequest, RequestLog } from './logs/request-log.ts'
import type { ClientWatch, OperationResult, OperationRun } from './operation-runner.ts'

export type ApiCallParts = { operations: OperationRun[]; admission: Admission; requestLog: RequestLog }

/** The caller of one call, or its refusal. */
type ReadCaller = (requestId: string) => Promise<Caller | ApiError> | ApiError

type Client = { readCaller: ReadCaller; address: string | undefined; idempotencyKey?: string | undefined; signal?: AbortSignal | undefined }

type Given = { params?: Record<string, string>; query?: object | undefined; body?: unknown; idempotencyKey?: string | undefined }

export function createApiCalls({ operations, admission, requestLog }: ApiCallParts): ApiCalls {
  const byId = new Map(operations.map((one) => [one.route.shape.id, one]))

  const clientOf = (client: Client): ApiClient => ({
    call: (async (operation: Operation, given: CallInput<Operation> = {}) =>
      readReply(operation, await perform(client, operation, given as Given))) as ApiCall,
    async follow(operation, given, signal) {
      const live = await perform({ ...client, signal }, operation, given)
      if (!(live instanceof Live)) throw new Error(`${operation.id} has an end.`)
      return live.follow(signal)
    },
  })

  /** Runs one call and notes it in the log of requests. */
  async function perform(client: Client, operation: Operation, given: Given): Promise<OperationResult> {
    const found = byId.get(operation.id)
    if (!found) throw pathUnknown()
    const startedMs = performance.now()
    const noted = startNote(operation, given)
    let memory: BodyMemory | null = null
    try {
      const params = checkTarget(operation, given)
      noted.caller = operation.open ? null : orThrow(await client.readCaller(noted.id))
      if (noted.caller) refuse(admission.refuseCaller(found.route, noted.caller, noted.id))
      memory = new BodyMemory(noted.caller, client.address)
      const own = memory
      const bytes = await shareThread(own.owner, () => bodyBytesOf(operation, given.body, own))
      const query = queryOf(given.query)
      refuse(found.checks.params?.(params).error)
      const body = bytes && (await parseInTurns([bytes], (step) => shareThread(own.owner, step)))
      noted.body = body
      refuse(found.checks.body?.(body).error)
      refuse(found.checks.query?.(query).error)
      const result = await found.run({
        id: noted.id,
        caller: noted.caller,
        input: { params, query, body },
        idempotencyKey: given.idempotencyKey ?? client.idempotencyKey,
        lastEventId: null,
        raw: null,
        watch: watchSignal(client.signal),
      })
      noted.status = operation.status
      if ('text' in result) Object.assign(noted, { status: result.status, bytes: Buffer.byteLength(result.text) })
      return result
    } catch (error) {
      const failure = toApiError(error)
      Object.assign(noted, { status: failure.status, errorCode: failure.code, failure: failure.status >= 500 ? error : null })
      throw failure
    } finally {
      memory?.close()
      requestLog.note({ ...noted, ms: performance.now() - startedMs })
    }
  }

  return {
    withKeyOf(request) {
      const key = request.headers['idempotency-key']
      return clientOf({
        readCaller: (id) => admission.readCaller(request, id),
        address: request.socket.remoteAddress,
        idempotencyKey: typeof key === 'string' ? key : undefined,
      })
    },
    as: (caller, signal) => clientOf({ readCaller: async () => caller, address: undefined, signal }),
    authenticate: async (request) => orThrow(await admission.readCaller(request, newId('request'))),
  }
}

/** The client of a call, which the signal ends. */
const watchSignal =
  (signal: AbortSignal | undefined): ClientWatch =>
  (stop) => {
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    return () => signal?.removeEventListener('abort', stop)
  }

const startNote = (operation: Operation, { params, query }: Given): AnsweredRequest => ({
  id: newId('request'),
  method: operation.method,
  route: operation.path,
  status: operation.status,
  ms: 0,
  bytes: undefined,
  caller: null,
  operation,
  params: params ?? {},
  query,
  body: undefined,
  errorCode: null,
  failure: null,
  isAborted: false,
})

function refuse(error: ApiError | undefined): void {
  if (error) throw error
}

function orThrow(caller: Caller | ApiError): Caller {
  if (caller instanceof ApiError) throw caller
  return caller
}

/** The parameters of the path. Throws for values that a path could not have. */
function checkTarget(operation: Operation, { params = {}, query }: Given): Record<string, string> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const own = Object.fromEntries(names.map((name) => [name, params[name] ?? '']))
  // A path of dots leads elsewhere, and half of a surrogate pair has no UTF-8.
  if (Object.values(own).some((value) => /^\.{0,2}$/.test(value) || !value.isWellFormed())) throw pathUnknown()
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(own[name] as string))
  refuse(findTargetProblem(path + queryText(query)) ?? undefined)
  return own
}

/** The query as a URL would have it: texts only. */
const queryOf = (query: object = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, String(value)]])),
  )

/** The JSON text of the body, within the limits of the operation and of the memory for bodies. */
function bodyBytesOf(operation: Operation, given: unknown, memory: BodyMemory): Buffer | undefined {
  if (operation.raw) throw new Error(`${operation.id} reads a raw body, which calls do not have.`)
  const bytesMax = bodyBytesMaxOf(operation)
  if (given === undefined || bytesMax === 0) return undefined
  const bytes = Buffer.from(JSON.stringify(given))
  if (bytes.length > bytesMax) throw payloadTooLarge(bytesMax)
  if (!memory.count(bytes.length)) throw tooMany()
  return bytes
}

/** The reply as a client reads it: parsed JSON without the fields that the schema does not name, or the text. */
async function readReply(operation: Operation, result: OperationResult): Promise<unknown> {
  if (result instanceof Live) throw new Error(`${operation.id} has no end. Use follow.`)
  if (!(result instanceof Raw)) return operation.reply && result.text !== '' ? JSON.parse(result.text.toString()) : result.text.toString()
  return Buffer.isBuffer(result.body) ? result.body.toString() : text(result.body)
}
