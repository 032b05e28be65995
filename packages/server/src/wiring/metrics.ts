// Builds the metrics of a process and their listener.
import { Gauge, type Registry } from 'prom-client'
import type { Config } from '../config/settings.ts'
import { readDisk } from '../edges/blobs/free-space.ts'
import { createMetricsListener, type MetricsListener } from '../edges/metrics/listener.ts'
import { createSnapshot, type Snapshot } from '../edges/metrics/snapshot.ts'
import type { PostgresDatabase } from '../edges/postgres/connect.ts'
import { type Backlog, readBacklog } from '../edges/postgres/diagnostics.ts'
import type { PoolCounts } from '../edges/postgres/pool.ts'
import type { ReplicaReads } from '../edges/postgres/replicas.ts'
import { readServedCertificate } from '../edges/tls/served-certificate.ts'
import { version } from './parts.ts'
import type { TlsListener } from './tls-listeners.ts'

/** The sources of the gauges. A snapshot of null leaves its gauges out. */
export type GaugeSources = {
  backlog: Snapshot<Backlog>
  connections: () => PoolCounts
  replicaReads: () => ReplicaReads
  /** Work in flight by name. */
  pending: () => Record<string, number>
  disks: Snapshot<{ volume: string; freeBytes: number; sizeBytes: number }[]>
  certificates: Snapshot<{ listener: string; expiresAt: Date }[]>
}

const backlogKept = { keptMs: 5_000, readMsMax: 5_000 }
const disksKept = { keptMs: 5_000, readMsMax: 2_000 }
/** Each reading is a handshake with an own listener. */
const certificatesKept = { keptMs: 300_000, readMsMax: 6_000 }

type Needs = {
  config: Config
  registry: Registry
  db: PostgresDatabase
  /** The kinds of jobs. */
  kinds: string[]
  pending: GaugeSources['pending']
  /** The TLS listeners. The list is filled in once they listen. */
  tlsListeners: TlsListener[]
}

/** The listener for Prometheus, or null when it is off. */
export function createMetrics({ config, registry, db, kinds, pending, tlsListeners }: Needs): MetricsListener | null {
  if (config.metricsPort === null) return null
  addGauges(registry, {
    backlog: createSnapshot(() => readBacklog(db, kinds), backlogKept),
    connections: db.connections,
    replicaReads: db.replicaReads,
    pending,
    disks: createSnapshot(() => readDisks(config), disksKept),
    certificates: createSnapshot(() => readExpiries(tlsListeners), certificatesKept),
  })
  return createMetricsListener({ host: config.metricsHost, port: config.metricsPort, registry })
}

function readDisks({ dataDir, blobs }: Config) {
  const folders = [
    { volume: 'data', folder: dataDir },
    ...(blobs.kind === 'file' && blobs.folder !== null ? [{ volume: 'blobs', folder: blobs.folder }] : []),
  ]
  return Promise.all(folders.map(async ({ volume, folder }) => ({ volume, ...(await readDisk(folder)) })))
}

/** Listeners that do not answer are left out. */
async function readExpiries(listeners: TlsListener[]): Promise<{ listener: string; expiresAt: Date }[]> {
  const found = await Promise.allSettled(
    listeners.map(async (listener) => ({
      listener: listener.name,
      expiresAt: (await readServedCertificate(listener)).certificate.validToDate,
    })),
  )
  return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** Adds the gauges to the registry. Labels take values from closed lists only. */
export function addGauges(registry: Registry, sources: GaugeSources): void {
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    collect: (gauge: Gauge<Label>) => Promise<void> | void,
  ) =>
    new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        // A gauge without labels is reset to 0, which would hide that it cannot be read.
        if (labelNames.length === 0) this.remove()
        await collect(this)
      },
    })
  // First, because the gauges after them read the database.
  addConnections(gauge, sources)
  addWork(gauge, sources)
  addDatabase(gauge, sources)
  addMachine(gauge, sources)
}

type AddGauge = <Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
  collect: (gauge: Gauge<Label>) => Promise<void> | void,
) => unknown

function addWork(gauge: AddGauge, { backlog, pending }: GaugeSources): void {
  gauge('callsign_work_in_flight', 'Work in flight in this process.', ['work'], (one) => {
    for (const [name, count] of Object.entries(pending())) one.set({ work: name.toLowerCase().replaceAll(' ', '_') }, count)
  })
  const ofJobs = (name: string, help: string, read: (due: { count: number; waiting: number; oldestSeconds: number }) => number) =>
    gauge(name, help, ['kind'], async (one) => {
      for (const [kind, due] of (await backlog())?.jobs ?? []) one.set({ kind }, read(due))
    })
  ofJobs('callsign_jobs_due', 'Jobs that are due and not claimed, at most 100,000.', ({ count }) => count)
  ofJobs('callsign_jobs_waiting', 'Jobs of all nodes, also those in work and those due later, at most 100,000.', ({ waiting }) => waiting)
  ofJobs('callsign_jobs_oldest_due_seconds', 'Seconds since the oldest unclaimed job was due.', ({ oldestSeconds }) => oldestSeconds)
  gauge('callsign_webhook_deliveries_due', 'Deliveries to active webhooks that are due or in work.', [], async (one) => {
    const due = (await backlog())?.webhooks
    if (due) one.set(due.count)
  })
  gauge('callsign_webhook_deliveries_oldest_due_seconds', 'Seconds since the oldest of these deliveries was due.', [], async (one) => {
    const due = (await backlog())?.webhooks
    if (due) one.set(due.oldestSeconds)
  })
}

function addConnections(gauge: AddGauge, { connections, replicaReads }: GaugeSources): void {
  gauge('callsign_database_connections', 'Open connections to the database.', ['state'], (one) => {
    const { busy, idle } = connections()
    one.set({ state: 'busy' }, busy)
    one.set({ state: 'idle' }, idle)
  })
  gauge('callsign_database_connections_max', 'Size of the connection pool (CALLSIGN_DATABASE_CONNECTIONS).', [], (one) =>
    one.set(connections().max),
  )
  gauge('callsign_database_connection_waiters', 'Statements and transactions that wait for a connection.', [], (one) =>
    one.set(connections().waiting),
  )
  gauge(
    'callsign_database_replica_reads',
    'Statements of lists and searches since the start that a replica answered, or that the primary answered because replicas were behind or unavailable.',
    ['result'],
    (one) => {
      for (const [result, count] of Object.entries(replicaReads())) one.set({ result }, count)
    },
  )
}

function addDatabase(gauge: AddGauge, { backlog }: GaugeSources): void {
  gauge('callsign_database_up', '1 when the database answers, 0 otherwise.', [], async (one) => {
    one.set((await backlog()) === null ? 0 : 1)
  })
  gauge('callsign_backup_timestamp_seconds', 'Time of the last complete backup. 0 without one.', [], async (one) => {
    const read = await backlog()
    if (read) one.set((read.backedUpAt?.getTime() ?? 0) / 1000)
  })
}

function addMachine(gauge: AddGauge, { disks, certificates }: GaugeSources): void {
  gauge('callsign_build_info', 'Always 1. The labels have the versions.', ['version', 'node'], (one) =>
    one.set({ version, node: process.versions.node }, 1),
  )
  gauge('callsign_disk_free_bytes', 'Free bytes of the disk of the data directory, and of CALLSIGN_BLOBS.', ['volume'], async (one) => {
    for (const { volume, freeBytes } of (await disks()) ?? []) one.set({ volume }, freeBytes)
  })
  gauge('callsign_disk_size_bytes', 'Size of each of these disks.', ['volume'], async (one) => {
    for (const { volume, sizeBytes } of (await disks()) ?? []) one.set({ volume }, sizeBytes)
  })
  gauge('callsign_certificate_expiry_timestamp_seconds', 'End of the certificate that a listener serves.', ['listener'], async (one) => {
    for (const { listener, expiresAt } of (await certificates()) ?? []) one.set({ listener }, expiresAt.getTime() / 1000)
  })
}
