// One run of PostgreSQL as a child process that cannot outlive this process.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import type { Log } from '../../../core/log.ts'
import type { Account } from './account.ts'
import { identityOf, type Programs } from './binaries.ts'
import { directoryArgument, programEnvironment } from './names.ts'
import { settingArguments } from './settings.ts'

export type PostgresProcess = {
  pid: number
  /** Resolves with the kind of exit. */
  exited: Promise<string>
  /** Ends transactions in progress, writes a checkpoint and exits. Kills the process when that takes too long. */
  stop: () => Promise<void>
}

/**
 * The shell becomes PostgreSQL, so the child's pid is PostgreSQL's. Before that it starts a watcher process, which reads from a pipe held
 * by this process.
 * A line means that PostgreSQL has ended. The end of the pipe means that this process has ended for any reason.
 */
const script = `
((
  if read -r line <&3; then exit 0; fi
  kill -INT "$$"
  i=0
  while kill -0 "$$" && [ "$i" -lt 15 ]; do sleep 1; i=$((i+1)); done
  kill -QUIT "$$"
) </dev/null >/dev/null 2>&1 &)
exec "$@" 3<&-
`

/** A replica says "read-only connections". */
const readyLine = 'database system is ready to accept'
const fastStopMs = 20_000
const hardStopMs = 10_000
const keptLines = 20

/** Starts PostgreSQL and resolves when it accepts connections. Rejects with its last log lines when it ends before. */
export function launch(options: {
  programs: Programs
  directory: string
  account: Account | null
  settings: Record<string, string>
  log: Log
}): Promise<PostgresProcess> {
  const { programs, directory, account, log } = options
  const command = [programs.postgres, '-D', directoryArgument(directory), ...settingArguments(options.settings)]
  const child = spawn('/bin/sh', ['-c', script, 'callsign-postgres', ...command], {
    ...identityOf(account),
    cwd: directory,
    env: programEnvironment,
    // A session of its own, so that Ctrl-C in the terminal does not stop the database before the server has drained.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const watch = child.stdio[3] as Duplex
  watch.on('error', () => {}).resume()

  const lastLines: string[] = []
  let whenReady = () => {}
  createInterface({ input: child.stderr! }).on('line', (line) => {
    lastLines.push(line.slice(0, 500))
    if (lastLines.length > keptLines) lastLines.shift()
    // A FATAL line concerns one connection.
    const level = line.startsWith('PANIC:') ? 'error' : line.startsWith('FATAL:') ? 'info' : 'debug'
    log[level]({ line: line.slice(0, 500) }, 'postgres')
    if (line.includes(readyLine)) whenReady()
  })

  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      watch.end('ended\n')
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`)
    })
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    const hard = setTimeout(() => child.kill('SIGQUIT'), fastStopMs)
    const last = setTimeout(() => child.kill('SIGKILL'), fastStopMs + hardStopMs)
    await exited
    clearTimeout(hard)
    clearTimeout(last)
  }

  return new Promise((resolve, reject) => {
    child.once('error', reject)
    whenReady = () => resolve({ pid: child.pid!, exited, stop })
    // The pipe closes after the last line has been read, but the exit may come before it.
    child.once(
      'close',
      () => void exited.then((how) => reject(new Error(`PostgreSQL ended while starting (${how}): ${lastLines.slice(-5).join(' / ')}`))),
    )
  })
}
