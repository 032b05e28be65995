// Records API requests in groups, after their responses and without delaying them. Reduces each request to its entry.
import { type IdKind, idPrefixes, isId, timeOfId } from '@callsign/contract/ids'
import { Counter, type Registry } from 'prom-client'
import type { TObject } from 'typebox'
import type { Log } from '../../../core/log.ts'
import type { RequestEntry, RequestRecorder, SeenRequest } from './model.ts'

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

const kindOf = new Map(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix as string, kind as IdKind]))

function isAnyId(text: unknown): text is string {
  if (typeof text !== 'string') return false
  const kind = kindOf.get(text.slice(0, text.indexOf('_')))
  return kind !== undefined && isId(kind, text)
}

/** Reduces a request to its entry. A parameter of the path stays a name unless it is an id, because any text may stand there. */
export function toEntry(seen: SeenRequest): RequestEntry {
  const { operation, params, query, body, ...kept } = seen
  const given = (params ?? {}) as Record<string, unknown>
  return {
    ...kept,
    durationMs: Math.max(0, Math.round(kept.durationMs)),
    operation: operation.id,
    method: operation.method,
    path: operation.path.replace(/\{(\w+)\}/g, (name, key: string) => (isAnyId(given[key]) ? given[key] : name)),
    at: new Date(timeOfId(kept.id)),
    fields: [...namesIn(operation.query, query), ...namesIn(operation.body as TObject | undefined, body)],
  }
}

/** The names in the input that the contract knows. Other names may be secrets in the wrong place. */
function namesIn(schema: TObject | undefined, input: unknown): string[] {
  if (!schema?.properties || typeof input !== 'object' || input === null) return []
  return Object.keys(schema.properties).filter((name) => Object.hasOwn(input, name))
}
