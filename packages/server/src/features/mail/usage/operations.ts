// Operations on counted mail: counting in the transaction of the message, and the list of days.
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import type { listUsage } from '@callsign/contract/usage'
import type { Caller } from '../../../core/caller.ts'
import { inMs } from '../../../core/clock.ts'
import { toPage } from '../../../core/page.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import { type Counted, changesOf, cursorOf, readRange, toUsageDay } from './model.ts'
import * as store from './store.ts'

export interface Usage {
  /** `GET /usage`: newest day first. */
  listUsage(caller: Caller, query: QueryOf<typeof listUsage>): Promise<ReplyOf<typeof listUsage>>
  /** Adds the changes since the last time to the counts, which lists also do. */
  move(): Promise<void>
  /** Deletes counts that are older than their retention. */
  sweep(): Promise<void>
}

/** The time that counts are kept, 400 days. */
const keptMs = 400 * 86_400_000

export function createUsage(db: Database): Usage {
  return {
    async listUsage(caller, query) {
      const range = readRange(query)
      await store.moveChanges(db)
      return toPage(await store.listDays(db.reads, caller.organizationId, range), range.limit, cursorOf, toUsageDay(range.kind))
    },

    move: () => store.moveChanges(db),
    sweep: () => store.sweep(db, inMs(-keptMs)),
  }
}

/** Counts messages that reach a status in this transaction. Each count commits with the status. */
export async function countMail(tx: Tx, counted: Counted[]): Promise<void> {
  if (counted.length > 0) await store.insertChanges(tx, changesOf(counted))
}
