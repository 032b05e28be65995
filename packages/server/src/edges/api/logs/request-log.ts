// Notes every answered request: its log line, its metrics and its entry in the log of API requests.
import type { ErrorCode } from '@callsign/contract/errors'
import type { Operation } from '@callsign/contract/operation'
import { Counter, collectDefaultMetrics, Gauge, type Metric, type Registry } from 'prom-client'
import { type Caller, personOf } from '../../../core/caller.ts'
import type { Log } from '../../../core/log.ts'
import type { RequestRecorder } from '../../../features/account/requests/model.ts'

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

/** Upper bounds in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type HttpMetrics = {
  /** Counts one response. `route` is a pattern and not a path, because each route's metrics are kept forever. */
  observe(method: string, route: string, status: number, seconds: number): void
}

type RouteFigures = { method: string; route: string; byStatus: Map<number, number>; byBound: number[]; sum: number; count: number }

/**
 * Adds the metrics of HTTP and of the Node process to the registry. `countInFlight` is called when the page is requested.
 * Figures are kept as plain numbers and converted when the page is requested. prom-client finds a metric by the text of its labels, which
 * costs more than routing the request.
 */
export function createHttpMetrics(registry: Registry, countInFlight: () => number): HttpMetrics {
  const figures = new Map<string, Map<string, RouteFigures>>()
  const all = (): RouteFigures[] => [...figures.values()].flatMap((methods) => [...methods.values()])

  const addRoute = (method: string, route: string): RouteFigures => {
    const methods = figures.get(route) ?? new Map<string, RouteFigures>()
    figures.set(route, methods)
    const added = { method, route, byStatus: new Map(), byBound: bounds.map(() => 0), sum: 0, count: 0 }
    methods.set(method, added)
    return added
  }

  new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
    collect() {
      this.reset()
      for (const { method, route, byStatus } of all()) for (const [status, count] of byStatus) this.inc({ method, route, status }, count)
    },
  })
  registry.registerMetric(durationMetric(all))
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have no whole answer yet.',
    registers: [registry],
    collect() {
      this.set(countInFlight())
    },
  })
  collectDefaultMetrics({ register: registry })

  return {
    observe(method, route, status, seconds) {
      const entry = figures.get(route)?.get(method) ?? addRoute(method, route)
      entry.byStatus.set(status, (entry.byStatus.get(status) ?? 0) + 1)
      entry.count++
      entry.sum += seconds
      let i = 0
      while (i < bounds.length && seconds > (bounds[i] as number)) i++
      if (i < bounds.length) entry.byBound[i] = (entry.byBound[i] as number) + 1
    },
  }
}

/** A histogram in the format of prom-client, built from the figures on demand. */
function durationMetric(all: () => RouteFigures[]): Metric<string> {
  const name = 'http_request_duration_seconds'
  const about = {
    name,
    help: 'From the first header read to the last byte written.',
    type: 'histogram',
    aggregator: 'sum',
    labelNames: ['method', 'route'],
  }
  const valuesOf = ({ method, route, byBound, sum, count }: RouteFigures) => {
    let below = 0
    const buckets = bounds.map((le, i) => {
      below += byBound[i] as number
      return { metricName: `${name}_bucket`, labels: { le, method, route }, value: below }
    })
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: '+Inf', method, route }, value: count },
      { metricName: `${name}_sum`, labels: { method, route }, value: sum },
      { metricName: `${name}_count`, labels: { method, route }, value: count },
    ]
  }
  const metric = { ...about, reset: () => {}, get: async () => ({ ...about, values: all().flatMap(valuesOf) }) }
  return metric as unknown as Metric<string>
}
