// An installation of 1 million messages and one of 20 million, in mailboxes of 2000 and in one: arrival, reads, retention, vacuum and an index.
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { createLog } from '../packages/server/src/core/log.ts'
import { connect } from '../packages/server/src/edges/postgres/connect.ts'
import { cutsFor } from '../packages/server/src/edges/postgres/partition-plan.ts'
import { createPartitions } from '../packages/server/src/edges/postgres/partitions.ts'
import { ask, type CallsignServer, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { fillInstallation, firstOfThread, idOf, type Shape } from './harness/large-installation.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { measureLatency } from './harness/smtp-latency.ts'
import { median, printHead, printTable, withSpread } from './harness/table.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000,20000000' },
    /** Messages per mailbox, or all. */
    mailboxes: { type: 'string', default: '2000,all' },
    days: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '40' },
  },
  allowPositionals: true,
  strict: false,
})
const numbersOf = (text: unknown): number[] => String(text).split(',').map(Number)
const sizes = numbersOf(values.rows)
const days = Number(values.days)
const rounds = Number(values.rounds)
const requests = Number(values.requests)
/** Messages that retention deletes, the oldest. */
const expired = 2_000
const dayMs = 86_400_000

type Server = CallsignServer & { key: string }
/** Milliseconds of each round, and processor milliseconds per request. */
type Figure = { tookMs: number[]; processorMs: number }
type Figures = Map<string, Figure>

const processorMsOf = (server: Server): number => {
  const { node, postgres } = readProcessorSeconds(server.pid)
  return (node + postgres) * 1000
}

async function createAgents(server: Server, handles: string[]): Promise<void> {
  const together = 32
  for (let start = 0; start < handles.length; start += together)
    await Promise.all(
      handles.slice(start, start + together).map((agent_handle) => ask(server, server.key, 'POST', '/api/v1/identities', { agent_handle })),
    )
}

/** Paths by the name of the request, each path for a message or mailbox at random. */
function pathsOf({ handles, size, ...times }: Shape): Record<string, () => string> {
  const any = () => {
    const n = randomInt(expired * 2, size)
    return {
      mailbox: `/api/v1/mailboxes/${handles[n % handles.length]}`,
      id: idOf(n, times),
      thread: idOf(firstOfThread(n, handles.length), times).replace('msg_', 'thrd_'),
    }
  }
  const search = (words: string) => () => `${any().mailbox}/search?limit=10&q=${words}`
  return {
    'list, newest 50': () => `${any().mailbox}/messages?limit=50`,
    'list, a page anywhere': () => {
      const { mailbox, id } = any()
      return `${mailbox}/messages?limit=50&cursor=${id}`
    },
    'list, all mailboxes, a page anywhere': () => `/api/v1/mail/messages?limit=50&cursor=${any().id}`,
    'list of threads, newest 50': () => `${any().mailbox}/threads?limit=50`,
    message: () => {
      const { mailbox, id } = any()
      return `${mailbox}/messages/${id}`
    },
    thread: () => `/api/v1/threads/${any().thread}`,
    'search, word of one in 100': search('zeppelin'),
    'search, word of one in 1000': search('marzipan'),
    'search, word of 20 in all': search('quicksilver'),
    'search, no such word': search('nowhere'),
  }
}

async function measureReads(server: Server, shape: Shape, figures: Figures): Promise<void> {
  for (const [name, path] of Object.entries(pathsOf(shape))) {
    const tookMs: number[] = []
    let processorMs = 0
    // The first round warms the caches.
    for (let round = -1; round < rounds; round++) {
      const times: number[] = []
      const beforeMs = processorMsOf(server)
      for (let i = 0; i < requests; i++) {
        const asked = path()
        const beganMs = performance.now()
        await ask(server, server.key, 'GET', asked)
        times.push(performance.now() - beganMs)
      }
      if (round < 0) continue
      tookMs.push(median(times))
      processorMs += processorMsOf(server) - beforeMs
    }
    figures.set(name, { tookMs, processorMs: processorMs / (rounds * requests) })
  }
}

/** Mail of 1 KB to mailboxes at random, one message after another. */
async function measureArrival(server: Server, { handles }: Shape, message: Buffer, figures: Figures): Promise<void> {
  const tookMs: number[] = []
  let processorMs = 0
  for (let round = -1; round < rounds; round++) {
    const times: number[] = []
    const beforeMs = processorMsOf(server)
    for (let i = 0; i < requests / 2; i++) {
      const to = `${handles[randomInt(handles.length)]}@agents.localhost`
      times.push(...(await measureLatency(server.smtpPort as number, 'ada@sender.example', to, message, 5)))
    }
    if (round < 0) continue
    tookMs.push(median(times))
    processorMs += processorMsOf(server) - beforeMs
  }
  figures.set('arrival, final dot to 250', { tookMs, processorMs: processorMs / (rounds * (requests / 2) * 5) })
}

/** Runs `work` on a connection to the embedded database of a running server. */
async function withDatabase<T>(dataDir: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ host: join(dataDir, 'postgres'), user: 'callsign', database: 'callsign' })
  await db.connect()
  try {
    await db.query('SET statement_timeout = 0')
    return await work(db)
  } finally {
    await db.end()
  }
}

/** Retention runs at the start of a server. The messages before the first kept one are deleted. */
async function measureRetention(server: Server, db: pg.Client, shape: Shape, figures: Figures): Promise<void> {
  const beganMs = performance.now()
  const beforeMs = processorMsOf(server)
  const kept = idOf(expired, shape)
  while ((await db.query('SELECT 1 FROM messages WHERE id < $1 LIMIT 1', [kept])).rows.length > 0) await sleep(20)
  figures.set('retention, per message', {
    tookMs: [(performance.now() - beganMs) / expired],
    processorMs: (processorMsOf(server) - beforeMs) / expired,
  })
}

/** One partition at a time, as autovacuum does. */
async function measureMaintenance(server: Server, db: pg.Client, figures: Figures): Promise<void> {
  const partition = async (parent: string, order: string) =>
    (
      await db.query<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY pg_relation_size(inhrelid) > 0 DESC, inhrelid ${order} LIMIT 1`,
        [parent],
      )
    ).rows[0]?.name
  for (const [name, text] of [
    [`vacuum of a partition after ${expired} deletions`, `VACUUM ${await partition('messages', 'ASC')}`],
    ['index of a partition, built again', `REINDEX INDEX ${await partition('messages_newest', 'DESC')}`],
  ] as const) {
    const beganMs = performance.now()
    const beforeMs = processorMsOf(server)
    await db.query(text)
    figures.set(name, { tookMs: [performance.now() - beganMs], processorMs: processorMsOf(server) - beforeMs })
  }
}

/** Cuts the tables at the times at which a server that had received these messages would have. */
async function dividePartitions(dataDir: string, { size, originMs }: Shape): Promise<void> {
  const log = createLog('warn')
  const database = connect({ host: join(dataDir, 'postgres'), port: 5432, user: 'callsign', database: 'callsign' }, { poolSize: 1, log })
  try {
    await createPartitions(database, log).divide(cutsFor(size, originMs, Date.now()))
  } finally {
    await database.close()
  }
}

type Settings = Record<string, string>
type Installation = { path: string; remove: () => void; shape: Shape; key: string }

/** Fills an installation and stops it. */
async function fill(size: number, mailboxes: number, settings: Settings): Promise<Installation> {
  const directory = makeDirectory()
  const handles = Array.from({ length: mailboxes }, (_, number) => `box_${number}`)
  // `expired` messages are older than `days`, and a few more by the time of the run.
  const apartMs = Math.floor((days * dayMs) / size)
  const shape = { handles, size, originMs: Date.now() - days * dayMs - expired * apartMs, apartMs }
  const server = (await startCallsign(directory.path, { settings })) as Server
  try {
    await createAgents(server, handles)
    const beganMs = performance.now()
    await dividePartitions(directory.path, shape)
    const filled = await withDatabase(directory.path, async (db) => {
      await fillInstallation(db, shape)
      const sizes = `(pg_database_size('callsign') / 1e6)::int AS megabytes, (SELECT count(*) FROM pg_inherits WHERE inhparent = 'messages'::regclass) AS partitions`
      return (await db.query<{ megabytes: number; partitions: string }>(`SELECT ${sizes}`)).rows[0]
    })
    const seconds = Math.round((performance.now() - beganMs) / 1000)
    console.log(
      `${size} messages in ${mailboxes} mailboxes: loaded in ${seconds} s, ${filled?.megabytes} MB, messages in ${filled?.partitions} partitions.`,
    )
    return { ...directory, shape, key: server.key }
  } finally {
    await server.stop()
  }
}

async function measure({ path, shape, key }: Installation, settings: Settings, message: Buffer): Promise<Figures> {
  const figures: Figures = new Map()
  let server: Server = { ...(await startCallsign(path, { settings })), key }
  try {
    await measureArrival(server, shape, message, figures)
    await measureReads(server, shape, figures)
    await ask(server, key, 'PATCH', '/api/v1/organization', { retention: { messages_days: days } })
    await server.stop()
    server = { ...(await startCallsign(path, { settings })), key }
    await withDatabase(path, async (db) => {
      await measureRetention(server, db, shape, figures)
      await measureMaintenance(server, db, figures)
    })
    return figures
  } finally {
    await server.stop()
  }
}

/** Fills an installation of each size, and then measures each, so that the measurements are close in time. */
async function compare(mailboxesOf: (size: number) => number, settings: Settings, message: Buffer): Promise<Figures[]> {
  const installations: Installation[] = []
  const measured: Figures[] = []
  try {
    for (const size of sizes) installations.push(await fill(size, mailboxesOf(size), settings))
    for (const one of installations) measured.push(await measure(one, settings, message))
    return measured
  } finally {
    for (const { remove } of installations) remove()
  }
}

/** Rows of the table: each request with its times and processor times per size, and their growth from the first size to the last. */
function toRows(measured: Figures[]): string[][] {
  const growth = (values: number[]): string => `${((values.at(-1) as number) / (values[0] as number)).toFixed(2)}x`
  return [...(measured[0] as Figures).keys()].map((name) => {
    const each = measured.map((figures) => figures.get(name) as Figure)
    return [
      name,
      ...each.map(({ tookMs }) => withSpread(tookMs, 2)),
      growth(each.map(({ tookMs }) => median(tookMs))),
      ...each.map(({ processorMs }) => processorMs.toFixed(2)),
      growth(each.map(({ processorMs }) => processorMs)),
    ]
  })
}

const dns = await startDnsServer()
const sender = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(sender.records)) dns.set(name, records)
const message = await sender.sign(textLine, 1_000)
try {
  for (const each of String(values.mailboxes).split(',')) {
    const measured = await compare(
      (size) => (each === 'all' ? 1 : Math.ceil(size / Number(each))),
      { CALLSIGN_DNS_SERVERS: dns.address },
      message,
    )
    printHead(each === 'all' ? 'One mailbox' : `Mailboxes of ${each} messages`, [
      `${sizes.join(' and ')} messages of 50 bytes of text in ${days} days, four per thread, organization key, embedded PostgreSQL with the shipped settings.`,
      `Milliseconds, medians of ${rounds} rounds of ${requests} requests (min–max), then processor milliseconds of Node and PostgreSQL.`,
    ])
    printTable(['', ...sizes.map(String), 'growth', ...sizes.map((size) => `processor, ${size}`), 'growth'], toRows(measured))
  }
} finally {
  await dns.stop()
}
