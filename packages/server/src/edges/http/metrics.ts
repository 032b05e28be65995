// The figures of the HTTP edge, and the page that shows every figure of the process.
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type HttpMetrics = { observe(method: string, route: string, status: number, seconds: number): void }

/** Adds the HTTP figures and those of the Node process to the registry. `countInFlight` is asked when the page is. */
export function createHttpMetrics(registry: Registry, countInFlight: () => number): HttpMetrics {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the first byte read to the last byte written.',
    labelNames: ['method', 'route'] as const,
    buckets: durationBuckets,
    registers: [registry],
  })
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
      requests.inc({ method, route, status }, 1)
      durations.observe({ method, route }, seconds)
    },
  }
}
