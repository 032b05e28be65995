// The command `callsign` runs the program in this process and exits with its code.
import { setFlagsFromString } from 'node:v8'
import { runProgram } from './program.ts'

const nodeMajor = Number(process.versions.node.split('.', 1)[0])

// Buffers passed through a tunnel count with the heap, so small collections free them without a full one for every 32 MB. The heap is small and
// gets room for them. A small collection ends sooner than it takes to wake other threads to help.
// V8 of Node 22 and older lacks the first flag and reports an unknown flag on standard error.
if (nodeMajor >= 24)
  for (const flag of ['external-memory-accounted-in-global-limit', 'heap-growing-percent=400', 'no-parallel-scavenge'])
    setFlagsFromString(`--${flag}`)

// A reader that closes early, such as head, does not cause an error.
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
    // Handled once, because a second interrupt asks for an immediate end.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
    // A signal to npx ends the shell between it and this process and does not arrive here. The target would stay public, and the user could not stop it.
    if (process.env.npm_command === 'exec') {
      const parent = process.ppid
      setInterval(() => process.ppid !== parent && controller.abort(), parentLookMs).unref()
    }
    return controller.signal
  },
})
