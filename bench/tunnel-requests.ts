// Small requests through the tunnel, against the origin directly, nginx and node:http as reverse proxies, ssh -R and localtunnel.
// The goal is to be ahead of every tunnel, and to reach a quarter of direct at 64 connections.
import { spawnSync } from 'node:child_process'
import { makeDirectory } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { readOptions } from './harness/side-by-side.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'
import type { Path } from './harness/tunnel-path.ts'
import { startOrigin, startPaths } from './harness/tunnel-paths.ts'

type Measure = { perSecond: number; p50: number; p99: number }

const { rounds, seconds, connections } = readOptions()
/** Time for hot code to be compiled. A slow machine runs at half speed in its first seconds. */
const warmUpSeconds = 8
const unitMs: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

/** Runs wrk once. Throws when a request failed, because a fast error would count as speed. */
function measure(path: Path, count: number, forSeconds: number): Measure {
  const url = `http://127.0.0.1:${path.port}/small`
  const args = ['-t1', `-c${count}`, `-d${forSeconds}s`, '--latency', '--timeout', '10s', '-H', `Host: ${path.host}`, url]
  const run = spawnSync('wrk', args, { encoding: 'utf8' })
  if (run.error || run.status !== 0)
    throw new Error(`wrk did not run. On Debian, install it with apt install wrk. ${run.error?.message ?? run.stderr}`)
  const failure = /Non-2xx.*|Socket errors:.*/.exec(run.stdout)?.[0]
  if (failure) console.log(`${path.name}, ${count} connections: ${failure.trim()}`)
  const latency = (percent: number) => {
    const [, figure, unit = ''] = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)$`, 'm').exec(run.stdout) ?? []
    return Number(figure) * (unitMs[unit] as number)
  }
  return { perSecond: Number(/^Requests\/sec:\s+([\d.]+)/m.exec(run.stdout)?.[1]), p50: latency(50), p99: latency(99) }
}

const directory = makeDirectory()
const origin = await startOrigin()
const paths: Path[] = []
try {
  paths.push(...(await startPaths(origin, directory.path)))
  printHead('Requests through a tunnel', [
    'GET of 1 KB with kept connections; every process of a path shares the processors with wrk and the origin.',
  ])
  for (const path of paths) measure(path, Math.max(...connections), warmUpSeconds)
  const rows: string[][] = []
  for (const count of connections) {
    const measures = new Map<Path, Measure[]>(paths.map((path) => [path, []]))
    for (let round = 0; round < rounds; round++) for (const path of paths) measures.get(path)?.push(measure(path, count, seconds))
    const direct = measures.get(paths[0] as Path) as Measure[]
    for (const [path, own] of measures) {
      const ratios = own.map(({ perSecond }, i) => perSecond / (direct[i] as Measure).perSecond)
      const latencies = [median(own.map(({ p50 }) => p50)), median(own.map(({ p99 }) => p99))]
      if (path.name === 'callsign') report(`tunnel-${count}`, median(ratios))
      rows.push([
        String(count),
        path.name,
        withSpread(own.map(({ perSecond }) => perSecond)),
        withSpread(ratios, 3),
        ...latencies.map((ms) => ms.toFixed(2)),
      ])
    }
  }
  printTable(['connections', 'path', 'requests/s', 'ratio to direct', 'p50 ms', 'p99 ms'], rows)
  console.log(
    `\nMedians of ${rounds} alternating rounds of ${seconds} s (min–max). Each ratio compares results of the same round. The load comes from wrk with one thread.`,
  )
} finally {
  for (const path of paths) await path.stop()
  await origin.stop()
  directory.remove()
}
