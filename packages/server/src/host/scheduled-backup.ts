// Makes backups on a schedule, in one worker process at a time. A failure is logged and counted, and never stops the server.
import type { Config } from '../config/settings.ts'
import { inMs, now, nowMs } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import * as store from '../edges/postgres/backup-state.ts'
import type { Target } from '../edges/postgres/servers.ts'
import { makeBackup } from './backup.ts'
import { type BackupTarget, backupName, createTarget } from './backup-targets.ts'

type Parts = { config: Config; db: Database; database: Target; log: Log }

export type ScheduledBackup = {
  /** Makes a backup if one is due. Resolves with its name, or with null. Never rejects. */
  runIfDue(): Promise<string | null>
  stop(): Promise<void>
}

const hourMs = 3_600_000
const lookEveryMs = 60_000
const leaseMs = 5 * 60_000
/** After a failure, the next attempt is this much later, or after the interval if that is shorter. */
const retryMs = hourMs

/** Looks every minute. Null without a target. */
export function startScheduledBackup(parts: Parts): ScheduledBackup | null {
  const target = createTarget(parts.config)
  if (target === null) return null
  const backup = createScheduledBackup(parts, target)
  void backup.runIfDue()
  const timer = setInterval(() => void backup.runIfDue(), lookEveryMs).unref()
  return {
    ...backup,
    async stop() {
      clearInterval(timer)
      await backup.stop()
    },
  }
}

export function createScheduledBackup({ config, db, database, log }: Parts, target: BackupTarget): ScheduledBackup {
  const everyMs = config.backupHours * hourMs
  const stopping = new AbortController()
  let running: Promise<string | null> | null = null
  /** Deletes the oldest backups beyond the number to keep. */
  async function prune(): Promise<void> {
    const names = await target.list()
    for (const name of names.slice(0, Math.max(0, names.length - config.backupKeep))) await target.remove(name)
  }

  async function make(): Promise<string> {
    const startedMs = nowMs()
    const name = backupName(now())
    const renewing = setInterval(() => void store.renewBackup(db, inMs(leaseMs)).catch(() => {}), leaseMs / 3)
    try {
      const { end, size } = await makeBackup(config, database, (bytes) => target.write(name, bytes), stopping.signal)
      if (end.missing_blobs === 0) await store.recordSuccess(db, { name, size, at: now() })
      else await store.recordFailure(db, `${end.missing_blobs} files that the database names could not be found`, now())
      const level = end.missing_blobs > 0 ? 'warn' : 'info'
      log[level]({ name, bytes: size, missing_blobs: end.missing_blobs, ms: nowMs() - startedMs }, 'backup made')
    } finally {
      clearInterval(renewing)
    }
    // The backup exists, so a failure to delete an old one is not a failure of it.
    await prune().catch((err) => log.error({ err }, 'deleting old backups failed'))
    return name
  }

  async function run(): Promise<string | null> {
    try {
      if (!(await store.claimBackup(db, { at: now(), everyMs, leaseMs }))) return null
      return await make()
    } catch (err) {
      if (stopping.signal.aborted) await store.recordFailure(db, 'the server stopped', inMs(-everyMs)).catch(() => {})
      else {
        log.error({ err }, 'a backup failed')
        const reason = err instanceof Error ? err.message : String(err)
        await store.recordFailure(db, reason, inMs(Math.min(retryMs, everyMs) - everyMs)).catch(() => {})
      }
      return null
    }
  }

  return {
    async runIfDue() {
      running ??= run().finally(() => {
        running = null
      })
      return running
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
