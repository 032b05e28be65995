// Runs `callsignd upgrade --check`: says what an upgrade to this version would do, before the running server is stopped.
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import type { Config, UnknownName } from '../config/settings.ts'
import { nowMs } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Sql } from '../core/sql.ts'
import { findBackupState } from '../edges/postgres/backup-state.ts'
import { sizeOfTables } from '../edges/postgres/diagnostics.ts'
import { clusterPath } from '../edges/postgres/embedded/names.ts'
import { findPending, readApplied } from '../edges/postgres/migrate.ts'
import { tablesToRewrite } from '../edges/postgres/rewritten-tables.ts'
import { version } from '../wiring/parts.ts'
import { migrationsFolder, openUntouched } from './database.ts'
import { nearestExisting } from './doctor-machine.ts'
import { reasonOf } from './finding.ts'

/** A migration that would run. `is_online` is false when writes to existing tables wait for it. */
export type PendingMigration = { name: string; is_online: boolean; tables: string[]; bytes: number }

/** The consequences of an upgrade. `problems` have to be solved first. */
export type UpgradePlan = {
  version: string
  /** The version of the server that answers at the HTTP port. Null when none does. */
  running_version: string | null
  migrations: PendingMigration[]
  disk_needed_bytes: number
  /** Null for a database on another machine. */
  disk_free_bytes: number | null
  last_backup_at: string | null
  unknown_settings: { name: string; renamed_to: string | null }[]
  problems: string[]
}

const backupMsMax = 24 * 3_600_000
const answerMs = 5_000
const answerBytesMax = 20 * 1024 * 1024

export async function checkUpgrade(config: Config, log: Log, unknown: UnknownName[]): Promise<UpgradePlan> {
  const plan: UpgradePlan = {
    version,
    running_version: await findRunningVersion(config),
    migrations: [],
    disk_needed_bytes: 0,
    disk_free_bytes: config.databaseUrl === null ? freeBytes(config.dataDir) : null,
    last_backup_at: null,
    unknown_settings: unknown.map(({ name, renamedTo }) => ({ name, renamed_to: renamedTo })),
    problems: unknown.map(({ name, renamedTo }) =>
      renamedTo === null
        ? `${name} is not a setting of this version: remove or correct it.`
        : `${name} has been renamed: set ${renamedTo} instead.`,
    ),
  }
  // Opening the database would create it.
  if (config.databaseUrl === null && !existsSync(clusterPath(config.dataDir))) {
    plan.problems.push(`${config.dataDir} does not have a database to upgrade: check CALLSIGN_DATA_DIR.`)
    return plan
  }
  try {
    const { db, close } = await openUntouched(config, log)
    try {
      await checkDatabase(db, plan)
    } finally {
      await close()
    }
  } catch (error) {
    plan.problems.push(`The database cannot be upgraded: ${reasonOf(error)}`)
  }
  return plan
}

async function checkDatabase(db: Sql, plan: UpgradePlan): Promise<void> {
  const pending = findPending(migrationsFolder, await readApplied(db), 'database')
  for (const name of pending) {
    const tables = tablesToRewrite(readFileSync(join(migrationsFolder, name), 'utf8'))
    const bytes = await sizeOfTables(db, tables)
    plan.migrations.push({ name, is_online: bytes === 0, tables, bytes })
  }
  // A rewritten table or new index needs its space before the old one is dropped, and as much in the write-ahead log.
  plan.disk_needed_bytes = plan.migrations.reduce((sum, { bytes }) => sum + 2 * bytes, 0)
  if (plan.disk_free_bytes !== null && plan.disk_free_bytes < plan.disk_needed_bytes)
    plan.problems.push(
      `The migrations need ${megabytes(plan.disk_needed_bytes)} of free disk, and ${megabytes(plan.disk_free_bytes)} are free.`,
    )
  const succeededAt = (await findBackupState(db))?.succeeded_at ?? null
  plan.last_backup_at = succeededAt?.toISOString() ?? null
  if (succeededAt === null || nowMs() - succeededAt.getTime() > backupMsMax)
    plan.problems.push('The last backup is more than a day old, or there is none: run callsignd backup FILE.')
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(nearestExisting(path))
  return bavail * bsize
}

/** The version in the OpenAPI document of the server at the HTTP port. */
function findRunningVersion({ host, port }: Config): Promise<string | null> {
  if (port === 0) return Promise.resolve(null)
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return new Promise((resolve) => {
    const request = get({ host: reachable, port, path: '/openapi.json', timeout: answerMs }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > answerBytesMax) request.destroy()
      })
      response.on('end', () => resolve(/"info":\{[^}]*"version":"([^"]{1,40})"/.exec(text)?.[1] ?? null))
      response.on('close', () => resolve(null))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(null))
  })
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`

/** Formats the findings as lines for a terminal. */
export function describePlan(plan: UpgradePlan): string[] {
  const migrations = plan.migrations.map(({ name, is_online, tables, bytes }) =>
    is_online ? `  ${name}: online` : `  ${name}: writes to ${tables.join(', ')} wait (${megabytes(bytes)})`,
  )
  return [
    `this version     ${plan.version}`,
    `running          ${plan.running_version ?? 'no server answers'}`,
    `migrations       ${plan.migrations.length === 0 ? 'none' : plan.migrations.length}`,
    ...migrations,
    `disk needed      ${megabytes(plan.disk_needed_bytes)}${plan.disk_free_bytes === null ? '' : `, ${megabytes(plan.disk_free_bytes)} free`}`,
    `last backup      ${plan.last_backup_at ?? 'none'}`,
    `settings         ${plan.unknown_settings.length === 0 ? 'all known' : `${plan.unknown_settings.length} unknown`}`,
    '',
    ...plan.problems.map((problem) => `ATTENTION ${problem}`),
    plan.problems.length === 0 ? 'Ready: stop the server, start this version.' : 'Solve these first, then check again.',
  ]
}
