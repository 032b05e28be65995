// Notes every answered request: its log line, its metrics and its entry in the log of API requests.
import type { ErrorCode } from '@callsign/contract/errors'
import type { Operation } from '@callsign/contract/operation'
import { type Caller, personOf } from '../../core/caller.ts'
import type { Log } from '../../core/log.ts'
import type { RequestRecorder } from '../../features/account/requests/model.ts'
import type { HttpMetrics } from './metrics.ts'

/** A request and its answer. `operation` is null for pages, and `caller` before a key is authenticated. */
export type AnsweredRequest = {
  id: string
  method: string
  /** The path with its parameters as `{name}`. */
  route: string
  status: number
  ms: number
  bytes: number | undefined
  caller: Caller | null
  operation: Operation | null
  params: unknown
  /** The given parameters, without defaults. */
  query: unknown
  body: unknown
  errorCode: ErrorCode | null
  /** The cause of a 5xx response. */
  failure: unknown
  isAborted: boolean
}

export type RequestLog = { note(answered: AnsweredRequest): void }

export function createRequestLog(log: Log, observe: () => HttpMetrics['observe'], recorder: RequestRecorder | null): RequestLog {
  return {
    note(answered) {
      const { id, method, route, status, ms, caller } = answered
      if (recorder) record(recorder, answered)
      observe()(method, route, status, ms / 1000)
      const line = {
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        bytes: answered.bytes,
        request_id: id,
        key_id: caller?.keyId,
        organization_id: caller?.organizationId,
        aborted: answered.isAborted ? true : undefined,
      }
      // A response such as the 503 of /readyz is not a failure of the server.
      if (status >= 500 && answered.failure !== null) log.error({ ...line, err: answered.failure }, 'request')
      else log.info(line, 'request')
    },
  }
}

/** Records a request of an API key, also one in a session of the console. Requests of people are not recorded. */
function record(recorder: RequestRecorder, answered: AnsweredRequest): void {
  const { id, caller, operation, params, query, body, status, errorCode, ms } = answered
  if (!caller || personOf(caller) !== null || !operation) return
  const { organizationId, keyId } = caller
  recorder.note({ id, organizationId, keyId, operation, params, query, body, status, errorCode, durationMs: ms })
}
