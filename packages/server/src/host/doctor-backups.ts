// The doctor's check of backups: their age, and the latest failure.
import type { Config } from '../config/settings.ts'
import { nowMs } from '../core/clock.ts'
import type { Sql } from '../core/sql.ts'
import { findBackupState } from '../edges/postgres/backup-state.ts'
import { attention, type Finding, note, ok } from './finding.ts'

const hourMs = 3_600_000
/** Age without a schedule from which a backup is too old. */
const dayHours = 24

export async function checkBackups(config: Config, db: Sql): Promise<Finding> {
  const state = await findBackupState(db)
  const ageHours = state?.succeeded_at ? (nowMs() - state.succeeded_at.getTime()) / hourMs : null
  const latest = ageHours === null ? 'No backup has been made yet' : `The latest backup is ${ageHours.toFixed(1)} hours old`
  if (config.backupTarget === null)
    return ageHours !== null && ageHours <= dayHours
      ? ok(`${latest}.`)
      : note(`${latest}. Set CALLSIGN_BACKUP_TARGET for backups on a schedule, or run callsignd backup.`)
  if (state?.failure) return attention(`The last attempt to make a backup failed: ${state.failure}. ${latest}.`)
  // One interval for the wait, and one for the backup itself.
  if (ageHours !== null && ageHours > 2 * config.backupHours)
    return attention(`${latest}, and CALLSIGN_BACKUP_HOURS is ${config.backupHours}. Check that a server with the role worker is running.`)
  return ageHours === null ? note(`${latest}. A server with the role worker makes the first one.`) : ok(`${latest}.`)
}
