// Large bodies through the tunnel both ways, against the same peers: on this machine, and with a round trip of 50 ms between the tunnel's ends.
import { spawnSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDirectory } from './stage/callsign-server.ts'
import { median, printHead, printTable, withSpread } from './stage/table.ts'
import type { Path } from './stage/tunnel-path.ts'
import { type Origin, startOrigin, startPaths } from './stage/tunnel-paths.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } }, strict: false })
const rounds = Number(values.rounds)
const megabyte = 1_000_000
const directions = ['down', 'up'] as const

/** Megabytes a second of one transfer by curl. Throws when not all of it arrived. */
function measure(path: Path, direction: (typeof directions)[number], file: string, bytes: number): number {
  const of =
    direction === 'down' ? [`/download?bytes=${bytes}`] : ['/upload', '--upload-file', file, '--request', 'POST', '--header', 'Expect:']
  const [target, ...options] = of as [string, ...string[]]
  const form = `\n%{http_code} %{size_${direction === 'down' ? 'download' : 'upload'}} %{speed_${direction === 'down' ? 'download' : 'upload'}}`
  const output = direction === 'down' ? ['--output', '/dev/null'] : []
  const args = ['--silent', '--max-time', '120', '--header', `Host: ${path.host}`, ...options, ...output, '--write-out', form]
  const run = spawnSync('curl', [...args, `http://127.0.0.1:${path.port}${target}`], { encoding: 'utf8' })
  const [code, size, speed] = (run.stdout.split('\n').at(-1) as string).split(' ').map(Number) as [number, number, number]
  if (code !== 200 || size !== bytes) throw new Error(`${path.name} ${direction}: status ${code}, ${size} of ${bytes} bytes.`)
  if (direction === 'up' && !run.stdout.startsWith(JSON.stringify({ bytes })))
    throw new Error(`${path.name}: the origin got ${run.stdout}.`)
  return speed / megabyte
}

async function compare(origin: Origin, folder: string, delayMs: number, bytes: number): Promise<void> {
  const paths = await startPaths(origin, folder, delayMs)
  try {
    const file = join(folder, 'upload')
    writeFileSync(file, '')
    truncateSync(file, bytes)
    const rows: string[][] = []
    for (const direction of directions) {
      const speeds = new Map<Path, number[]>(paths.map((path) => [path, []]))
      for (const path of paths) measure(path, direction, file, bytes)
      for (let round = 0; round < rounds; round++) for (const path of paths) speeds.get(path)?.push(measure(path, direction, file, bytes))
      const first = median(speeds.get(paths[0] as Path) as number[])
      for (const [path, own] of speeds) rows.push([direction, path.name, withSpread(own, 1), (median(own) / first).toFixed(3)])
    }
    printTable(['direction', 'path', 'MB/s', `ratio to ${(paths[0] as Path).name}`], rows)
  } finally {
    for (const path of paths) await path.stop()
  }
}

const directory = makeDirectory()
const origin = await startOrigin()
try {
  printHead('Transfers through a tunnel', [`One body of 200 MB; medians of ${rounds} rounds in turns after one to warm up, (min–max).`])
  await compare(origin, directory.path, 0, 200 * megabyte)
  printHead('The same with 50 ms', ['One body of 100 MB; a proxy holds what passes between the two ends of a tunnel for 25 ms each way.'])
  await compare(origin, directory.path, 25, 100 * megabyte)
} finally {
  await origin.stop()
  directory.remove()
}
