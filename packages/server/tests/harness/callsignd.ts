// callsignd in its own process, started as npm start does it, for tests from an operator's view.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const repository = resolve(import.meta.dirname, '..', '..', '..', '..')

export type Settings = Record<string, string>
export type Ended = { code: number | null; stdout: string; stderr: string }

/** Ends a start that hangs. bench/start.ts measures the speed. */
const startMsMax = 100_000

/** Makes a temporary data directory that PostgreSQL's account may enter, and the function that removes it. */
export async function makeDataDir(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'callsign-host-'))
  await chmod(path, 0o711)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/**
 * Only a shell's variables, without the settings of the test run. DNS points to a closed port, so that tests never leave this machine. Metrics
 * are off, because their default port is one per machine.
 */
const environmentOf = (settings: Settings): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  CALLSIGN_DNS_SERVERS: '127.0.0.1:9',
  CALLSIGN_METRICS_PORT: 'off',
  CALLSIGN_DOCTOR_TIME_SERVER: 'off',
  CALLSIGN_DOCTOR_BLOCKLISTS: 'off',
  ...settings,
})

function launch(args: string[], settings: Settings, cwd?: string): ChildProcess {
  const command = [join(repository, 'bin', 'run'), 'packages/server/src/main.ts', ...args]
  return spawn('sh', command, { env: environmentOf(settings), cwd, stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Runs one command to its end. `input` is its standard input, and stdout is text unless `onBytes` takes it. */
export function callsignd(
  args: string[],
  settings: Settings,
  pipes: { input?: Buffer; onBytes?: (bytes: Buffer) => void; cwd?: string } = {},
): Promise<Ended> {
  const child = launch(args, settings, pipes.cwd)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (bytes: Buffer) => {
    if (pipes.onBytes) pipes.onBytes(bytes)
    else stdout += bytes.toString()
  })
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(pipes.input ?? '')
  return new Promise((done, reject) => {
    child.once('error', reject)
    child.once('close', (code) => done({ code, stdout, stderr }))
  })
}

export type Server = {
  /** Lines printed until it was ready. */
  lines: string[]
  baseUrl: string
  httpPort: number
  /** Null when it does not listen for SMTP. */
  smtpPort: number | null
  /** The key that it printed, or null. */
  key: string | null
  pid: number
  stop: () => Promise<Ended>
  signal: (name: NodeJS.Signals) => void
  ended: Promise<Ended>
}

/** Starts a server on free ports unless the settings name them. Rejects with its output when it ends before it is ready. */
export async function startCallsignd(settings: Settings): Promise<Server> {
  const child = launch(['serve'], { CALLSIGN_PORT: '0', CALLSIGN_SMTP_PORT: '0', ...settings })
  let stdout = ''
  let stderr = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, stdout, stderr })))
  await new Promise<void>((done, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`callsignd was not ready within ${startMsMax} ms: ${stdout}${stderr}`))
    }, startMsMax)
    child.stdout?.on('data', (bytes: Buffer) => {
      stdout += bytes.toString()
      if (!/^callsign ready .*\n/m.test(stdout)) return
      clearTimeout(late)
      done()
    })
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(late)
      reject(new Error(`callsignd ended with ${code} before it was ready: ${stdout}${stderr}`))
    })
  })
  const portOf = (what: string): number | null =>
    Number(new RegExp(`^callsign listening ${what} .*:(\\d+)$`, 'm').exec(stdout)?.[1]) || null
  const httpPort = portOf('http') as number
  return {
    lines: stdout.trimEnd().split('\n'),
    baseUrl: `http://127.0.0.1:${httpPort}`,
    httpPort,
    smtpPort: portOf('smtp'),
    key: /^ {2}export CALLSIGN_URL=\S+ CALLSIGN_API_KEY=(\S+)$/m.exec(stdout)?.[1] ?? null,
    pid: child.pid as number,
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
