// Memory at both ends of a tunnel with 1,000 open event streams and 100 stalled downloads, against the same peers.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeDirectory, stopChild } from './harness/callsign-server.ts'
import { readMemory } from './harness/process-tree.ts'
import type { VisitResult, VisitTask } from './harness/public-client.ts'
import { printHead, printTable } from './harness/table.ts'
import type { Path } from './harness/tunnel-path.ts'
import { startOrigin, startPaths } from './harness/tunnel-paths.ts'

const cases = [
  { name: '1,000 event streams', target: '/events', count: 1000, isStalled: false },
  { name: '100 stalled downloads of 50 MB', target: '/download?bytes=50000000', count: 100, isStalled: true },
]
/** Time until windows have filled and garbage of the connecting phase is collected. */
const settleMs = 5000

const megabytes = (pids: number[]): number => pids.reduce((sum, pid) => sum + readMemory(pid).node.rss, 0)

/** Restarts the paths for each case, so that memory of the previous case does not count. */
async function measure(one: (typeof cases)[number], path: Path): Promise<string[]> {
  const publicClient = fork(join(import.meta.dirname, 'harness', 'public-client.ts'))
  try {
    const before = [megabytes(path.gateway), megabytes(path.client)] as const
    const { target, count, isStalled } = one
    publicClient.send({ port: path.port, host: path.host, target, count, isStalled } satisfies VisitTask)
    const [{ begun }] = (await once(publicClient, 'message')) as [VisitResult]
    await delay(settleMs)
    const grown = [megabytes(path.gateway) - before[0], megabytes(path.client) - before[1]] as const
    return [one.name, path.name, `${begun} of ${count}`, grown[0].toFixed(0), path.isTunnel ? grown[1].toFixed(0) : '–']
  } finally {
    await stopChild(publicClient)
  }
}

const directory = makeDirectory()
const origin = await startOrigin()
try {
  printHead('Memory of a tunnel', [
    'Growth of the resident memory of all processes of one end, in MB; every path starts anew for each case.',
  ])
  const rows: string[][] = []
  for (const one of cases) {
    const paths = await startPaths(origin, directory.path)
    try {
      for (const path of paths.slice(1)) rows.push(await measure(one, path))
    } finally {
      for (const path of paths) await path.stop()
    }
  }
  printTable(['case', 'path', 'answers begun', 'gateway MB', 'client MB'], rows)
} finally {
  await origin.stop()
  directory.remove()
}
