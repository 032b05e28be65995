// Parts of every run under load: organizations and agents, clients, and the waits for progress and for an empty queue.
import { setTimeout as delay } from 'node:timers/promises'
import type { ApiClient } from './api-client.ts'
import { type Load, runApiClient } from './api-load.ts'
import { runDraftClient } from './draft-load.ts'
import type { Ledger, Mailbox } from './ledger.ts'
import { createRandom } from './random.ts'
import { runSmtpClient } from './smtp-load.ts'

/** The server's first key, and its host commands. */
type Host = { bootstrapKey: string; runCommand: (args: string[]) => Promise<string> }

export type ClientCounts = { apiClients: number; draftClients: number; smtpClients: number }

type World = Pick<Load, 'mailboxes' | 'ledger' | 'isStopping'> & { seed: number; httpPorts: number[]; smtpPorts: number[] }

const drainMsMax = 60_000
const progressMsMax = 40_000

/** Two organizations with three agents and two. */
export async function makeMailboxes(client: ApiClient, server: Host): Promise<Mailbox[]> {
  const made = await server.runCommand(['organizations', 'create', '--name', 'Second organization'])
  const secondKey = /svc_live_\S+/.exec(made)?.[0]
  if (!secondKey) throw new Error(`no key in: ${made}`)
  const agents = [
    ['ada', server.bootstrapKey],
    ['bea', secondKey],
    ['cleo', server.bootstrapKey],
    ['dora', secondKey],
    ['elin', server.bootstrapKey],
  ] as const
  const mailboxes: Mailbox[] = []
  for (const [handle, apiKey] of agents) {
    const answer = await client.call({
      method: 'POST',
      path: '/api/v1/identities',
      apiKey,
      body: { agent_handle: handle, display_name: `Agent ${handle}` },
    })
    if (answer.status !== 201) throw new Error(`the identity ${handle} was answered ${answer.status}: ${answer.body}`)
    mailboxes.push({ handle, apiKey, address: (JSON.parse(answer.body.toString()) as { mailbox_address: string }).mailbox_address })
  }
  return mailboxes
}

/** Starts the clients, which use the ports in turn. Resolves when all have stopped. */
export async function startClients(counts: ClientCounts, { seed, httpPorts, smtpPorts, ...load }: World): Promise<void> {
  const pick = <T>(list: T[], index: number): T => list[index % list.length] as T
  const each = (count: number, start: (index: number) => Promise<void>) => Array.from({ length: count }, (_, index) => start(index))
  const sender = (name: string, index: number, seedOffset: number): Load => ({
    ...load,
    name: `${name}${index}`,
    port: pick(httpPorts, index),
    from: pick(load.mailboxes, index),
    random: createRandom(seed + seedOffset + index),
  })
  await Promise.all([
    ...each(counts.apiClients, (index) => runApiClient(sender('a', index, 100))),
    ...each(counts.draftClients, (index) => runDraftClient(sender('d', index, 500))),
    ...each(counts.smtpClients, (index) =>
      runSmtpClient({ ...load, name: `s${index}`, port: pick(smtpPorts, index), random: createRandom(seed + 1000 + index) }),
    ),
  ])
}

/** Resolves when both kinds of clients got new good answers. The server works again, and a kill has work to interrupt. */
export async function waitForProgress(ledger: Ledger, limit: AbortSignal): Promise<void> {
  const before = ledger.acceptedCount()
  const startedMs = performance.now()
  while (ledger.acceptedCount() < before + 5 && !limit.aborted) {
    if (performance.now() - startedMs > progressMsMax) throw new Error(`no progress within ${progressMsMax} ms`)
    await delay(5)
  }
}

/** Waits until the queue is empty. Reports the messages that are still queued after a minute. */
export async function waitUntilDelivered(client: ApiClient, mailboxes: Mailbox[], ledger: Ledger): Promise<number> {
  const startedMs = performance.now()
  for (const mailbox of mailboxes) {
    for (;;) {
      const path = `/api/v1/mailboxes/${mailbox.address}/messages?status=queued&limit=100`
      const { data } = await client.get<{ data: { id: string; created_at: string }[] }>(path, mailbox.apiKey)
      if (data.length === 0) break
      if (performance.now() - startedMs > drainMsMax) {
        ledger.report(
          `${mailbox.address} still has ${data.length} queued messages ${drainMsMax} ms after the last kill, such as ${JSON.stringify(data[0]?.id)}`,
        )
        break
      }
      await delay(100)
    }
  }
  return performance.now() - startedMs
}

/** Counts of the ledger for a report. */
export function summary(ledger: Ledger) {
  const sends = [...ledger.sends.values()]
  const deliveries = [...ledger.deliveries.values()]
  return {
    replies: Object.fromEntries([...ledger.replies].sort()),
    accepted: {
      api: sends.filter((send) => send.state === 'accepted' && send.draftId === null).length,
      drafts: sends.filter((send) => send.state === 'accepted' && send.draftId !== null).length,
      smtp: deliveries.filter((delivery) => delivery.state === 'accepted').length,
    },
    retried: {
      api: sends.filter((send) => send.attempts > 1).length,
      smtp: deliveries.filter((delivery) => delivery.attempts > 1).length,
      replayed: sends.filter((send) => send.isReplayed).length,
    },
    problems: ledger.problems,
    problemCount: ledger.problemCount(),
  }
}
