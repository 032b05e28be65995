// A Callsign server of its own for a figure. It is a child process on an empty data directory, with the shipped configuration except for the rate
// limit.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The checkout whose server is measured: this one, or that of `npm run bench -- all --before DIR`. */
const checkout = process.env.BENCH_CHECKOUT ?? join(import.meta.dirname, '..', '..')
/** The command as shipped, with the options that it gives to Node. It replaces itself with Node, so its process is the server's. */
const callsignd = join(checkout, 'packages', 'server', 'bin', 'callsignd')

/** A rate limit would cap the measured figure. The log is written to /dev/null at its default level, so that formatting its lines counts. */
const environment = {
  CALLSIGN_PORT: '0',
  CALLSIGN_SMTP_PORT: '0',
  CALLSIGN_METRICS_PORT: 'off',
  CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY: '0',
  CALLSIGN_LOG_LEVEL: 'info',
}

export type CallsignServer = {
  url: string
  /** Null when it does not listen for SMTP. */
  smtpPort: number | null
  pid: number
  /** The key that the first start printed. It is null at a later start on the same directory. */
  key: string | null
  /** From spawning the process to its line `callsign ready`. */
  startMs: number
  stop: () => Promise<void>
}

/** Makes a temporary directory, which `remove` deletes. */
export function makeDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'callsign-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts a server on this data directory and resolves when it reports that it is ready. */
export async function startCallsign(
  dataDir: string,
  options: { settings?: Record<string, string>; nodeArguments?: string[] } = {},
): Promise<CallsignServer> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CALLSIGN_')))
  const beganMs = performance.now()
  const nodeOptions = options.nodeArguments && { NODE_OPTIONS: options.nodeArguments.join(' ') }
  const child = spawn(callsignd, ['serve'], {
    env: { ...clean, ...environment, ...nodeOptions, ...options.settings, CALLSIGN_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const stop = () => stopChild(child)
  let key: string | null = null
  let smtpPort: number | null = null
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`The server ended with ${code ?? signal} before it was ready.`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      smtpPort = Number(/^callsign listening smtp .*:(\d+)$/.exec(line)?.[1]) || smtpPort
      key = /shown this once: (\S+)/.exec(line)?.[1] ?? key
      const url = /^callsign ready (\S+)/.exec(line)?.[1]
      if (url) resolve({ url, smtpPort, key, pid: child.pid as number, startMs: performance.now() - beganMs, stop })
    })
  })
}

/** Asks a child to end, and resolves when it has. */
export function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

/** Sends one JSON request to a server. Throws on any answer but 2xx. */
export async function ask<T>(server: { url: string }, key: string, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}
