// Clears the remains of a killed PostgreSQL, which are a process that is still ending, and lock files that name a process.
import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { port } from './settings.ts'

const pollMs = 20
const fastStopMs = 10_000
const hardStopMs = 20_000

/**
 * Prepares a directory for a new PostgreSQL. Only the holder of the data directory's lock may call it. A PostgreSQL that still runs there
 * belongs to a server that died, and is stopped. Throws when it cannot be stopped.
 */
export async function clearStaleFiles(directory: string, log: Log): Promise<void> {
  const pidFile = join(directory, 'postmaster.pid')
  const pid = readPid(pidFile)
  if (pid !== null && isAlive(pid)) {
    if (runsIn(pid, directory)) {
      log.warn({ pid }, 'stopping the PostgreSQL of an earlier server, which is still running')
      await stopStaleProcess(pid, directory)
    } else {
      // The pid belongs to another process now, and PostgreSQL would refuse to start. It ignores its parent's pid, which is the one of this
      // process,
      // and continues with its own check that no backend still uses the shared memory named in the file. The file therefore stays.
      const rest = readFileSync(pidFile, 'utf8').split('\n').slice(1)
      writeFileSync(pidFile, [process.pid, ...rest].join('\n'))
    }
  }
  rmSync(join(directory, `.s.PGSQL.${port}.lock`), { force: true })
}

async function stopStaleProcess(pid: number, directory: string): Promise<void> {
  const startedMs = nowMs()
  signal(pid, 'SIGINT')
  let isHard = false
  while (runsIn(pid, directory)) {
    const waitedMs = nowMs() - startedMs
    if (waitedMs > hardStopMs)
      throw new Error(`A PostgreSQL (process ${pid}) of an earlier server still runs in ${directory} and does not stop. Stop it first.`)
    if (waitedMs > fastStopMs && !isHard) {
      isHard = true
      signal(pid, 'SIGQUIT')
    }
    await delay(pollMs)
  }
}

function readPid(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * True while the process is a PostgreSQL with this directory as its working directory. A process that cannot be inspected belongs to
 * another user.
 */
function runsIn(pid: number, directory: string): boolean {
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(directory)
    } catch {
      return false
    }
  }
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(directory)
}
