// Requests through a tunnel, against the target directly, nginx and Node as proxies, and ssh -R. Aims: ahead of ssh, a quarter of direct at 64.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { stopChild } from './stage/callsign-server.ts'
import { readOptions } from './stage/side-by-side.ts'
import { median, printHead, printTable, withSpread } from './stage/table.ts'
import {
  answerBytes,
  makeStage,
  startNginxProxy,
  startNodeProxy,
  startSsh,
  startTarget,
  startTunnel,
  type Way,
} from './stage/tunnel-peers.ts'
import type { VisitorLoad, VisitorResult } from './stage/visitors.ts'

const { rounds, seconds, connections } = readOptions()
const stage = makeStage()
const visitors = fork(join(import.meta.dirname, 'stage', 'visitors.ts'))
const run = async (way: Way, count: number, duration: number): Promise<VisitorResult> => {
  const load: VisitorLoad = { port: way.port, host: way.host, path: '/small', connections: count, seconds: duration, answerBytes }
  visitors.send(load)
  const [result] = (await once(visitors, 'message')) as [VisitorResult]
  if (result.failed > 0) throw new Error(`${way.name}: ${result.failed} requests failed.`)
  return result
}
try {
  const target = stage.keep(await startTarget(stage.folder))
  const ways = [target, stage.keep(await startNginxProxy(stage.folder, target.port)), stage.keep(await startNodeProxy(target.port))]
  const ssh = await startSsh(stage.folder, target.port)
  if (ssh) ways.push(stage.keep(ssh))
  ways.push(stage.keep(await startTunnel(target.port)))
  printHead('Requests through a tunnel', [
    `GET of ${answerBytes} bytes that nginx serves from a file, over kept connections; visitors, gateway, client and target share the machine.`,
  ])
  for (const way of ways) await run(way, Math.max(...connections), 1)
  const rows: string[][] = []
  for (const count of connections) {
    const results = new Map<Way, VisitorResult[]>(ways.map((way) => [way, []]))
    for (let round = 0; round < rounds; round++) for (const way of ways) results.get(way)?.push(await run(way, count, seconds))
    const direct = results.get(target) as VisitorResult[]
    for (const [way, own] of results) {
      const ratios = own.map((one, i) => one.perSecond / (direct[i] as VisitorResult).perSecond)
      rows.push([
        String(count),
        way.name,
        withSpread(own.map((one) => one.perSecond)),
        withSpread(ratios, 2),
        median(own.map((one) => one.p50)).toFixed(2),
        median(own.map((one) => one.p99)).toFixed(2),
      ])
    }
  }
  printTable(['connections', 'way', 'requests/s', 'of direct', 'p50 ms', 'p99 ms'], rows)
  console.log(`\nMedians of ${rounds} rounds of ${seconds} s in turns, (min–max).`)
} finally {
  await stopChild(visitors)
  await stage.stop()
}
