// Notes requests for the inspector and for last_request_at, beside the traffic and never in its way: in groups, the latest only.
import type { Log } from '../../core/log.ts'
import type { Database } from '../../core/sql.ts'
import { type RequestRecord, requestsKeptMax } from './model.ts'
import type { RequestSealing } from './request-sealing.ts'
import * as requestStore from './request-store.ts'
import * as store from './store.ts'

export interface Recorder {
  /** Records the time of a tunnel's last request. */
  touch(tunnelId: string, at: Date): void
  /** Records a request that has ended. */
  note(record: RequestRecord): void
  /** Writes all records that are waiting. */
  flush(): Promise<void>
}

/** Interval between groups. The first request after a pause is recorded at once. */
const flushEveryMs = 500
/** Kept of one tunnel in one group: a flood shows its latest. */
const perTunnelMax = 50
/** Limit of buffered body bytes. Bodies beyond it are not recorded. */
const waitingBytesMax = 16 * 1024 * 1024

export function createRecorder(db: Database, sealing: RequestSealing, log: Log): Recorder {
  let records = new Map<string, RequestRecord[]>()
  let touched = new Map<string, Date>()
  let waitingBytes = 0
  let timer: NodeJS.Timeout | null = null
  let lastMs = -Infinity
  let writing: Promise<void> = Promise.resolve()

  function schedule(): void {
    if (timer) return
    timer = setTimeout(
      () => {
        timer = null
        writing = writing.then(flush)
      },
      Math.max(0, lastMs + flushEveryMs - performance.now()),
    )
    timer.unref()
  }

  async function flush(): Promise<void> {
    lastMs = performance.now()
    const [groups, times] = [records, touched]
    records = new Map()
    touched = new Map()
    waitingBytes = 0
    try {
      if (times.size > 0)
        await store.touchTunnels(
          db,
          [...times].map(([id, at]) => ({ id, at })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        )
      if (groups.size === 0) return
      const sealed: RequestRecord[] = []
      for (const record of [...groups.values()].flat()) {
        sealed.push(sealing.seal(record))
        // Masking large bodies takes milliseconds each, so traffic goes on in between.
        if (record.captured?.requestBody || record.captured?.responseBody) await new Promise(setImmediate)
      }
      await requestStore.insertRequests(db, sealed)
      await requestStore.trimRequests(db, [...groups.keys()], requestsKeptMax)
    } catch (err) {
      log.warn({ err }, 'recording tunnel requests failed')
    }
  }

  return {
    touch(tunnelId, at) {
      touched.set(tunnelId, at)
      schedule()
    },

    note(record) {
      const { captured } = record
      const bytes = (captured?.requestBody?.length ?? 0) + (captured?.responseBody?.length ?? 0)
      const keepsBodies = waitingBytes + bytes <= waitingBytesMax
      if (keepsBodies) waitingBytes += bytes
      const list = records.get(record.tunnelId) ?? []
      if (list.length === 0) records.set(record.tunnelId, list)
      const noBodies = { requestBody: null, responseBody: null, isRequestBodyWhole: false, isResponseBodyWhole: false }
      list.push(keepsBodies ? record : { ...record, captured: record.captured && { ...record.captured, ...noBodies } })
      if (list.length > perTunnelMax) list.shift()
      schedule()
    },

    async flush() {
      if (timer) clearTimeout(timer)
      timer = null
      writing = writing.then(flush)
      await writing
    },
  }
}
