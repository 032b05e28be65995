// callsignd: runs the server, or one of its host commands.

import { type App, startApp } from './app.ts'
import { loadConfig, loadKnownConfig } from './config/file.ts'
import type { Config } from './config/settings.ts'
import { nowMs } from './core/clock.ts'
import { freeExternalBuffers, shrinkBufferPool } from './core/external-buffers.ts'
import { createLog, quietTerminal } from './core/log.ts'
import { runCommand, usage } from './host/commands.ts'
import { takeConfigOption } from './host/config-option.ts'
import { CommandFailed } from './host/failure.ts'
import { createStartReport } from './host/start-report.ts'
import { version } from './wiring/parts.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Interrupts within this time are one Ctrl-C. */
const sameInterruptMs = 100

/** A long stop names its pending work again after this time. */
const reportEveryMs = 5_000

/** Runs the server until a signal: the first one drains it and exits 0, a second one exits at once. */
async function serve(config: Config): Promise<void> {
  freeExternalBuffers()
  shrinkBufferPool()
  const log = createLog(config.logLevel)
  const startedMs = nowMs()
  const isTerminal = process.stdout.isTTY
  const report = createStartReport({ isTerminal, print, log, elapsedMs: () => nowMs() - startedMs, version })
  quietTerminal(isTerminal)
  let isStopping = false
  const waiting = new AbortController()
  let app: App | null = null
  let signalledMs = 0
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    // The terminal sends Ctrl-C to the whole process group, and npm forwards its own: a close second signal is the same one.
    if (isStopping && signal === 'SIGINT' && nowMs() - signalledMs < sameInterruptMs) return
    if (isStopping) process.exit(1)
    isStopping = true
    // The time counts from the next turn, because the stop may keep this one busy while the same Ctrl-C arrives again.
    signalledMs = Number.POSITIVE_INFINITY
    setImmediate(() => {
      signalledMs = nowMs()
    })
    if (app) finish(app)
    else {
      report.step('Stopping after the start. Press Ctrl-C again to stop at once.')
      waiting.abort()
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)

  app = await startApp(config, log, report.step, waiting.signal).catch((error: unknown) => {
    // Nothing was started yet, so there is nothing to stop.
    if (error === waiting.signal.reason) process.exit(0)
    throw describeListenFailure(error, config)
  })
  app.failed.catch((error: unknown) => {
    log.error({ err: error }, 'the database cannot be restarted')
    process.exit(1)
  })
  report.ready(app)
  quietTerminal(false)
  if (waiting.signal.aborted) finish(app)

  function finish(running: App): void {
    const reportPending = () => report.stopping(running.pending(), config.drainSeconds)
    reportPending()
    const again = setInterval(reportPending, reportEveryMs)
    running
      .stop()
      .finally(() => clearInterval(again))
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed')
          process.exit(1)
        },
      )
  }
}

/** Names the setting in a listener's error. Other errors are returned unchanged. */
function describeListenFailure(error: unknown, config: Config): unknown {
  const { syscall, code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (syscall !== 'listen' && code !== 'ENOTFOUND') return error
  const setting = portSettings(config).find(([one]) => one === port)?.[1] ?? 'CALLSIGN_PORT'
  const hostSetting = setting === 'CALLSIGN_METRICS_PORT' ? 'CALLSIGN_METRICS_HOST' : 'CALLSIGN_HOST'
  const host = hostSetting === 'CALLSIGN_HOST' ? config.host : config.metricsHost
  const where = `port ${port} on ${host}`
  if (code === 'EADDRINUSE') return new Error(`${where} is in use by another program: stop it, or set ${setting}`)
  if (code === 'EACCES') return new Error(`this user may not listen on ${where}: set ${setting} to 1024 or above, or allow it`)
  return new Error(`cannot listen on ${hostSetting}=${host}: ${(error as Error).message}`)
}

const portSettings = (config: Config): [number | null, string][] => [
  [config.metricsPort, 'CALLSIGN_METRICS_PORT'],
  [config.smtpPort, 'CALLSIGN_SMTP_PORT'],
  [config.submissionPort, 'CALLSIGN_SUBMISSION_PORT'],
  [config.submissionsPort, 'CALLSIGN_SUBMISSIONS_PORT'],
  [config.httpsPort, 'CALLSIGN_HTTPS_PORT'],
  [config.tunnelHttpsPort, 'CALLSIGN_TUNNEL_HTTPS_PORT'],
]

async function main(): Promise<void> {
  const { file, words } = takeConfigOption(process.argv.slice(2))
  const [command = 'serve', ...rest] = words
  if (command === 'serve' && rest.length === 0) return serve(loadConfig(file))
  process.exitCode = await runCommand(command, rest, { load: () => loadConfig(file), loadKnown: () => loadKnownConfig(file) }, print)
}

try {
  await main()
} catch (error) {
  const isUsage = error instanceof CommandFailed && error.isUsage
  process.stderr.write(`callsignd: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `${usage}\n` : ''}`)
  process.exit(isUsage ? 2 : 1)
}
