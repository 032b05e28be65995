// API sends, reads and incoming mail with one, two and four processes on one PostgreSQL: rates, where the time goes, and bytes per message.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import pg from 'pg'
import { startDnsServer } from '../packages/mail/tests/harness/dns-server.ts'
import { createLog } from '../packages/server/src/core/log.ts'
import { startEmbedded } from '../packages/server/src/edges/postgres/embedded/supervisor.ts'
import { ask, type CallsignServer, makeDirectory, startCallsign, stopChild } from './harness/callsign-server.ts'
import type { Load, LoadResult } from './harness/load-generator.ts'
import { messageText, receiver, sender } from './harness/messages.ts'
import { readProcessorSeconds } from './harness/process-tree.ts'
import { createSender, textLine } from './harness/signed-message.ts'
import { printHead, printTable } from './harness/table.ts'

const { values: options } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,4' },
    seconds: { type: 'string', default: '6' },
    messages: { type: 'string', default: '4000' },
    rounds: { type: 'string' },
    connections: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const mailCount = Number(options.messages)
const connections = 64
const sessions = 20
const mailBytes = 10_000
const warmUpSeconds = 2
const sampleMs = 20
const source = '/usr/sbin/smtp-source'
const run = promisify(execFile)

if (!existsSync(source)) {
  console.error('smtp-source is missing. On Debian: apt install --no-install-recommends postfix')
  process.exit(2)
}

const directory = makeDirectory()
const dns = await startDnsServer()
const author = await createSender('127.0.0.1')
for (const [name, records] of Object.entries(author.records)) dns.set(name, records)
const mailFile = join(directory.path, 'message')
// smtp-source expects lines that end in LF.
writeFileSync(mailFile, (await author.sign(textLine, mailBytes)).toString('latin1').replaceAll('\r\n', '\n').trimEnd(), 'latin1')

/** `done` operations within `seconds`. */
type Done = { done: number; seconds: number }

/** Loads every process at once, with its share of the connections. */
async function loadApi(
  servers: CallsignServer[],
  request: Omit<Load, 'url' | 'connections' | 'seconds'> & { path: string },
  forSeconds: number,
) {
  const generators = servers.map(() => fork(join(import.meta.dirname, 'harness', 'load-generator.ts')))
  const results = await Promise.all(
    servers.map(async (server, index) => {
      const { path, ...rest } = request
      const load: Load = { ...rest, url: server.url + path, connections: connections / servers.length, seconds: forSeconds }
      generators[index]?.send(load)
      return ((await once(generators[index] as ReturnType<typeof fork>, 'message')) as [LoadResult])[0]
    }),
  )
  await Promise.all(generators.map(stopChild))
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  if (failed > 0) throw new Error(`${failed} requests to ${request.path} failed.`)
  return { done: results.reduce((sum, result) => sum + result.requests, 0), seconds: Math.max(...results.map((result) => result.seconds)) }
}

/** Delivers this many messages, over kept connections. */
async function loadMail(servers: CallsignServer[], count: number): Promise<Done> {
  const beganMs = performance.now()
  const each = (total: number) => String(Math.ceil(total / servers.length))
  const envelope = ['-f', 'ada@sender.example', '-t', `${receiver}@agents.localhost`, '-F', mailFile]
  await Promise.all(
    servers.map(({ smtpPort }) => run(source, ['-d', '-s', each(sessions), '-m', each(count), ...envelope, `127.0.0.1:${smtpPort}`])),
  )
  return { done: Number(each(count)) * servers.length, seconds: (performance.now() - beganMs) / 1000 }
}

/** Counts what the busy sessions of the database wait for, until `stop`, which resolves with the three most frequent waits and their shares. */
function sampleWaits(database: pg.Client) {
  const seen = new Map<string, number>()
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      const { rows } = await database.query<{ wait: string; count: number }>(
        `SELECT CASE WHEN state = 'idle in transaction' THEN 'Node' ELSE coalesce(wait_event, 'none, runs') END AS wait, count(*)::int AS count
         FROM pg_stat_activity WHERE application_name = 'callsign' AND state <> 'idle' GROUP BY 1`,
      )
      for (const { wait, count } of rows) seen.set(wait, (seen.get(wait) ?? 0) + count)
      await sleep(sampleMs)
    }
  })()
  return async (): Promise<string> => {
    isOver = true
    await done
    const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
    const frequent = [...seen].toSorted(([, a], [, b]) => b - a).slice(0, 3)
    return frequent.map(([wait, count]) => `${wait} ${((count / total) * 100).toFixed(0)} %`).join(', ')
  }
}

type Facts = { pids: number[]; postgresPid: number; database: pg.Client }

/** Runs a load, and returns the row of its rate, of the processor time of one operation, and of the waits in the database. */
async function measure(name: string, { pids, postgresPid, database }: Facts, load: () => Promise<Done>): Promise<string[]> {
  const read = () => ({
    node: pids.reduce((sum, pid) => sum + readProcessorSeconds(pid).node, 0),
    postgres: readProcessorSeconds(postgresPid).postgres,
  })
  const stopSampling = sampleWaits(database)
  const before = read()
  const { done, seconds: took } = await load()
  const after = read()
  const [node, postgres] = [after.node - before.node, after.postgres - before.postgres]
  const waits = await stopSampling()
  const inMs = (spent: number) => ((spent * 1000) / done).toFixed(2)
  const share = (spent: number) => `${((spent / took / cpus().length) * 100).toFixed(0)} %`
  return [String(pids.length), name, (done / took).toFixed(0), inMs(node), inMs(postgres), share(node), share(postgres), waits]
}

type Size = { messages: number; bytes: number; logBytes: number }

async function readSize(database: pg.Client): Promise<Size> {
  const { rows } = await database.query<Record<keyof Size, string>>(
    `SELECT (SELECT count(*) FROM messages) AS messages, pg_database_size(current_database()) AS bytes, pg_current_wal_lsn() - '0/0' AS "logBytes"`,
  )
  const [row] = rows
  return { messages: Number(row?.messages), bytes: Number(row?.bytes), logBytes: Number(row?.logBytes) }
}

/** One database with this many processes, which share its keyring and blobs. Returns the rows of the table. */
async function measureProcesses(count: number): Promise<string[][]> {
  const folder = join(directory.path, `with-${count}`)
  const postgres = await startEmbedded({
    dataDir: join(folder, 'database'),
    log: createLog('silent'),
    settings: { max_connections: '200' },
  })
  const { host, port, user, database: name } = postgres.connection
  const database = new pg.Client({ host, port, user, database: name })
  await database.connect()
  const settings = {
    CALLSIGN_DATABASE_URL: `postgres://${user}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    CALLSIGN_BLOBS: `file:${join(folder, 'blobs')}`,
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_ROLES: 'api,smtp',
    CALLSIGN_CONSOLE: 'off',
    CALLSIGN_SMTP_CONNECTIONS_PER_CLIENT: '100',
  }
  const servers: CallsignServer[] = []
  try {
    for (let number = 0; number < count; number++) {
      const dataDir = join(folder, `process-${number}`)
      // The first one makes the keyring.
      if (number > 0) cpSync(join(folder, 'process-0', 'keyring'), join(dataDir, 'keyring'), { recursive: true })
      servers.push(await startCallsign(dataDir, { settings }))
    }
    const [first] = servers as [CallsignServer]
    const key = first.key as string
    for (const agent_handle of [sender, receiver]) await ask(first, key, 'POST', '/api/v1/identities', { agent_handle })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = { agent: sender, to: ['somebody@example.net'], subject: 'A message', text: messageText(1) }
    const { id } = await ask<{ id: string }>(first, key, 'POST', '/api/v1/mail/send', body)
    const send = { method: 'POST' as const, path: '/api/v1/mail/send', headers, body: JSON.stringify(body) }
    const get = { method: 'GET' as const, path: `/api/v1/mailboxes/${sender}/messages/${id}`, headers }
    for (const request of [send, get]) await loadApi(servers, request, warmUpSeconds)
    await loadMail(servers, mailCount / 10)
    const facts = { pids: servers.map(({ pid }) => pid), postgresPid: postgres.pid(), database }
    const rows = [
      await measure('send, 2 KB', facts, () => loadApi(servers, send, seconds)),
      await measure('GET one message', facts, () => loadApi(servers, get, seconds)),
    ]
    const before = await readSize(database)
    rows.push(await measure('mail in, 10 KB', facts, () => loadMail(servers, mailCount)))
    printSize(count, before, await readSize(database))
    return rows
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await database.end()
    await postgres.stop()
  }
}

function printSize(count: number, before: Size, after: Size): void {
  const perMessage = (of: (size: Size) => number) => ((of(after) - of(before)) / (after.messages - before.messages) / 1000).toFixed(1)
  console.log(
    `Processes: ${count}, mail of 10 KB: ${perMessage(({ bytes }) => bytes)} KB of database and ${perMessage(({ logBytes }) => logBytes)} KB of log per message.`,
  )
}

printHead('Several processes on one PostgreSQL', [
  `Roles api and smtp. ${connections} connections of autocannon in all, and ${sessions} sessions of smtp-source, for ${seconds} s or ${mailCount} messages, fsync on.`,
  'The processes, PostgreSQL and the load share this machine. Shares are of all its processors. Waits are those of sessions in a statement or a transaction.',
])
const rows: string[][] = []
try {
  for (const count of options.processes.split(',').map(Number)) rows.push(...(await measureProcesses(count)))
  console.log('')
  printTable(['processes', 'work', 'per second', 'node ms', 'postgres ms', 'node share', 'postgres share', 'sessions wait for'], rows)
} finally {
  await dns.stop()
  directory.remove()
}
