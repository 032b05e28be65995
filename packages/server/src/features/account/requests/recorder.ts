// Records API requests in groups, after their responses and without delaying them.
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../../core/log.ts'
import { type RequestEntry, type RequestRecorder, toEntry } from './model.ts'

/** Interval between groups. A crash loses the requests of one interval. */
const flushEveryMs = 500
/** Entries of one statement. */
const groupMax = 1000
/** Entries that wait at most, for example while the database is slow. Further ones are dropped and counted. */
const waitingMax = 20_000

export type RecorderParts = { write: (entries: RequestEntry[]) => Promise<void>; registry: Registry; log: Log }

export function createRequestRecorder({ write, registry, log }: RecorderParts): RequestRecorder {
  const dropped = new Counter({
    name: 'callsign_request_log_dropped_total',
    help: 'API requests missing in the request log, because the database was too slow or unavailable.',
    registers: [registry],
  })
  let waiting: RequestEntry[] = []
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
    writing = writing.then(writeWaiting)
    await writing
  }

  return {
    note(seen) {
      if (waiting.length >= waitingMax) {
        dropped.inc()
        return
      }
      waiting.push(toEntry(seen))
      timer ??= setTimeout(() => void flush(), flushEveryMs).unref()
    },
    flush,
  }
}
