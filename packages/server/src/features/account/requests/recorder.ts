// Records API requests in groups, after their responses and without delaying them.
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../../core/log.ts'
import { type RequestEntry, type RequestRecorder, type SeenRequest, toEntry } from './model.ts'

/** Interval between groups. A crash loses the requests of one interval. */
const flushEveryMs = 500
/** Entries of one statement. */
const groupMax = 1000
/**
 * Entries of one interval, so that a flood of requests does not fill the database with its log. Successful reads get half of them, so that
 * they leave room for changes and failures.
 */
const perIntervalMax = 500
const readsPerIntervalMax = 250
/** Entries that wait at most, for example while the database is slow. Further ones are dropped and counted. */
const waitingMax = 20_000

export type RecorderParts = { write: (entries: RequestEntry[]) => Promise<void>; registry: Registry; log: Log }

export function createRequestRecorder({ write, registry, log }: RecorderParts): RequestRecorder {
  const dropped = new Counter({
    name: 'callsign_request_log_dropped_total',
    help: 'API requests missing in the request log, because there were too many, or the database was too slow or unavailable.',
    registers: [registry],
  })
  let waiting: RequestEntry[] = []
  let inInterval = 0
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.slice(0, groupMax)
      try {
        await write(group)
      } catch (err) {
        dropped.inc(group.length)
        log.warn({ err, requests: group.length }, 'recording API requests failed')
      }
      // Removed after the write, so that the limit counts entries in flight too.
      waiting = waiting.slice(group.length)
    }
  }

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    inInterval = 0
    writing = writing.then(writeWaiting)
    await writing
  }

  return {
    note(seen) {
      const intervalMax = isSuccessfulRead(seen) ? readsPerIntervalMax : perIntervalMax
      if (inInterval >= intervalMax || waiting.length >= waitingMax) {
        dropped.inc()
        return
      }
      inInterval++
      waiting.push(toEntry(seen))
      timer ??= setTimeout(() => void flush(), flushEveryMs).unref()
    },
    flush,
  }
}

const isSuccessfulRead = ({ operation, status }: SeenRequest): boolean => operation.method === 'GET' && status < 400
