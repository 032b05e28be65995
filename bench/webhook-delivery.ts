// Deliveries per second and latency from commit to receipt, against a plain keep-alive POST loop to the same receiver.
// Also measured beside failing endpoints.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ask, makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import { report } from './harness/goals.ts'
import { messageText } from './harness/messages.ts'
import type { PostLoop } from './harness/post-loop.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'
import type { ReceiverAsk, ReceiverTold } from './harness/webhook-receiver.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    webhooks: { type: 'string', default: '20' },
    messages: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '8' },
    neighbours: { type: 'string', default: '200' },
    /** A folder for a processor profile of the server. */
    profile: { type: 'string' },
  },
})
const [rounds, webhookCount, messages, seconds, neighbours] = [
  options.rounds,
  options.webhooks,
  options.messages,
  options.seconds,
  options.neighbours,
].map(Number) as [number, number, number, number, number]

type Webhook = { id: string }

const receiver = fork(join(import.meta.dirname, 'harness', 'webhook-receiver.ts'))
const [{ url }] = (await once(receiver, 'message')) as [ReceiverTold]
const directory = makeDirectory()
const server = await startCallsign(directory.path, {
  settings: { CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' },
  ...(options.profile ? { nodeArguments: ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] } : {}),
})
const key = server.key as string
const call = <T>(method: string, path: string, body?: unknown): Promise<T> => ask<T>(server, key, method, `/api/v1${path}`, body)

async function tell(question: ReceiverAsk): Promise<ReceiverTold> {
  receiver.send(question)
  return ((await once(receiver, 'message')) as [ReceiverTold])[0]
}

async function waitForCount(count: number, limitMs = 120_000): Promise<ReceiverTold> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const told = await tell('tell')
    if (told.count >= count) return told
    if (performance.now() > deadline) throw new Error(`Only ${told.count} of ${count} deliveries arrived.`)
    await sleep(50)
  }
}

const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

async function subscribe(path: string, more: Record<string, unknown> = {}): Promise<Webhook> {
  return call<Webhook>('POST', '/webhooks', { url: url + path, events: ['email.received'], ...more })
}

type Loop = { perSecond: number; nodeUs: number }

async function measureLoop(body: string, count: number): Promise<Loop> {
  const loop: ChildProcess = fork(join(import.meta.dirname, 'harness', 'post-loop.ts'))
  loop.send({ url: `${url}/plain`, body, connections: 32, count } satisfies PostLoop)
  const [{ perSecond }] = (await once(loop, 'message')) as [{ perSecond: number }]
  const { node } = readProcessorSeconds(loop.pid as number)
  await stopChild(loop)
  return { perSecond, nodeUs: (node * 1e6) / count }
}

try {
  printHead('Webhook delivery', [
    `One server with embedded PostgreSQL, fsync on; one receiver, another process. ${webhookCount} webhooks, ${messages} messages of about 2 KB each.`,
  ])
  for (const agent_handle of ['bench_one', 'bench_two']) await call('POST', '/identities', { agent_handle })
  const since = new Date(Date.now() - 1000).toISOString()
  for (let i = 0; i < messages; i++)
    await call('POST', '/mail/send', {
      agent: 'bench_one',
      to: ['bench_two@agents.localhost'],
      subject: `Letter ${i}`,
      text: messageText(i),
    })
  const type = 'types=email.received'
  const waitForEvents = async () => {
    let [count, cursor] = [0, '']
    while (count < messages) {
      const { data } = await call<{ data: { id: string }[] }>('GET', `/events?${type}&limit=100${cursor && `&cursor=${cursor}`}`)
      count += data.length
      cursor = data.at(-1)?.id ?? cursor
      if (data.length === 0) await sleep(50)
    }
  }
  await waitForEvents()
  const webhooks: Webhook[] = []
  for (let i = 0; i < webhookCount; i++) webhooks.push(await subscribe(`/hook/${i}`))
  const [sample] = (await call<{ data: unknown[] }>('GET', `/events?${type}&limit=1`)).data
  const body = JSON.stringify(sample)
  const total = webhookCount * messages
  const own: number[] = []
  const limit: Loop[] = []
  const spent: { node: number; postgres: number }[] = []
  await measureLoop(body, 5000)
  for (let round = 0; round <= rounds; round++) {
    const loop = await measureLoop(body, total)
    for (const { id } of webhooks) await call('PATCH', `/webhooks/${id}`, { status: 'paused' })
    for (const { id } of webhooks) await call('POST', `/webhooks/${id}/replay`, { since })
    await tell('reset')
    const before = readProcessorSeconds(server.pid)
    for (const { id } of webhooks) await call('PATCH', `/webhooks/${id}`, { status: 'active' })
    const told = await waitForCount(total)
    await sleep(100)
    const after = readProcessorSeconds(server.pid)
    // The first round warms both up.
    if (round === 0) continue
    limit.push(loop)
    spent.push({ node: ((after.node - before.node) * 1e6) / total, postgres: ((after.postgres - before.postgres) * 1e6) / total })
    own.push((total * 1000) / (told.lastMs - told.firstMs))
  }
  const loopRow = [limit.map((one) => one.perSecond), limit.map((one) => one.nodeUs)] as const
  printTable(
    ['sender', 'posts/s', 'ratio', 'CPU µs/post node', 'postgres'],
    [
      ['plain keep-alive loop, 32 connections', withSpread(loopRow[0]), '1', withSpread(loopRow[1]), '–'],
      [
        'callsign',
        withSpread(own),
        withSpread(
          own.map((one, i) => one / (limit[i] as Loop).perSecond),
          2,
        ),
        withSpread(spent.map((one) => one.node)),
        withSpread(spent.map((one) => one.postgres)),
      ],
    ],
  )

  report('webhooks', median(own.map((one, i) => one / (limit[i] as Loop).perSecond)))
  const tenth = Math.min(...own) / 10
  const rows: string[][] = []
  const addRow = (name: string, latencies: number[]) =>
    rows.push([name, String(latencies.length), ...[0.5, 0.99, 1].map((share) => String(percentile(latencies, share)))])
  const pace = tenth / webhookCount
  addRow(`a tenth of that: ${pace.toFixed(1)} messages/s to ${webhookCount} webhooks`, await measureFanOut(pace, webhookCount))

  if (neighbours > 0) {
    for (const { id } of webhooks) await call('DELETE', `/webhooks/${id}`)
    // The same posts a second, over many endpoints.
    const slower = Math.max(1, tenth / (neighbours * 0.75))
    const good: Webhook[] = []
    for (let i = 0; i < neighbours * 0.75; i++) good.push(await subscribe(`/good/${i}`))
    const withGood = await measureFanOut(slower, good.length)
    addRow(`${good.length} endpoints, ${slower.toFixed(1)} messages/s`, withGood)
    for (let i = 0; i < neighbours * 0.25; i++) await subscribe(`/hang/${i}`)
    const withBad = await measureFanOut(slower, good.length)
    addRow(`the same with ${neighbours * 0.25} that hang for 15 s`, withBad)
  }
  console.log('')
  printTable(['load', 'posts', 'p50 ms', 'p99 ms', 'max ms'], rows)
  console.log(
    "\nLatency runs from the timestamp of the event, taken before its commit, to the last byte at the receiver. Both use this machine's clock.",
  )
} finally {
  await server.stop()
  await stopChild(receiver)
  directory.remove()
}

async function measureFanOut(pace: number, endpoints: number): Promise<number[]> {
  await tell('reset')
  const count = Math.max(10, Math.round(pace * seconds))
  for (let i = 0; i < count; i++) {
    const startedMs = performance.now()
    await call('POST', '/mail/send', { agent: 'bench_one', to: ['bench_two@agents.localhost'], subject: `Fan ${i}`, text: messageText(i) })
    await sleep(Math.max(0, 1000 / pace - (performance.now() - startedMs)))
  }
  return (await waitForCount(count * endpoints)).latenciesMs.sort((a, b) => a - b)
}
