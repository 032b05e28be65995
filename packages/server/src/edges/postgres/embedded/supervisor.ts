// Runs the embedded PostgreSQL of a data directory: starts it, restarts it after a crash, and stops it.
import { mkdirSync, realpathSync } from 'node:fs'
import { connect as dial } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import type { Connection } from '../servers.ts'
import { accessSettings, changeOwner, writeAccessRules } from './access.ts'
import { type Account, chooseAccounts } from './account.ts'
import { findPrograms, type Programs } from './binaries.ts'
import { clusterOwner, ensureCluster } from './cluster.ts'
import { requireEngine } from './engine.ts'
import { clearHolder, type DataDirLock, readHolder, tryLock, writeHolder } from './lock.ts'
import { clusterPath, databaseName, userName } from './names.ts'
import { launch, type PostgresProcess } from './process.ts'
import { port, serverSettings } from './settings.ts'
import { socketDirectory } from './socket.ts'
import { clearStaleFiles } from './stale-files.ts'

/** The major version of the packages in package.json. */
const majorVersion = 18

const lockWaitMs = 2_000
const otherServerWaitMs = 15_000
const pollMs = 50
/** Milliseconds after which a run counts as healthy and earlier failures are forgotten. */
const healthyMs = 60_000
const failuresMax = 6
const sharedMemoryWaitMs = 10_000

export type EmbeddedOptions = {
  dataDir: string
  log: Log
  /** Added to the settings of settings.ts, for tests. */
  settings?: Record<string, string>
  /** The npm package's directory, when it is not the installed one, for tests. */
  packageDir?: string
}

/** A database that this process may use until `stop`. */
export type OpenDatabase = { connection: Connection; stop: () => Promise<void> }

export type EmbeddedPostgres = OpenDatabase & {
  /** The pid of the running PostgreSQL. */
  pid: () => number
  /** Resolves when PostgreSQL has ended for good, with undefined after `stop`, or with the reason when it keeps crashing. */
  exited: Promise<Error | undefined>
}

/**
 * Starts the database of a data directory, creating it on first use, and resolves when it accepts connections. It ends with this process in
 * every case.
 * Throws when another server holds the directory, when the directory belongs to another engine, and when PostgreSQL cannot run here.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = prepareDirectory(options.dataDir)
  const deadlineMs = nowMs() + lockWaitMs
  for (;;) {
    const lock = tryLock(dataDir)
    if (lock) return startLocked({ ...options, dataDir }, lock)
    if (nowMs() > deadlineMs) {
      const holder = readHolder(dataDir)
      const who = holder ? ` (process ${holder.pid})` : ''
      throw new Error(
        `Another Callsign${who} is using the data directory ${dataDir}. Stop it first, or set CALLSIGN_DATA_DIR to a directory of its own.`,
      )
    }
    await delay(pollMs)
  }
}

/**
 * The database of a data directory for a command on the server's machine. It is the running server's, through its socket, or one started
 * for the duration of the command.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<OpenDatabase> {
  const dataDir = prepareDirectory(options.dataDir)
  const deadlineMs = nowMs() + otherServerWaitMs
  for (;;) {
    const lock = tryLock(dataDir)
    if (lock) return startLocked({ ...options, dataDir }, lock)
    const holder = readHolder(dataDir)
    if (holder && (await answers(holder.connection))) return { connection: holder.connection, stop: async () => {} }
    if (nowMs() > deadlineMs) throw new Error(`A Callsign server holds the data directory ${dataDir}, but its database does not answer.`)
    await delay(pollMs)
  }
}

function prepareDirectory(path: string): string {
  // Under root, PostgreSQL's account may have to pass through the directory, but not list it.
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  return realpathSync(path)
}

function answers(connection: Connection): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(`${connection.host}/.s.PGSQL.${connection.port}`)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function startLocked(options: EmbeddedOptions, lock: DataDirLock): Promise<EmbeddedPostgres> {
  try {
    return await start(options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Creates the database files, or gives existing ones to the account that PostgreSQL runs as. */
async function prepareFiles({ dataDir, packageDir, log }: EmbeddedOptions): Promise<{ programs: Programs; account: Account | null }> {
  const engine = `embedded ${majorVersion}` as const
  requireEngine(dataDir, engine)
  const owner = clusterOwner(dataDir)
  const accounts = chooseAccounts(owner)
  const account = accounts?.run ?? null
  const programs = findPrograms({ account, copyDir: dataDir, log, ...(packageDir ? { packageDir } : {}) })
  await ensureCluster({ dataDir, programs, accounts, engine })
  if (account && owner && owner.uid !== account.uid) {
    await clearStaleFiles(clusterPath(dataDir), log)
    changeOwner(clusterPath(dataDir), account)
    log.info({ from: owner.uid, to: account.name }, 'the database files have a new owner')
  }
  return { programs, account }
}

async function start(options: EmbeddedOptions, lock: DataDirLock): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options
  clearHolder(dataDir)
  const { programs, account } = await prepareFiles(options)
  const directory = clusterPath(dataDir)
  const settings = { ...serverSettings, ...accessSettings(directory), ...options.settings }
  const run = () => launchClean({ programs, directory, account, settings, log })
  let current = await run()
  const socket = socketDirectory(directory)
  const connection: Connection = { host: socket.host, port, user: userName, database: databaseName }
  writeHolder(dataDir, { pid: process.pid, connection })
  log.info({ pid: current.pid, account: account?.name }, 'database started')

  const stopping = new AbortController()
  const keepRunning = async (): Promise<Error | undefined> => {
    let failures = 0
    let startedMs = nowMs()
    let how = await current.exited
    while (!stopping.signal.aborted) {
      failures = nowMs() - startedMs > healthyMs ? 1 : failures + 1
      if (failures > failuresMax) return new Error(`PostgreSQL keeps dying (${how}). Gave up after ${failuresMax} starts in a row.`)
      log.error({ how, failures }, 'the database process died and is being restarted')
      // The first restart is immediate. Then the delay is 0.2 s, and doubles.
      if (failures > 1) await delay(100 * 2 ** (failures - 1), undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) break
      startedMs = nowMs()
      try {
        current = await run()
      } catch (error) {
        how = (error as Error).message
        continue
      }
      log.info({ pid: current.pid }, 'database started again')
      if (stopping.signal.aborted) await current.stop()
      how = await current.exited
    }
    return undefined
  }
  const exited = keepRunning().finally(() => {
    clearHolder(dataDir)
    socket.release()
    lock.release()
  })
  const stop = async (): Promise<void> => {
    stopping.abort()
    await current.stop()
    await exited
  }
  return { connection, pid: () => current.pid, stop, exited }
}

/** Starts PostgreSQL, giving the backends of a killed one time to release their shared memory. */
async function launchClean(options: Parameters<typeof launch>[0]): Promise<PostgresProcess> {
  const deadlineMs = nowMs() + sharedMemoryWaitMs
  for (;;) {
    await clearStaleFiles(options.directory, options.log)
    writeAccessRules(options.directory, options.account)
    try {
      return await launch(options)
    } catch (error) {
      if (!/shared memory block/.test((error as Error).message) || nowMs() > deadlineMs) throw error
      await delay(pollMs)
    }
  }
}
