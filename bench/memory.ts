// Memory of the server's Node process under mixed load: mail in, sends, lists, single messages, webhooks and a tunnel at once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { ask, makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import { startTunnelClient } from './harness/callsign-tunnel.ts'
import { report } from './harness/goals.ts'
import type { MemoryLine } from './harness/memory-reporter.ts'
import { startMixedLoad } from './harness/mixed-load.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { median, printHead, printTable } from './harness/table.ts'
import { startOrigin } from './harness/tunnel-paths.ts'
import type { ReceiverTold } from './harness/webhook-receiver.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    /** Pause of each client after each answer, which makes an hour fit on a disk. */
    'pause-ms': { type: 'string', default: '20' },
    webhooks: { type: 'string', default: '5' },
    /** A folder for a heap snapshot, taken before the load ends. */
    snapshot: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
  },
})
const minutes = Number(options.minutes)
const agent = 'box'
const reportMs = 1_000
/** Of each ten messages, six have 1 KB, three 10 KB and one 100 KB. */
const sizes = [1, 1, 10, 1, 1, 10, 1, 100, 10, 1].map((kilobytes) => kilobytes * 1000)

const directory = makeDirectory()
const memoryFile = join(directory.path, 'memory')
writeFileSync(memoryFile, '')
const dns = await startDnsServer()
const sender = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(sender.records)) dns.set(name, records)
const messages = await Promise.all(sizes.map((bytes) => sender.sign(textLine, bytes)))
const receiver = fork(join(import.meta.dirname, 'harness', 'webhook-receiver.ts'))
const [{ url: receiverUrl }] = (await once(receiver, 'message')) as [ReceiverTold]
const origin = await startOrigin()
const snapshots = options.snapshot ? ['--heapsnapshot-signal=SIGUSR2', '--diagnostic-dir', options.snapshot] : []
const data = join(directory.path, 'data')
mkdirSync(data)
const server = await startCallsign(data, {
  nodeArguments: ['--import', join(import.meta.dirname, 'harness', 'memory-reporter.ts'), ...snapshots],
  settings: {
    BENCH_MEMORY_FILE: memoryFile,
    BENCH_MEMORY_MS: String(reportMs),
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    CALLSIGN_RATE_LIMIT_TUNNEL: '0',
  },
})

const readMemoryLines = (): MemoryLine[] =>
  readFileSync(memoryFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as MemoryLine)

const fields = ['rss', 'heapTotal', 'heapUsed', 'external', 'arrayBuffers'] as const
const megabytes = (lines: MemoryLine[], field: (typeof fields)[number]): number => median(lines.map((line) => line[field])) / 1024 / 1024

try {
  await ask(server, server.key as string, 'POST', '/api/v1/identities', { agent_handle: agent })
  for (let i = 0; i < Number(options.webhooks); i++)
    await ask(server, server.key as string, 'POST', '/api/v1/webhooks', { url: `${receiverUrl}/hook/${i}`, events: ['email.received'] })
  const tunnel = await startTunnelClient(server, agent, origin.port, directory.path)
  printHead('Memory under mixed load', [
    `${minutes} minutes, clients pause ${options['pause-ms']} ms after each answer. Medians of a minute of the server's Node process, in MB.`,
  ])
  const load = startMixedLoad({
    server,
    agent,
    tunnelHost: `${agent}.tunnel.localhost`,
    messages,
    pauseMs: Number(options['pause-ms']),
  })
  const rows: string[][] = []
  let seen = 0
  let last: MemoryLine[] = []
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(60_000)
    const lines = readMemoryLines()
    last = lines.slice(seen)
    seen = lines.length
    const row = [String(minute), ...fields.map((field) => megabytes(last, field).toFixed(0)), ...Object.values(load.counts).map(String)]
    rows.push(row)
    console.error(row.join('\t'))
  }
  if (options.snapshot) {
    process.kill(server.pid, 'SIGUSR2')
    await sleep(20_000)
  }
  await load.stop()
  await tunnel.stop()
  printTable(['minute', ...fields, ...Object.keys(load.counts)], rows)
  const { node, postgres } = readProcessorSeconds(server.pid)
  console.log(`\nProcessor seconds: ${node.toFixed(0)} in Node, ${postgres.toFixed(0)} in PostgreSQL.`)
  report('memory', megabytes(last, 'rss'))
} finally {
  await server.stop()
  await Promise.all([stopChild(receiver), origin.stop(), dns.stop()])
  directory.remove()
}
