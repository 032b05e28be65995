// Large bodies through the tunnel in both directions, against the same peers.
// Measured on this machine, and with a round trip of 50 ms between the tunnel's ends.
import { spawnSync } from 'node:child_process'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDirectory } from './harness/callsign-server.ts'
import { here, type RemoteHost, startRemoteHost } from './harness/remote-host.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'
import type { Path } from './harness/tunnel-path.ts'
import { startOrigin, startPaths } from './harness/tunnel-paths.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } }, strict: false })
const rounds = Number(values.rounds)
const megabyte = 1_000_000
const oneWayMs = 25
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
  if (code !== 200 || size !== bytes) throw new Error(`${path.name} ${direction} returned status ${code} and ${size} of ${bytes} bytes.`)
  if (direction === 'up' && !run.stdout.startsWith(JSON.stringify({ bytes })))
    throw new Error(`The origin behind ${path.name} received ${run.stdout}.`)
  return speed / megabyte
}

/** The kernel's TCP congestion control algorithm. */
const congestionControl = (): string => readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim()

async function compare(remote: RemoteHost, folder: string, bytes: number): Promise<void> {
  const origin = await startOrigin(remote)
  const paths: Path[] = []
  try {
    paths.push(...(await startPaths(origin, folder, remote)))
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
    await origin.stop()
  }
}

const directory = makeDirectory()
try {
  printHead('Transfers through a tunnel', [`One body of 200 MB; medians of ${rounds} rounds in turns after one to warm up, (min–max).`])
  await compare(here, directory.path, 200 * megabyte)
  const remote = await startRemoteHost(oneWayMs)
  if (typeof remote === 'string') console.log(`\nleft out: ${remote}`)
  else {
    const link = `client and origin are in a network namespace behind a link that takes ${oneWayMs} ms each way`
    printHead('The same with 50 ms', [`One body of 100 MB; ${link}. Congestion control: ${congestionControl()}.`])
    try {
      await compare(remote, directory.path, 100 * megabyte)
    } finally {
      await remote.stop()
    }
  }
} finally {
  directory.remove()
}
