// Entries of the log of API requests, their list, and its filters.
import { operations } from '@callsign/contract'
import type { Operation, QueryOf } from '@callsign/contract/operation'
import { type ApiRequest, type listRequests, statusClasses } from '@callsign/contract/requests'
import { invalid } from '../../../core/errors.ts'

/** A response to a request with a valid key, as the HTTP server saw it. */
export type SeenRequest = {
  id: string
  organizationId: string
  keyId: string
  operation: Operation
  params: unknown
  query: unknown
  body: unknown
  status: number
  errorCode: string | null
  durationMs: number
}

/** Takes API requests for the log. */
export interface RequestRecorder {
  /** Records a request whose response has ended. Never waits. */
  note(seen: SeenRequest): void
  /** Writes everything that is waiting. */
  flush(): Promise<void>
}

/** The stored part of a request. It has no value that a caller chose, except ids. */
export type RequestEntry = {
  id: string
  organizationId: string
  keyId: string
  operation: string
  method: string
  path: string
  status: number
  errorCode: string | null
  durationMs: number
  fields: string[]
  at: Date
}

/** Filters of the list. Null for all. */
export type RequestFilter = {
  /** The operations and status classes that match. Each pair is a range of an index. */
  places: { operations: string[]; statusClasses: number[] } | null
  keyId: string | null
  after: Date | null
  before: Date | null
}

const everyClass = statusClasses.map((name) => Number(name[0]))

/** Reads the filters of a query. Throws 400 for a path that does not begin with a slash. */
export function readFilter({ method, path, status_class, key_id, after, before }: QueryOf<typeof listRequests>): RequestFilter {
  if (path !== undefined && !path.startsWith('/')) throw invalid('/path', 'path must begin with /, such as /api/v1/mailboxes')
  const matching = operations.filter((one) => (method === undefined || one.method === method) && one.path.startsWith(path ?? '/'))
  const isNarrow = method !== undefined || path !== undefined || status_class !== undefined || key_id !== undefined
  return {
    places: isNarrow
      ? { operations: matching.map(({ id }) => id), statusClasses: status_class === undefined ? everyClass : [Number(status_class[0])] }
      : null,
    keyId: key_id ?? null,
    after: after === undefined ? null : new Date(after),
    before: before === undefined ? null : new Date(before),
  }
}

export type RequestRow = {
  id: string
  key_id: string
  key_name: string
  operation: string
  method: ApiRequest['method']
  path: string
  status: number
  error_code: string | null
  duration_ms: number
  fields: string[]
  created_at: Date
}

export const toRequest = ({ key_id, key_name, created_at, ...row }: RequestRow): ApiRequest => ({
  ...row,
  key: { id: key_id, name: key_name },
  created_at: created_at.toISOString(),
})
