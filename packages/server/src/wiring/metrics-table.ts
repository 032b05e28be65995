// The list of all metrics, for the documentation.
import { createBusinessEvents } from '../core/business-events.ts'
import { createLog } from '../core/log.ts'
import { createHttpMetrics } from '../edges/api/logs/request-log.ts'
import { addGauges } from './metrics.ts'

export type MetricFacts = { name: string; type: string; help: string; labels: string[] }

/** The metrics of Callsign by name, without the default ones of a Node process. */
export function listMetrics(): MetricFacts[] {
  const { registry } = createBusinessEvents(createLog('silent'))
  createHttpMetrics(registry, () => 0)
  addGauges(registry, {
    backlog: async () => null,
    connections: () => ({ busy: 0, idle: 0, max: 0, waiting: 0 }),
    replicaReads: () => ({ replica: 0, behind: 0, unavailable: 0 }),
    pending: () => ({}),
    disks: async () => null,
    certificates: async () => null,
  })
  return (registry.getMetricsAsArray() as unknown as (MetricFacts & { labelNames: string[] })[])
    .filter(({ name }) => /^(callsign|http)_/.test(name))
    .map(({ name, type, help, labelNames }) => ({ name, type: String(type), help, labels: [...labelNames] }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
