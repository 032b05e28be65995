// Kills the server under load and counts webhooks. None may be lost or stuck, and a repeated one has the same webhook-id. Takes --kills N and --seed
// N.
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { createApiClient, Unanswered } from '../crash/api-client.ts'
import { createRandom } from '../crash/random.ts'
import { createServerProcess } from '../crash/server-process.ts'
import { type Reader, startReader } from './reader.ts'
import { startPostReceiver } from './receiver.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    senders: { type: 'string', default: '4' },
  },
})
const [killsWanted, seed, senderCount] = [Number(values.kills), Number(values.seed), Number(values.senders)]
/** A mail job that met many kills waits up to 5 minutes for its next run. */
const drainMsMax = 420_000
const progressMsMax = 4_000
const types = 'email.received,email.sent,email.delivered'

const random = createRandom(seed)
const problems: string[] = []
const report = (problem: string) => void problems.push(problem)
const receiver = await startPostReceiver(createRandom(seed + 1), report)
const apiKey = generateKey()
const server = await createServerProcess({
  relayPort: 9,
  bootstrapKey: apiKey,
  settings: {
    CALLSIGN_MAIL_TRANSPORT: 'simulator',
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    CALLSIGN_WEBHOOK_RETRY_SECONDS: Array.from({ length: 60 }, (_, index) => (index < 5 ? '0.1' : '1')).join(','),
    CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY: '0',
  },
})
const client = createApiClient(server.httpPort)

/** Retries until it is answered. The request carries an idempotency key, so repeating it is safe. */
async function insist<T>(path: string, body: unknown, idempotencyKey: string): Promise<T> {
  for (;;) {
    try {
      const answer = await client.call({ method: 'POST', path: `/api/v1${path}`, apiKey, body, idempotencyKey })
      if (answer.status === 200 || answer.status === 201) return JSON.parse(answer.body.toString()) as T
      if (answer.status !== 503 && answer.status !== 409) throw new Error(`POST ${path} was answered ${answer.status}: ${answer.body}`)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
    await delay(20)
  }
}

type Accepted = { id: string; subject: string }
const accepted: Accepted[] = []
let isStopping = false

async function send(name: string): Promise<void> {
  for (let number = 1; !isStopping; number++) {
    const subject = `${name}-${number}`
    const body = { agent: 'crash_one', to: ['crash_two@agents.localhost'], subject, text: `Message ${subject}` }
    const { id } = await insist<{ id: string }>('/mail/send', body, subject)
    accepted.push({ id, subject })
  }
}

type Page = { data: { id: string; type: string; data: { id: string; subject: string } }[] }
async function listEvents(): Promise<Page['data']> {
  const all: Page['data'] = []
  for (let cursor = ''; ; ) {
    const { data } = await client.get<Page>(`/api/v1/events?limit=100&types=${types}${cursor && `&cursor=${cursor}`}`, apiKey)
    if (data.length === 0) return all
    all.push(...data)
    cursor = data.at(-1)?.id as string
  }
}

async function countPending(webhookId: string): Promise<number> {
  const { data } = await client.get<{ data: unknown[] }>(`/api/v1/webhooks/${webhookId}/deliveries?status=pending&limit=100`, apiKey)
  return data.length
}

const kills = { server: 0, postgres: 0, both: 0, metPosts: 0, metPending: 0 }
let reader: Reader | null = null
try {
  await server.start()
  for (const agent_handle of ['crash_one', 'crash_two']) await insist('/identities', { agent_handle }, agent_handle)
  const webhook = await insist<{ id: string; secret: string }>('/webhooks', { url: receiver.url, events: types.split(',') }, 'webhook')
  receiver.setSecret(webhook.secret)
  await insist('/mail/send', { agent: 'crash_one', to: ['x@example.com'], subject: 'first', text: 'first' }, 'first')
  while (receiver.posted.size === 0) await delay(20)
  const [first] = await listEvents()
  reader = startReader({ port: server.httpPort, apiKey, after: first?.id as string, types })
  const senders = Array.from({ length: senderCount }, (_, i) => send(`sender-${i}`))

  for (let kill = 1; kill <= killsWanted; kill++) {
    // Waits for some progress, because a kill of an idle server proves nothing.
    const wanted = accepted.length + random.whole(2, 12)
    const untilMs = performance.now() + progressMsMax
    while (accepted.length < wanted && performance.now() < untilMs) await delay(5)
    await delay(random.whole(0, 250))
    const victim = random.pick(['server', 'server', 'server', 'both', 'postgres'] as const)
    kills[victim]++
    if (receiver.inFlight() > 0) kills.metPosts++
    const waiting = accepted.some(
      ({ subject }) => ![...receiver.posted.values()].some((one) => one.subject === subject && one.type === 'email.received'),
    )
    if (waiting) kills.metPending++
    await server.kill(victim)
    if (victim === 'postgres') await server.whenReady()
    else await server.start()
    if (kill % 10 === 0) console.log(`${kill} kills, ${accepted.length} messages accepted, ${receiver.posted.size} events received`)
  }
  isStopping = true
  await Promise.all(senders)
  const drainFromMs = performance.now()

  const subjects = () =>
    new Set([...receiver.posted.values()].filter((one) => one.type === 'email.received' && one.taken > 0).map((one) => one.subject))
  for (;;) {
    const seen = subjects()
    const isDone = accepted.every(({ subject }) => seen.has(subject)) && (await countPending(webhook.id)) === 0
    if (isDone || performance.now() - drainFromMs > drainMsMax) break
    await delay(250)
  }
  const drainMs = performance.now() - drainFromMs

  const events = await listEvents()
  const pending = await countPending(webhook.id)
  if (pending > 0) report(`${pending} deliveries are stuck`)
  const { data: dead } = await client.get<{ data: unknown[] }>(`/api/v1/webhooks/${webhook.id}/deliveries?status=failed&limit=100`, apiKey)
  if (dead.length > 0) report(`${dead.length} deliveries are dead letters`)
  for (const event of events) {
    const one = receiver.posted.get(event.id)
    if (!one) report(`event ${event.id} (${event.type}, ${event.data.subject}) never came`)
    else if (one.taken === 0) report(`event ${event.id} was never taken`)
    else if (one.hashes.size > 1) report(`event ${event.id} came with ${one.hashes.size} different bodies`)
  }
  const known = new Set(events.map((event) => event.id))
  for (const id of receiver.posted.keys()) if (!known.has(id)) report(`webhook-id ${id} is no event of the list`)
  for (const { id, subject } of accepted) {
    const own = events.filter((event) => event.data.subject === subject).map((event) => event.type)
    if (own.sort().join() !== 'email.delivered,email.received,email.sent') report(`message ${id} (${subject}) has the events ${own}`)
  }
  const after = events.map((event) => event.id).slice(1)
  while (reader.ids.length < after.length && performance.now() - drainFromMs < drainMsMax) await delay(50)
  await reader.stop()
  if (reader.ids.join() !== after.join()) {
    const [read, wanted] = [new Set(reader.ids), new Set(after)]
    report(
      `the stream gave ${reader.ids.length} events (${read.size} different), ${after.length} wanted; ${[...wanted].filter((id) => !read.has(id)).length} missing`,
    )
  }

  const posts = [...receiver.posted.values()]
  const again = posts.filter((one) => one.taken > 1)
  const rows: Record<string, string | number> = {
    seed,
    kills: `${killsWanted}: ${kills.server} server, ${kills.postgres} postgres, ${kills.both} both; ${kills.metPosts} met a post under way, ${kills.metPending} an undelivered event`,
    messages: `${accepted.length} accepted by ${senderCount} senders`,
    events: `${events.length}, all received and taken`,
    posts: `${posts.reduce((sum, one) => sum + one.posts, 0)}; ${again.length} events taken more than once, all with their own webhook-id and the same bytes`,
    stream: `${reader.ids.length} events over ${reader.connections()} connections, in the order of the list`,
    drained: `${drainMs.toFixed(0)} ms after the last message`,
    problems: problems.length,
  }
  if (problems.length > 0) rows.events = `${events.length}`
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(10)}${value}`)
} catch (error) {
  report(`the run broke off: ${(error as Error).stack}`)
} finally {
  for (const problem of problems.slice(0, 40)) console.log(`  PROBLEM ${problem}`)
  for (const line of problems.length > 0 ? server.lines.slice(-30) : []) console.log(`  server: ${line.slice(0, 300)}`)
  process.exitCode = problems.length > 0 ? 1 : 0
  await reader?.stop()
  client.close()
  receiver.stop()
  await server.destroy()
}
