// Operations on the log of API requests.
import type { QueryOf } from '@callsign/contract/operation'
import type { ApiRequest, listRequests } from '@callsign/contract/requests'
import type { Registry } from 'prom-client'
import type { Caller } from '../../../core/caller.ts'
import { inMs } from '../../../core/clock.ts'
import { notFound } from '../../../core/errors.ts'
import type { Log } from '../../../core/log.ts'
import { type Page, readPage, toPage } from '../../../core/page.ts'
import type { Database } from '../../../core/sql.ts'
import { type RequestRecorder, readFilter, toRequest } from './model.ts'
import { createRequestRecorder } from './recorder.ts'
import * as store from './store.ts'

export interface Requests {
  /** `GET /requests`: newest first. */
  listRequests(caller: Caller, query: QueryOf<typeof listRequests>): Promise<Page<ApiRequest>>
  /** `GET /requests/{id}`. */
  getRequest(caller: Caller, id: string): Promise<ApiRequest>
  /** Records requests, or null when the log is off. */
  recorder: RequestRecorder | null
  /** Deletes requests that are older than their retention. */
  sweep(): Promise<void>
  /** Deletes requests of an organization from before a time. */
  deleteBefore(organizationId: string, before: Date): Promise<void>
}

type Parts = {
  db: Database
  /** The days that requests are kept. With 0, none is recorded. */
  keptDays: number
  registry: Registry
  log: Log
}

const dayMs = 86_400_000
/** Rows of one statement, so that a long sweep does not hold many locks. */
const sweptMax = 10_000

export function createRequests({ db, keptDays, registry, log }: Parts): Requests {
  return {
    async listRequests(caller, query) {
      const page = readPage(query, 'request')
      const rows = await store.listRequests(db.reads, caller.organizationId, readFilter(query), page)
      return toPage(rows, page.limit, (row) => row.id, toRequest)
    },

    async getRequest(caller, id) {
      const row = await store.findRequest(db, caller.organizationId, id)
      if (!row) throw notFound('request')
      return toRequest(row)
    },

    recorder: keptDays === 0 ? null : createRequestRecorder({ write: (entries) => store.insertRequests(db, entries), registry, log }),

    async sweep() {
      const olderThan = inMs(-keptDays * dayMs)
      for (;;) if ((await store.sweepRequests(db, olderThan, sweptMax)) < sweptMax) return
    },

    async deleteBefore(organizationId, before) {
      for (;;) if ((await store.deleteRequestsOf(db, organizationId, before, sweptMax)) < sweptMax) return
    },
  }
}
