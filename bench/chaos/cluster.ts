// Three PostgreSQL servers under Patroni with synchronous replication, each on a host of its own, with etcd as their register.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createHost, createNetwork, type Host, runAddress } from './host.ts'
import { postgresPrograms } from './sandbox.ts'

export const databaseUser = 'callsign'
export const databasePort = 5432
export const restPort = 8008
const nodeCount = 3
const account = 'postgres'
const startMsMax = 120_000
const healthyMsMax = 180_000
const askMs = 1_000

/** The leader's lease. Short, because it is a part of the time of each fault. Patroni's default is 30. */
const ttlSeconds = 10

type Member = { name: string; role: string; state: string; timeline?: number }

export type Fault = 'killed' | 'frozen' | 'cut off'

export type Cluster = {
  hosts: Host[]
  /** The address of the whole cluster, with every host. */
  url: string
  primary: () => Promise<Host>
  /** Stops a host from working. */
  strike: (host: Host, fault: Fault) => Promise<void>
  /** Brings a host back. A frozen one goes on or, as a watchdog does it, is killed and starts again. */
  heal: (host: Host, fault: Fault, isReset: boolean) => Promise<void>
  /** Resolves with the first host other than this one that has committed a transaction. */
  whenCommitting: (other: Host) => Promise<Host>
  /** Resolves when there are a primary, and replicas of which one is synchronous. */
  whenHealthy: () => Promise<void>
}

/** Starts it with an empty database. `folder` gets the data and the logs. */
export async function startCluster(folder: string): Promise<Cluster> {
  chmodSync(folder, 0o755)
  createNetwork()
  startEtcd(folder)
  const hosts: Host[] = []
  for (let number = 1; number <= nodeCount; number++) hosts.push(await createHost(number))
  const startPatroni = (host: Host) =>
    void host.start(account, join(folder, `patroni${host.number}.log`), 'patroni', join(folder, `patroni${host.number}.yml`))
  for (const host of hosts) {
    writeFileSync(join(folder, `patroni${host.number}.yml`), patroniSettings(host, folder))
    const data = join(folder, `node${host.number}`)
    mkdirSync(data, { mode: 0o777 })
    chmodSync(data, 0o777)
    startPatroni(host)
  }
  const cluster: Cluster = {
    hosts,
    url: `postgres://${databaseUser}@${hosts.map(({ address }) => `${address}:${databasePort}`).join(',')}/${databaseUser}`,
    primary: () => findPrimary(hosts),

    async strike(host, fault) {
      if (fault === 'killed') await host.kill()
      else if (fault === 'frozen') host.freeze()
      else host.cut()
    },

    async heal(host, fault, isReset) {
      if (fault === 'cut off') return host.mend()
      if (fault === 'frozen' && !isReset) return host.thaw()
      await host.kill()
      startPatroni(host)
    },

    async whenCommitting(other) {
      const over = new AbortController()
      const others = hosts.filter((host) => host !== other)
      return Promise.any(others.map((host) => firstCommit(host, over.signal))).finally(() => over.abort())
    },
    whenHealthy: () => waitUntilHealthy(hosts, healthyMsMax),
  }
  await waitUntilHealthy(hosts, startMsMax)
  const admin = await connectAs(account, (await cluster.primary()).address, 'postgres')
  await admin.query('CREATE TABLE commits (at timestamptz NOT NULL DEFAULT now())')
  await admin.query(`CREATE ROLE ${databaseUser} LOGIN`)
  await admin.query(`CREATE DATABASE ${databaseUser} OWNER ${databaseUser}`)
  await admin.end()
  return cluster
}

function startEtcd(folder: string): void {
  const log = openSync(join(folder, 'etcd.log'), 'a')
  const client = `http://${runAddress}:2379`
  const args = ['--enable-v2=true', '--data-dir', join(folder, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client]
  spawn('etcd', [...args, '--listen-peer-urls', 'http://127.0.0.1:2380'], { stdio: ['ignore', log, log] })
}

async function connectAs(user: string, address: string, database: string): Promise<pg.Client> {
  const client = new pg.Client({ host: address, port: databasePort, user, database, connectionTimeoutMillis: askMs })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Resolves when the server of a host has committed a write, which takes a synchronous replica. */
async function firstCommit(host: Host, signal: AbortSignal): Promise<Host> {
  const startedMs = performance.now()
  while (performance.now() - startedMs < healthyMsMax && !signal.aborted) {
    const client = await connectAs(account, host.address, 'postgres').catch(() => null)
    if (client) {
      const done = await client
        .query('INSERT INTO commits DEFAULT VALUES')
        .catch(() => null)
        .finally(() => client.end().catch(() => {}))
      if (done?.rowCount === 1) return host
    }
    await delay(25)
  }
  throw new Error(`host ${host.number} has committed nothing`)
}

async function membersBy(host: Host): Promise<Member[]> {
  try {
    const response = await fetch(`http://${host.address}:${restPort}/cluster`, { signal: AbortSignal.timeout(askMs) })
    return ((await response.json()) as { members: Member[] }).members
  } catch {
    return []
  }
}

async function findPrimary(hosts: Host[]): Promise<Host> {
  for (const host of hosts) {
    const leader = (await membersBy(host)).find((member) => member.role === 'leader' && member.state === 'running')
    const found = leader && hosts.find(({ number }) => leader.name === nameOf(number))
    if (found) return found
  }
  throw new Error('the cluster has no primary')
}

const nameOf = (number: number): string => `node${number}`

async function waitUntilHealthy(hosts: Host[], limitMs: number): Promise<void> {
  const startedMs = performance.now()
  let seen: Member[] = []
  while (performance.now() - startedMs < limitMs) {
    // A host that was thawed reports what it knew before.
    const reports = await Promise.all(hosts.map(membersBy))
    seen = reports[0] ?? []
    if (reports.every(isHealthy)) return
    await delay(200)
  }
  throw new Error(`the cluster is not healthy after ${limitMs} ms: ${JSON.stringify(seen)}`)
}

const isHealthy = (members: Member[]): boolean =>
  members.length === nodeCount &&
  members.every(({ state }) => ['running', 'streaming'].includes(state)) &&
  members.some(({ role }) => role === 'leader') &&
  members.some(({ role }) => role === 'sync_standby') &&
  new Set(members.map(({ timeline }) => timeline)).size === 1

/**
 * The second protocol of etcd. With the third one, a primary of Patroni 3.0.2 that was frozen takes the lead back from the new one, unless a
 * watchdog resets it. With `synchronous_mode_strict` a primary without a replica commits nothing, so that one that was frozen and comes back cannot acknowledge
 * work that the new primary does not have. The kernel survives every fault, so nothing is flushed to disk.
 */
const patroniSettings = ({ number, address }: Host, folder: string): string => `scope: chaos
name: ${nameOf(number)}
restapi:
  listen: ${address}:${restPort}
  connect_address: ${address}:${restPort}
etcd:
  host: ${runAddress}:2379
bootstrap:
  dcs:
    ttl: ${ttlSeconds}
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
        wal_log_hints: 'on'
        wal_keep_size: 256MB
        fsync: 'off'
        shared_buffers: 64MB
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
  initdb:
    - encoding: UTF8
    - locale: C
    - no-sync
  pg_hba:
    - host all all 10.77.0.0/24 trust
    - host replication all 10.77.0.0/24 trust
    - local all all trust
postgresql:
  listen: ${address}:${databasePort}
  connect_address: ${address}:${databasePort}
  data_dir: ${join(folder, `node${number}`, 'data')}
  bin_dir: ${postgresPrograms()}
  pgpass: ${join(folder, `node${number}`, 'pgpass')}
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser:
      username: ${account}
    replication:
      username: ${account}
  parameters:
    unix_socket_directories: ${join(folder, `node${number}`)}
watchdog:
  mode: 'off'
`
