// The server under test as a child process. It is started, killed and restarted on the same ports and the same data.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../../packages/server/src/edges/postgres/servers.ts'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { findPostgres, processesOf, strayPostgres } from './processes.ts'

const mainFile = join(import.meta.dirname, '..', '..', 'packages', 'server', 'src', 'main.ts')
const startMsMax = 60_000
const stopMsMax = 60_000
/** Backends of a killed PostgreSQL, and its watcher, notice within a moment. */
const strayMsMax = 10_000
const linesKept = 200

export type ServerProcess = Awaited<ReturnType<typeof createServerProcess>>

/** A server that is not started yet, with its own data directory. `bootstrapKey` is its first organization's key. */
export async function createServerProcess(options: { relayPort: number; bootstrapKey: string; settings?: Record<string, string> }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'callsign-crash-'))
  // Under root, PostgreSQL's account must be able to enter.
  chmodSync(dataDir, 0o711)
  const [httpPort, smtpPort] = await Promise.all([findFreePort(), findFreePort()])
  const environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    CALLSIGN_DATA_DIR: dataDir,
    CALLSIGN_PORT: String(httpPort),
    CALLSIGN_SMTP_PORT: String(smtpPort),
    CALLSIGN_METRICS_PORT: 'off',
    CALLSIGN_BOOTSTRAP_API_KEY: options.bootstrapKey,
    // The load answers the same correspondents again and again.
    CALLSIGN_AGENT_LOOP_SECONDS: '0',
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: `smtp://127.0.0.1:${options.relayPort}`,
    CALLSIGN_MAIL_RETRY_SECONDS: Array.from({ length: 50 }, (_, index) => (index < 4 ? '0.2' : '1')).join(','),
    CALLSIGN_LOG_LEVEL: 'warn',
    ...options.settings,
  }
  const lines: string[] = []
  let child: ChildProcess | null = null
  let exited: Promise<string> = Promise.resolve('not started')

  const spawnServer = (args: string[]) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', mainFile, ...args], {
      env: environment,
      cwd: dataDir,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, as under a supervisor, so that killing it does not kill this process.
      detached: true,
    })

  const keep = (line: string): void => {
    lines.push(line.slice(0, 2000))
    if (lines.length > linesKept) lines.shift()
  }

  /** Starts the server. `ready` resolves with the milliseconds it took, or with `false` when it was killed before. */
  function begin(): { ready: Promise<number | false> } {
    const startedMs = performance.now()
    const started = spawnServer(['serve'])
    child = started
    exited = new Promise((resolve) => started.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)))
    createInterface({ input: started.stderr! }).on('line', keep)
    const ready = new Promise<number | false>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the server was not ready after ${startMsMax} ms:\n${lines.slice(-20).join('\n')}`)),
        startMsMax,
      )
      createInterface({ input: started.stdout! }).on('line', (line) => {
        if (!line.startsWith('callsign ready')) return
        clearTimeout(timer)
        resolve(performance.now() - startedMs)
      })
      started.once('exit', (code, signal) => {
        clearTimeout(timer)
        if (signal === 'SIGKILL') resolve(false)
        else reject(new Error(`the server ended while starting (${signal ?? code}):\n${lines.slice(-20).join('\n')}`))
      })
    })
    ready.catch(() => {})
    return { ready }
  }

  let killedPostgres: number | null = null

  function requirePostgres(): number {
    const pid = findPostgres(dataDir)
    if (pid === null) throw new Error(`no PostgreSQL runs in ${dataDir}:\n${lines.slice(-20).join('\n')}`)
    return pid
  }

  return {
    dataDir,
    bootstrapKey: options.bootstrapKey,
    httpPort,
    smtpPort,
    /** The server's last log lines of level warning and above. */
    lines,
    begin,

    async start(): Promise<number> {
      const ms = await begin().ready
      if (ms === false) throw new Error('the server was killed while starting')
      return ms
    },

    /** Resolves when the last started process ends, with its signal or exit code. */
    ended: () => exited,
    signal: (name: NodeJS.Signals) => void child?.kill(name),

    /** Kills the server alone, with its PostgreSQL, or its PostgreSQL alone. Resolves when the server has ended, if it was the victim. */
    async kill(victim: 'server' | 'postgres' | 'both'): Promise<void> {
      if (victim !== 'server') {
        killedPostgres = requirePostgres()
        process.kill(killedPostgres, 'SIGKILL')
      }
      if (victim === 'postgres') return
      child?.kill('SIGKILL')
      await exited
    },

    /** Resolves with the milliseconds until the running server reports that it is ready again. */
    async whenReady(): Promise<number> {
      const startedMs = performance.now()
      while (performance.now() - startedMs < startMsMax) {
        const response = await fetch(`http://127.0.0.1:${httpPort}/readyz`).catch(() => null)
        await response?.body?.cancel()
        // A backend that has not noticed yet that its PostgreSQL was killed may still answer for it.
        const pid = findPostgres(dataDir)
        if (response?.status === 200 && pid !== null && pid !== killedPostgres) return performance.now() - startedMs
        await delay(10)
      }
      throw new Error(`the server did not become ready again within ${startMsMax} ms:\n${lines.slice(-20).join('\n')}`)
    },

    postgresPid: requirePostgres,

    /** The address of the embedded database. */
    connection: () => (JSON.parse(readFileSync(join(dataDir, 'running.json'), 'utf8')) as { connection: Connection }).connection,

    /** PostgreSQL processes that do not belong to the running server's PostgreSQL, after they had time to exit. Empty in a correct run. */
    async findStrays(): Promise<string[]> {
      return describeStrays(() => strayPostgres(dataDir, requirePostgres()))
    },

    async runCommand(args: string[]): Promise<string> {
      const command = spawnServer(args)
      let printed = ''
      command.stdout!.on('data', (bytes: Buffer) => {
        printed += bytes.toString()
      })
      createInterface({ input: command.stderr! }).on('line', keep)
      const code = await new Promise((resolve) => command.once('close', resolve))
      if (code !== 0) throw new Error(`callsignd ${args.join(' ')} ended with ${code}:\n${lines.slice(-20).join('\n')}`)
      return printed
    },

    /** Stops the server as an operator does. Resolves with faults of its end, such as an exit code or processes left behind. */
    async stop(): Promise<string[]> {
      child?.kill('SIGTERM')
      const how = await Promise.race([exited, delay(stopMsMax, 'no exit', { ref: false })])
      const left = await describeStrays(() => processesOf(dataDir))
      return [...(how === 'exit code 0' ? [] : [`the stop ended with ${how}`]), ...left]
    },

    /** Ends whatever still runs and deletes the data. */
    async destroy(): Promise<void> {
      child?.kill('SIGKILL')
      await exited
      // The watcher stops PostgreSQL. Processes that remain are killed here.
      for (const { pid } of await waitGone(() => processesOf(dataDir))) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {}
      }
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Processes = ReturnType<typeof processesOf>

async function waitGone(find: () => Processes): Promise<Processes> {
  const deadlineMs = performance.now() + strayMsMax
  for (;;) {
    const found = find()
    if (found.length === 0 || performance.now() > deadlineMs) return found
    await delay(50)
  }
}

const describeStrays = async (find: () => Processes): Promise<string[]> =>
  (await waitGone(find)).map(
    ({ pid, parentPid, name }) => `process ${pid} (${name}, child of ${parentPid}) still runs in the data directory`,
  )
