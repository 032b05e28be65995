// Runs the command line with its own arguments, environment and standard input. It runs in this process for speed, or in a process of its own where needed.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import { runProgram } from '../src/program.ts'

export type Ran = { code: number | null; out: string; error: string }
export type RunOptions = { input?: string; environment?: Record<string, string> }
export type ProcessOptions = RunOptions & { onOutput?: (output: string, kill: (signal: NodeJS.Signals) => void) => void }

const main = join(import.meta.dirname, '..', 'src', 'main.ts')

/** Commands on a server with a key. `json` runs one that succeeds, and resolves with what it prints. */
export function commandsOn(line: CommandLine, access: () => { baseUrl: string; organizationKey: string }) {
  const run = (...args: string[]) => {
    const { baseUrl, organizationKey } = access()
    return line.run(args, { environment: { CALLSIGN_URL: baseUrl, CALLSIGN_API_KEY: organizationKey } })
  }
  const json = async (...args: string[]) => {
    const ran = await run(...args, '--json')
    expect(ran).toMatchObject({ code: 0, error: '' })
    return JSON.parse(ran.out)
  }
  return { run, json }
}

export type CommandLine = ReturnType<typeof createCommandLine>

/** A folder for files and settings, and the command with only the given environment. */
export function createCommandLine() {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-cli-'))
  const environmentOf = (environment: Record<string, string> = {}) => ({
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    CALLSIGN_CLIENT_DIR: join(folder, 'settings'),
    ...environment,
  })

  /** Runs one command in this process. */
  async function run(args: string[], { input = '', environment }: RunOptions = {}): Promise<Ran> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    stdin.end(input)
    const code = await runProgram(args, { stdin, stdout, stderr, environment: environmentOf(environment) })
    return { code, out: String(stdout.read() ?? ''), error: String(stderr.read() ?? '') }
  }

  /** Runs one command as a process, in the folder. */
  function start(args: string[], { input = '', environment, onOutput }: ProcessOptions = {}): Promise<Ran> {
    const command = ['--disable-warning=ExperimentalWarning', main, ...args]
    const child = spawn(process.execPath, command, { cwd: folder, env: environmentOf(environment) })
    let [out, error] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk
      onOutput?.(out, (signal) => child.kill(signal))
    })
    child.stderr.on('data', (chunk: Buffer) => {
      error += chunk
    })
    // A command that fails at once reads nothing.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, out, error }))
    })
  }

  return { folder, file: (name: string) => join(folder, name), run, start, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
