// The doctor's checks of the database and of the files that its rows name.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { BlobMissing, type Blobs } from '../core/blobs.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import { countOrganizations, countOverdueJobs, readServerFacts, sampleBlobKeys } from '../edges/postgres/diagnostics.ts'
import { findPrograms } from '../edges/postgres/embedded/binaries.ts'
import { clusterPath } from '../edges/postgres/embedded/names.ts'
import { findPending, readApplied } from '../edges/postgres/migrate.ts'
import { createDkim } from '../features/mail/domains/dkim/operations.ts'
import { createBlobs } from '../wiring/parts.ts'
import { migrationsFolder, openUntouched } from './database.ts'
import { checkBackups } from './doctor-backups.ts'
import { isWritable, nearestExisting } from './doctor-machine.ts'
import { attention, type Finding, note, ok, reasonOf } from './finding.ts'
import type { KeyRecord } from './mail-records.ts'

const clockAheadMsMax = 2_000
const overdueMs = 5 * 60_000
const blobsSampled = 50

/** `dkim` has the records of the mail domain's keys, or null when they cannot be read or do not exist yet. */
export type DatabaseFindings = { findings: Finding[]; dkim: KeyRecord[] | null }

/** `isServing` is true when a server runs, in which case overdue jobs need attention. */
export async function checkDatabase(config: Config, log: Log, isServing: boolean): Promise<DatabaseFindings> {
  const findings: Finding[] = []
  let dkim: KeyRecord[] | null = null
  if (config.databaseUrl === null) {
    findings.push(checkPrograms(log))
    // Opening the database would create it.
    if (!existsSync(clusterPath(config.dataDir)) && !existsSync(join(config.dataDir, 'engine')))
      return {
        findings: [
          ...findings,
          note('The database does not exist yet. The first start creates it.'),
          ...(await checkBlobStore(config, null)),
        ],
        dkim,
      }
  }
  try {
    const { db, close } = await openUntouched(config, log)
    try {
      findings.push(...(await checkServer(db)), ...(await checkContents(config, db, isServing)))
      dkim = await readDkimRecords(config, db)
    } finally {
      await close()
    }
  } catch (error) {
    findings.push(attention(`The database cannot be used: ${reasonOf(error)}`))
  }
  return { findings, dkim }
}

/** Null before the first start. */
async function readDkimRecords({ mailDomain }: Config, db: Database): Promise<KeyRecord[] | null> {
  if ((await readApplied(db)).length === 0) return null
  const unused = () => {
    throw new Error('reading the public keys needs no secret')
  }
  const dkim = createDkim({ db, sealing: { seal: unused, open: unused }, mailDomain })
  const records = await dkim.listRecords({ organizationId: null, domain: mailDomain }).catch(() => [])
  return records.length === 0 ? null : records
}

function checkPrograms(log: Log): Finding {
  try {
    return ok(`The embedded PostgreSQL (package ${findPrograms({ account: null, copyDir: tmpdir(), log }).version}) runs here.`)
  } catch (error) {
    return attention(reasonOf(error))
  }
}

async function checkServer(db: Database): Promise<Finding[]> {
  const { product, isSupported, encoding, clockAheadMs } = await readServerFacts(db)
  const findings: Finding[] = []
  if (!isSupported) findings.push(attention(`The database is ${product}. Callsign needs PostgreSQL 15 or newer.`))
  else if (!/^utf-?8$/i.test(encoding)) findings.push(attention(`The database's encoding is ${encoding}. Callsign needs UTF8.`))
  else findings.push(ok(`The database answers: ${product}.`))
  const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1)
  findings.push(
    Math.abs(clockAheadMs) > clockAheadMsMax
      ? attention(
          `The database's clock is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's. Synchronize both with NTP.`,
        )
      : ok("The database's clock agrees with this machine's."),
  )
  return findings
}

async function checkContents(config: Config, db: Database, isServing: boolean): Promise<Finding[]> {
  const applied = await readApplied(db)
  const pending = findPending(migrationsFolder, applied, 'database')
  if (applied.length === 0)
    return [note('The database is empty. The first start creates its tables.'), ...(await checkBlobStore(config, null))]
  // The statements below need the tables of this version.
  if (pending.length > 0)
    return [note(`The next start, or callsignd migrate, brings the tables up to date (${pending.join(', ')}). Make a backup first.`)]
  const findings: Finding[] = [ok('The tables are of this version.')]
  const organizations = await countOrganizations(db)
  if (organizations === 0) findings.push(note('The database has no organization yet. The first start creates one.'))
  else if (!existsSync(join(config.dataDir, 'keyring', 'master')))
    findings.push(attention(`The database is in use, but its keyring is not in ${config.dataDir}. Copy it from another node or a backup.`))
  const overdue = await countOverdueJobs(db, overdueMs)
  if (overdue === 0) findings.push(ok('No job is overdue.'))
  else if (isServing)
    findings.push(attention(`Jobs more than 5 minutes overdue: ${overdue}. Check that a server with the role worker is running.`))
  else findings.push(note(`Jobs that wait for a server: ${overdue}.`))
  return [...findings, await checkBackups(config, db), ...(await checkBlobStore(config, db))]
}

async function checkBlobStore(config: Config, db: Database | null): Promise<Finding[]> {
  if (config.blobs.kind === 'file') {
    const folder = config.blobs.folder ?? join(config.dataDir, 'blobs')
    const existing = nearestExisting(folder)
    if (existing !== folder)
      return [isWritable(existing) ? note(`There are no files in ${folder} yet.`) : attention(`This user may not create ${folder}.`)]
  }
  const blobs = createBlobs(config)
  return [await checkWritable(blobs), ...(db ? [await checkSample(blobs, db)] : [])]
}

async function checkWritable(blobs: Blobs): Promise<Finding> {
  const key = `doctor/${randomUUID()}`
  try {
    await blobs.put(key, Buffer.from('probe'))
    await blobs.delete(key)
    return ok('Files can be written (CALLSIGN_BLOBS).')
  } catch (error) {
    return attention(`Files cannot be written (CALLSIGN_BLOBS): ${reasonOf(error)}.`)
  }
}

async function checkSample(blobs: Blobs, db: Database): Promise<Finding> {
  const keys = await sampleBlobKeys(db, blobsSampled)
  let missing = 0
  for (const key of keys) {
    try {
      await blobs.get(key, { start: 0, end: 0 })
    } catch (error) {
      if (!(error instanceof BlobMissing)) return attention(`Files cannot be read (CALLSIGN_BLOBS): ${reasonOf(error)}.`)
      missing++
    }
  }
  if (missing > 0) return attention(`${missing} of ${keys.length} files that the database names are missing. Check CALLSIGN_BLOBS.`)
  return ok(keys.length === 0 ? 'The database names no files.' : `All ${keys.length} sampled files exist.`)
}
