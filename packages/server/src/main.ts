// callsignd: runs the server, or one of its host commands.

import { startApp } from './app.ts'
import { type Config, readConfig } from './config/settings.ts'
import { nowMs } from './core/clock.ts'
import { freeExternalBuffers } from './core/external-buffers.ts'
import { createLog } from './core/log.ts'
import { runCommand, usage } from './host/commands.ts'
import { CommandFailed } from './host/failure.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Interrupts within this time are one Ctrl-C. */
const sameInterruptMs = 100

/** Runs the server until a signal: the first one drains it and exits 0, a second one exits at once. */
async function serve(config: Config): Promise<void> {
  freeExternalBuffers()
  const log = createLog(config.logLevel)
  let isStopping = false
  let stopEarly = false
  let stop: (() => Promise<void>) | null = null
  let signalledMs = 0
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    // The terminal sends Ctrl-C to the whole process group, and npm forwards its own: a close second signal is the same one.
    if (isStopping && signal === 'SIGINT' && nowMs() - signalledMs < sameInterruptMs) return
    if (isStopping) process.exit(1)
    isStopping = true
    signalledMs = nowMs()
    if (stop) finish(stop)
    else stopEarly = true
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)

  const app = await startApp(config, log).catch((error: unknown) => {
    throw describeListenFailure(error, config)
  })
  stop = app.stop
  app.failed.catch((error: unknown) => {
    log.error({ err: error }, 'the database cannot be restarted')
    process.exit(1)
  })
  for (const line of app.listening) print(`callsign listening ${line}`)
  if (app.firstKey !== null) {
    print('')
    print(`Your organization key, shown this once: ${app.firstKey}`)
    print(`  export KEY=${app.firstKey}`)
    print(`  curl -s ${app.publicUrl}/api/v1/me -H "Authorization: Bearer $KEY"`)
  }
  if (app.consoleUrl !== null) {
    const isLink = app.consoleUrl.includes('#link=')
    print(
      isLink
        ? `Console, signed in once within 15 minutes: ${app.consoleUrl}`
        : `Console: ${app.consoleUrl} (callsignd console-link signs in)`,
    )
  }
  if (app.consoleUrl !== null) print(`MCP client: npx add-mcp ${app.publicUrl}/mcp (docs/mcp.md)`)
  print(`Documentation: ${app.publicUrl}/docs   Five-minute tour: README.md`)
  print(`callsign ready ${app.publicUrl}`)
  if (stopEarly) finish(stop)

  function finish(stopServer: () => Promise<void>): void {
    stopServer().then(
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
  const setting = port === config.smtpPort ? 'CALLSIGN_SMTP_PORT' : 'CALLSIGN_PORT'
  const where = `port ${port} on ${config.host}`
  if (code === 'EADDRINUSE') return new Error(`${where} is in use by another program: stop it, or set ${setting}`)
  if (code === 'EACCES') return new Error(`this user may not listen on ${where}: set ${setting} to 1024 or above, or allow it`)
  return new Error(`cannot listen on CALLSIGN_HOST=${config.host}: ${(error as Error).message}`)
}

async function main(): Promise<void> {
  const [command = 'serve', ...rest] = process.argv.slice(2)
  if (command === 'serve' && rest.length === 0) return serve(readConfig())
  process.exitCode = await runCommand(command, rest, readConfig, print)
}

try {
  await main()
} catch (error) {
  const isUsage = error instanceof CommandFailed && error.isUsage
  process.stderr.write(`callsignd: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `${usage}\n` : ''}`)
  process.exit(isUsage ? 2 : 1)
}
