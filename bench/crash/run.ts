// Runs one crash test. It loads a real server, kills it at random moments, and checks every promise at the end.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createDiskBlobs } from '../../packages/server/src/edges/blobs/disk.ts'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { createApiClient } from './api-client.ts'
import { verifyDatabase } from './database-verification.ts'
import { createLedger, type InFlight, type Ledger } from './ledger.ts'
import { createRandom, type Random } from './random.ts'
import { startRelaySink } from './relay-sink.ts'
import { createServerProcess, type ServerProcess } from './server-process.ts'
import { type Verified, verify } from './verification.ts'
import { type ClientCounts, makeMailboxes, startClients, summary, waitForProgress, waitUntilDelivered } from './world.ts'

export type CrashOptions = ClientCounts & {
  kills: number
  seed: number
  /** Messages of each size class whose bytes are downloaded and compared. */
  samples: number
  /** Time limit of the whole run, without cleanup. */
  limitMs: number
  /** The load goes on until each kind of client has this many accepted messages. */
  acceptedMin?: number
  say: (line: string) => void
}

type Victim = 'server' | 'postgres' | 'both'

export type Kill = { victim: Victim; inFlight: InFlight; backMs: number; isDuringStart: boolean }

export type CrashReport = {
  seed: number
  kills: Kill[]
  firstStartMs: number
  drainMs: number
  /** Number of each answer. */
  replies: Record<string, number>
  accepted: { api: number; drafts: number; smtp: number }
  retried: { api: number; smtp: number; replayed: number }
  verified: (Verified & { blobs: number; orphanBlobs: number }) | null
  /** Broken promises with their evidence. A run passes when the list is empty. */
  problems: string[]
  problemCount: number
  /** The last warnings and errors of the server, when something is wrong. */
  serverLines: string[]
}

/** Share of kills that must interrupt in-flight work for the run to be valid. */
export const inFlightShareMin = 0.8

/** Time for bytes that a killed server had written to arrive at the relay. */
const wireMs = 50
/** The supervisor gives up a PostgreSQL that dies again and again. A start of the server resets the count. */
const postgresKillsInRowMax = 3

/** Runs and verifies. Rejects only when the run itself cannot go on. Server faults are in the report. */
export async function runCrash(options: CrashOptions): Promise<CrashReport> {
  const ledger = createLedger()
  const random = createRandom(options.seed)
  const sink = await startRelaySink(ledger, createRandom(options.seed + 1))
  const server = await createServerProcess({ relayPort: sink.port, bootstrapKey: generateKey() })
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new Error(`the run took longer than ${options.limitMs} ms`)), options.limitMs)
  const overdue = new Promise<never>((_, reject) => limit.signal.addEventListener('abort', () => reject(limit.signal.reason)))
  overdue.catch(() => {})
  try {
    return await Promise.race([run(options, { ledger, random, server, limit: limit.signal }), overdue])
  } catch (error) {
    limit.abort(error)
    ledger.report(`the run ended early: ${(error as Error).message}`)
    throw new Error([...ledger.problems.slice(0, 20), ...server.lines.slice(-20)].join('\n'), { cause: error })
  } finally {
    clearTimeout(timer)
    limit.abort()
    await server.destroy()
    await sink.stop()
  }
}

type Harness = { ledger: Ledger; random: Random; server: ServerProcess; limit: AbortSignal }

async function run(options: CrashOptions, harness: Harness): Promise<CrashReport> {
  const { ledger, random, server, limit } = harness
  const firstStartMs = await server.start()
  const client = createApiClient(server.httpPort)
  const mailboxes = await makeMailboxes(client, server)
  options.say(
    `seed ${options.seed}: server ready in ${firstStartMs.toFixed(0)} ms, ${mailboxes.length} mailboxes, data in ${server.dataDir}`,
  )

  let isStopping = false
  const load = { mailboxes, ledger, isStopping: () => isStopping || limit.aborted }
  const clients = startClients(options, { ...load, seed: options.seed, httpPorts: [server.httpPort], smtpPorts: [server.smtpPort] })
  // A client that fails ends the run where it is waited for, below.
  clients.catch(() => {})

  const kills: Kill[] = []
  while (kills.length < options.kills && !limit.aborted) kills.push(...(await killOnce(options, harness, kills)))
  await waitForProgress(ledger, limit)
  while (!limit.aborted && Math.min(...Object.values(summary(ledger).accepted)) < (options.acceptedMin ?? 0)) await delay(50)
  isStopping = true
  await clients
  const drainMs = await waitUntilDelivered(client, mailboxes, ledger)
  const verified = {
    ...(await verify({ client, mailboxes, ledger, random, samples: options.samples })),
    ...(await verifyDatabase(server.connection(), createDiskBlobs(join(server.dataDir, 'blobs')), ledger)),
  }
  client.close()
  checkInFlight(kills, ledger)
  for (const problem of await server.stop()) ledger.report(problem)
  return {
    seed: options.seed,
    kills,
    firstStartMs,
    drainMs,
    verified,
    ...summary(ledger),
    serverLines: ledger.problemCount() > 0 ? server.lines.slice(-40) : [],
  }
}

/** Waits until the load progresses, kills at a random moment, and restarts the server. Sometimes kills it again while it starts. */
async function killOnce(options: CrashOptions, harness: Harness, before: Kill[]): Promise<Kill[]> {
  const { ledger, random, server, limit } = harness
  await waitForProgress(ledger, limit)
  await delay(random.whole(20, 700))
  const isLast = before.length + 1 >= options.kills
  // At the end the server must recover by its own retries, so it is not restarted.
  const victim = isLast ? 'postgres' : pickVictim(random, before)
  const inFlight = ledger.inFlight()
  // The same worker may hand over a message, fail to record that, and do it again.
  if (victim === 'postgres') ledger.beginLife(2)
  await server.kill(victim)
  const kills: Kill[] = []
  let backMs: number
  if (victim === 'postgres') {
    // The server notices within a moment, and is not ready until then either.
    backMs = await server.whenReady()
  } else {
    await delay(wireMs)
    ledger.beginLife(1)
    if (before.length + 2 < options.kills && random.isHit(0.12)) {
      const start = server.begin()
      await Promise.race([delay(random.whole(50, 800)), start.ready])
      await server.kill('server')
      await delay(wireMs)
      ledger.beginLife(1)
      kills.push({
        victim: 'server',
        inFlight: { requests: 0, transactions: 0, relayTransactions: 0, undelivered: 0 },
        backMs: 0,
        isDuringStart: true,
      })
    }
    backMs = await server.start()
  }
  for (const stray of await server.findStrays()) ledger.report(`after kill ${before.length + 1} (${victim}): ${stray}`)
  kills.unshift({ victim, inFlight, backMs, isDuringStart: false })
  const { requests, transactions, relayTransactions, undelivered } = inFlight
  options.say(
    `kill ${String(before.length + 1).padStart(2)} ${victim.padEnd(8)} in flight: ${requests} requests, ${transactions} SMTP, ${relayTransactions} at the relay, ` +
      `${undelivered} queued; back in ${backMs.toFixed(0)} ms${kills.length > 1 ? ', killed again while starting' : ''}`,
  )
  return kills
}

function pickVictim(random: Random, before: Kill[]): Victim {
  const lately = before.slice(-postgresKillsInRowMax)
  const isEnough = lately.length === postgresKillsInRowMax && lately.every((kill) => kill.victim === 'postgres')
  if (random.isHit(0.6)) return 'server'
  return isEnough || random.isHit(0.4) ? 'both' : 'postgres'
}

/** True when requests, SMTP messages or relay deliveries were sent and unanswered. Work that only waits in the queue does not count. */
export const hadWork = ({ inFlight }: Kill): boolean => inFlight.requests + inFlight.transactions + inFlight.relayTransactions > 0

function checkInFlight(kills: Kill[], ledger: Ledger): void {
  const counted = kills.filter((kill) => !kill.isDuringStart)
  const share = counted.filter(hadWork).length / counted.length
  if (share < inFlightShareMin)
    ledger.report(`only ${(share * 100).toFixed(0)} % of the kills met work under way: the run proves too little`)
}
