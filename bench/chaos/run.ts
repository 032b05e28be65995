// Runs every kind of load against an installation while faults happen to it, and verifies all of it at the end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blobs } from '../../packages/server/src/core/blobs.ts'
import { createDiskBlobs } from '../../packages/server/src/edges/blobs/disk.ts'
import type { Target } from '../../packages/server/src/edges/postgres/servers.ts'
import { createApiClient } from '../crash/api-client.ts'
import { verifyDatabase } from '../crash/database-verification.ts'
import { createLedger, type Ledger, type Mailbox } from '../crash/ledger.ts'
import { createRandom, type Random } from '../crash/random.ts'
import { startRelaySink } from '../crash/relay-sink.ts'
import { sessionOver } from '../crash/smtp-load.ts'
import { type Verified, verify } from '../crash/verification.ts'
import { makeMailboxes, startClients, summary, waitForProgress, waitUntilDelivered } from '../crash/world.ts'
import { createInstallation } from './nodes.ts'
import { startTunnel, type TunnelCounts } from './tunnel-load.ts'
import { startWebhook, type WebhookCounts } from './webhook-load.ts'

export type ChaosOptions = { seed: number; limitMs: number; say: (line: string) => void }

/** Effects of faults that clients may see: a request that breaks off, and a message that reaches the relay this many times. */
type Allowed = { mayBreak: boolean; relayCopiesMax: number }

type Setting = {
  folder: string
  installation: ReturnType<typeof createInstallation>
  random: Random
  ledger: Ledger
  limit: AbortSignal
  say: (line: string) => void
}

/** A started installation. */
type Started<F> = {
  httpPorts: number[]
  smtpPorts: number[]
  /** Where tunnel clients connect, and where their public requests go. */
  clientPorts: number[]
  publicPorts: number[]
  database: Target
  /** The blobs, when they are not in the installation's folder, with their sweep. After it, no orphan may be left. */
  store?: { blobs: Blobs; sweep: () => Promise<number> }
  /** Lets the faults happen. Everything works again when it resolves. */
  strike: (mailboxes: Mailbox[]) => Promise<F[]>
}

export type ChaosReport<F> = ReturnType<typeof summary> & {
  seed: number
  faults: F[]
  elapsedMs: number
  verified: Verified & { blobs: number; orphanBlobs: number }
  sweptBlobs: number
  webhooks: WebhookCounts
  tunnel: TunnelCounts
  logLines: string[]
}

const counts = { apiClients: 4, draftClients: 3, smtpClients: 4 }
const samples = 100

/** Starts an installation by `start`, and runs the faults under load. Rejects only when the run itself cannot go on. */
export async function runUnderLoad<F>(
  { seed, limitMs, say }: ChaosOptions,
  allowed: Allowed,
  start: (setting: Setting) => Promise<Started<F>>,
): Promise<ChaosReport<F>> {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-chaos-'))
  const ledger = createLedger()
  ledger.beginLife(allowed.relayCopiesMax)
  const random = createRandom(seed)
  const sink = await startRelaySink(ledger, createRandom(seed + 1))
  const installation = createInstallation({ folder, relayPort: sink.port })
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new Error(`the run took longer than ${limitMs} ms`)), limitMs)
  const startedMs = performance.now()
  const logLines = () => installation.nodes.flatMap((node) => node.lines.slice(-15).map((line) => `${node.name}: ${line}`))
  try {
    const started = await start({ folder, installation, random, ledger, limit: limit.signal, say })
    const client = createApiClient(started.httpPorts[0] as number)
    const [host] = installation.nodes
    if (!host) throw new Error('no process was started')
    const mailboxes = await makeMailboxes(client, host)
    say(`seed ${seed}: ready after ${((performance.now() - startedMs) / 1000).toFixed(0)} s, logs in ${folder}`)

    let isStopping = false
    const load = { mailboxes, ledger, isStopping: () => isStopping || limit.signal.aborted }
    const [first] = mailboxes as [Mailbox]
    const webhook = await startWebhook(client, first.apiKey, ledger, createRandom(seed + 2))
    const tunnel = await startTunnel({ ...started, ...load, apiKey: first.apiKey, handle: first.handle, mayBreak: allowed.mayBreak })
    const clients = startClients(counts, { ...load, ...started, seed })
    clients.catch((error: Error) => limit.abort(error))
    const faults = await started.strike(mailboxes)
    await waitForProgress(ledger, limit.signal)
    isStopping = true
    await clients
    const tunnelCounts = await tunnel.done
    limit.signal.throwIfAborted()
    say('the faults are over, everything is compared now')
    await waitUntilDelivered(client, mailboxes, ledger)
    const sweptBlobs = (await started.store?.sweep()) ?? 0
    const verified = {
      ...(await verify({ client, mailboxes, ledger, random, samples })),
      ...(await verifyDatabase(started.database, started.store?.blobs ?? createDiskBlobs(installation.blobsDir), ledger)),
    }
    if (started.store && verified.orphanBlobs > 0) ledger.report(`${verified.orphanBlobs} blobs without a row are left after the sweep`)
    const webhooks = await webhook.verify(started.httpPorts[0] as number)
    webhook.stop()
    client.close()
    checkReplies(ledger, allowed)
    for (const node of installation.nodes) for (const problem of await node.stop()) ledger.report(`${node.name}: ${problem}`)
    const elapsedMs = performance.now() - startedMs
    const lines = ledger.problemCount() > 0 ? logLines() : []
    return { seed, faults, elapsedMs, verified, sweptBlobs, webhooks, tunnel: tunnelCounts, logLines: lines, ...summary(ledger) }
  } catch (error) {
    throw new Error([(error as Error).message, ...ledger.problems.slice(0, 20), ...logLines()].join('\n'), { cause: error })
  } finally {
    clearTimeout(timer)
    limit.abort()
    await installation.destroy()
    await sink.stop()
    if (ledger.problemCount() === 0) rmSync(folder, { recursive: true, force: true })
  }
}

/** While every process lives, each client gets an answer, and SMTP clients get 250 or 451. */
function checkReplies(ledger: Ledger, { mayBreak }: Allowed): void {
  if (mayBreak) return
  for (const [name, count] of ledger.replies) {
    const isAllowed = !name.endsWith('unanswered') && (!name.startsWith('smtp') || ['smtp 250', 'smtp 451', sessionOver].includes(name))
    if (!isAllowed) ledger.report(`${count} clients got: ${name}`)
  }
}
