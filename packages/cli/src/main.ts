// The command `callsign`: hands the process to the program and leaves with its exit code.
import { setFlagsFromString } from 'node:v8'
import { runProgram } from './program.ts'

const nodeMajor = Number(process.versions.node.split('.', 1)[0])

// What passes through a tunnel is freed by small collections, without a full one for every 32 MB: it counts with the heap, which is small and gets room
// for it. Small collections are done sooner than other threads have been woken up to help.
// V8 of Node 22 and older lacks the first flag and reports an unknown flag on standard error.
if (nodeMajor >= 24)
  for (const flag of ['external-memory-accounted-in-global-limit', 'heap-growing-percent=400', 'no-parallel-scavenge'])
    setFlagsFromString(`--${flag}`)

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const parentLookMs = 250

process.exitCode = await runProgram(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  interruption: () => {
    const controller = new AbortController()
    // Once: whoever interrupts again wants an end at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
    // A signal to npx ends the shell between it and us and does not reach us: what we serve would stay open to the world, with nobody to stop it.
    if (process.env.npm_command === 'exec') {
      const parent = process.ppid
      setInterval(() => process.ppid !== parent && controller.abort(), parentLookMs).unref()
    }
    return controller.signal
  },
})
