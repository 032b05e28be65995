// Startup time and idle memory. Measures first and later starts, against bare Fastify in Node and against PostgreSQL alone.
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../packages/server/src/core/log.ts'
import { startEmbedded } from '../packages/server/src/edges/postgres/embedded/supervisor.ts'
import { makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import { readMemory } from './harness/process-tree.ts'
import { readOptions } from './harness/side-by-side.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

/** Memory is read after the server has been idle for a moment, so that memory used only by the start is released. */
const restMs = 2000

type Memory = ReturnType<typeof readMemory>

const { rounds } = readOptions()
const times: Record<string, number[]> = {}
const memories: Record<string, Memory[]> = {}
const note = (name: string, ms: number) => {
  times[name] ??= []
  times[name].push(ms)
}
const noteMemory = async (name: string, pid: number) => {
  await sleep(restMs)
  memories[name] ??= []
  memories[name].push(readMemory(pid))
}

/** Starts a program and measures until it ends, or until it prints `ready`. */
async function startNode(args: string[], isServer: boolean): Promise<{ child: ChildProcess; ms: number }> {
  const beganMs = performance.now()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve) => {
    if (isServer) createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', () => resolve())
    else child.once('exit', () => resolve())
  })
  return { child, ms: performance.now() - beganMs }
}

/** Starts PostgreSQL alone, supervised by this process. Creates its files when they are missing, and waits until it takes connections. */
async function startPostgres(dataDir: string): Promise<{ pid: number; ms: number; stop: () => Promise<void> }> {
  const beganMs = performance.now()
  const postgres = await startEmbedded({ dataDir, log: createLog('silent') })
  return { pid: postgres.pid(), ms: performance.now() - beganMs, stop: postgres.stop }
}

const names = {
  node: 'node -e 0',
  fastify: 'bare Fastify',
  postgresFirst: 'PostgreSQL alone, first start',
  postgres: 'PostgreSQL alone, later start',
  first: 'callsign, first start',
  later: 'callsign, later start',
}

for (let round = 0; round < rounds; round++) {
  note(names.node, (await startNode(['-e', '0'], false)).ms)
  const fastify = await startNode([join(import.meta.dirname, 'harness', 'bare-server.ts')], true)
  note(names.fastify, fastify.ms)
  await noteMemory(names.fastify, fastify.child.pid as number)
  await stopChild(fastify.child)

  const directory = makeDirectory()
  try {
    for (const [postgresName, callsignName] of [
      [names.postgresFirst, names.first],
      [names.postgres, names.later],
    ] as const) {
      const postgres = await startPostgres(join(directory.path, 'postgres-alone'))
      note(postgresName, postgres.ms)
      await noteMemory(postgresName, postgres.pid)
      await postgres.stop()
      const server = await startCallsign(join(directory.path, 'callsign'))
      note(callsignName, server.startMs)
      await noteMemory(callsignName, server.pid)
      await server.stop()
    }
  } finally {
    rmSync(directory.path, { recursive: true, force: true })
  }
}

printHead('Start and memory at rest', [
  'From spawning the process until it is ready (Callsign: tables made and every listener open; a later start follows a clean stop).',
  'The least that a start can take: bare Fastify in Node, and PostgreSQL with the same settings and files, one after the other.',
])
const limits = { [names.first]: names.postgresFirst, [names.later]: names.postgres }
const rows = Object.entries(times).map(([name, own]) => {
  const limit = limits[name]
  const ratios = limit ? own.map((ms, i) => ms / ((times[limit]?.[i] as number) + (times[names.fastify]?.[i] as number))) : null
  const memory = memories[name]
  const of = (field: 'rss' | 'pss', part: 'node' | 'postgres') =>
    memory && (memory[0] as Memory)[part].processes > 0 ? median(memory.map((one) => one[part][field])).toFixed(0) : '–'
  return [
    name,
    withSpread(own),
    ratios ? withSpread(ratios, 2) : '–',
    of('rss', 'node'),
    of('pss', 'node'),
    of('rss', 'postgres'),
    of('pss', 'postgres'),
    memory ? String((memory[0] as Memory).postgres.processes || '–') : '–',
  ]
})
const headings = ['started', 'ms', 'ratio to both limits', 'node RSS MB', 'PSS', 'postgres RSS MB', 'PSS', 'processes']
printTable(headings, rows)
console.log(
  `\nMedians of ${rounds} rounds (min–max). PSS divides memory that PostgreSQL processes share among them. RSS counts it in each process.`,
)
process.exit()
