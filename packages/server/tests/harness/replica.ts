// A PostgreSQL with replicas that follow it, made of copies of its files.
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../src/core/log.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/edges/postgres/embedded/supervisor.ts'
import type { Connection } from '../../src/edges/postgres/servers.ts'

const log = createLog('silent')

/** A connection string of a server's socket. */
export const urlOf = ({ host, port, user, database }: Connection): string =>
  `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`

/** Starts a primary, and replicas with these names. */
export async function startReplicated<N extends string>(names: N[]) {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-replicas-'))
  chmodSync(folder, 0o711)
  const rules = join(folder, 'pg_hba.conf')
  writeFileSync(rules, 'local all all trust\nlocal replication all trust\n', { mode: 0o644 })
  const settings = { fsync: 'off', hba_file: rules, wal_level: 'replica', max_wal_senders: '4' }
  const start = (name: string, more: Record<string, string> = {}) =>
    startEmbedded({ dataDir: join(folder, name), log, settings: { ...settings, ...more } })

  const empty = await start('primary')
  await empty.stop()
  for (const name of names) {
    cpSync(join(folder, 'primary'), join(folder, name), { recursive: true, preserveTimestamps: true })
    chmodSync(join(folder, name, 'postgres'), 0o700)
    // The next start gives the files to PostgreSQL's account.
    writeFileSync(join(folder, name, 'postgres', 'standby.signal'), '')
  }
  const primary = await start('primary')
  const { host, port, user } = primary.connection
  const follows = { primary_conninfo: `host=${host} port=${port} user=${user}`, hot_standby: 'on' }
  const replicas = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await start(name, follows)] as const))) as Record<
    N,
    EmbeddedPostgres
  >
  return {
    primary,
    replicas,
    async stop() {
      await Promise.all([primary, ...Object.values<EmbeddedPostgres>(replicas)].map((server) => server.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
