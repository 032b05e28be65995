// Measures several servers under the same load in one run. Rounds alternate, so that changes in the machine's speed affect all servers.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BareRoute } from './bare-server.ts'
import { stopChild } from './callsign-server.ts'
import type { Load, LoadResult } from './load-generator.ts'
import { readProcessorSeconds } from './process-tree.ts'
import { median, printTable, withSpread } from './table.ts'

/** One server under test. The first of a list is the peer that the others are compared with. */
export type Variant = {
  name: string
  pid: number
  /** The process whose child the PostgreSQL is that it uses, when that is another. */
  databasePid?: number
  request: Omit<Load, 'connections' | 'seconds'>
  /** Waits until the work of the load has ended, so that it does not slow the next one. */
  waitForRest?: () => Promise<void>
}

type Measure = { perSecond: number; p99: number; nodeUs: number; postgresUs: number }

export function readOptions(): { rounds: number; seconds: number; connections: number[] } {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '1,16,64' },
    },
  })
  return { rounds: Number(values.rounds), seconds: Number(values.seconds), connections: values.connections.split(',').map(Number) }
}

/** Starts a bare server, which `stop` ends. */
export async function startBare(route: BareRoute): Promise<{ url: string; pid: number; stop: () => Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'bare-server.ts'))
  child.send(route)
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return { url, pid: child.pid as number, stop: () => stopChild(child) }
}

const warmUpSeconds = 2

/** A variant's median ratio to the first one, at a number of connections. */
export type Ratio = { connections: number; ratio: number }

/**
 * Runs every variant at every number of connections, prints the table of it, and returns the ratios by name. Throws when a request failed.
 */
export async function compare(variants: Variant[]): Promise<Map<string, Ratio[]>> {
  const { rounds, seconds, connections } = readOptions()
  const generator = fork(join(import.meta.dirname, 'load-generator.ts'))
  const rows: string[][] = []
  const found = new Map<string, Ratio[]>(variants.map(({ name }) => [name, []]))
  try {
    for (const variant of variants) await run(generator, variant, Math.max(...connections), warmUpSeconds)
    for (const count of connections) {
      const measures = new Map<Variant, Measure[]>(variants.map((variant) => [variant, []]))
      for (let round = 0; round < rounds; round++) {
        for (const variant of variants) measures.get(variant)?.push(await run(generator, variant, count, seconds))
      }
      const peer = measures.get(variants[0] as Variant) as Measure[]
      for (const [variant, own] of measures) {
        rows.push(toRow(count, variant.name, own, peer))
        found.get(variant.name)?.push({ connections: count, ratio: median(ratiosOf(own, peer)) })
      }
    }
  } finally {
    await stopChild(generator)
  }
  printTable(['connections', 'server', 'requests/s', 'ratio', 'mean ms', 'p99 ms', 'CPU µs/request node', 'postgres'], rows)
  console.log(
    `\nMedians of ${rounds} alternating rounds of ${seconds} s (min–max). Each ratio compares results of the same round. The load comes from autocannon in another process.`,
  )
  return found
}

const readSpent = (variant: Variant) => ({
  node: readProcessorSeconds(variant.pid).node,
  postgres: readProcessorSeconds(variant.databasePid ?? variant.pid).postgres,
})

async function run(generator: ChildProcess, variant: Variant, connections: number, seconds: number): Promise<Measure> {
  const before = readSpent(variant)
  generator.send({ ...variant.request, connections, seconds } satisfies Load)
  const [result] = (await once(generator, 'message')) as [LoadResult]
  await variant.waitForRest?.()
  const after = readSpent(variant)
  if (result.failed > 0) throw new Error(`${variant.name}: ${result.failed} of ${result.requests} requests failed.`)
  const perRequestUs = (spent: number) => (spent * 1e6) / result.requests
  return {
    perSecond: result.requests / result.seconds,
    p99: result.p99,
    nodeUs: perRequestUs(after.node - before.node),
    postgresUs: perRequestUs(after.postgres - before.postgres),
  }
}

/** The ratios of results of the same round. */
const ratiosOf = (own: Measure[], peer: Measure[]): number[] => own.map((measure, i) => measure.perSecond / (peer[i] as Measure).perSecond)

function toRow(connections: number, name: string, own: Measure[], peer: Measure[]): string[] {
  const of = (field: keyof Measure) => own.map((measure) => measure[field])
  return [
    String(connections),
    name,
    withSpread(of('perSecond')),
    own === peer ? '1' : withSpread(ratiosOf(own, peer), 2),
    // Exact in a closed loop, where autocannon's own times are whole milliseconds.
    ((connections * 1000) / median(of('perSecond'))).toFixed(2),
    String(median(of('p99'))),
    median(of('nodeUs')).toFixed(0),
    median(of('postgresUs')).toFixed(0),
  ]
}
