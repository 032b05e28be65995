// API clients that send without pause. An unanswered request is repeated if it carries an Idempotency-Key, and is left alone otherwise.
import { setTimeout as delay } from 'node:timers/promises'
import { type ApiAnswer, type ApiClient, createApiClient, mailboxPath, Unanswered } from './api-client.ts'
import { hashOf, type Ledger, type Mailbox, markerHeader, type Send } from './ledger.ts'
import type { Random } from './random.ts'

export type Load = {
  name: string
  port: number
  /** The mailbox that this client sends from. */
  from: Mailbox
  mailboxes: Mailbox[]
  ledger: Ledger
  random: Random
  isStopping: () => boolean
}

type Plan = { send: Send; path: string; body: Record<string, unknown> }

const retryMs = 50
const pauseMsMax = 25
const sendMsMax = 150_000

/** Runs one client. It sends messages until it is stopped, and finishes the one that it has begun. */
export async function runApiClient(load: Load): Promise<void> {
  const client = createApiClient(load.port)
  for (let number = 1; !load.isStopping(); number++) {
    const plan = await planSend(load, client, `${load.name}-${number}`)
    load.ledger.sends.set(plan.send.marker, plan.send)
    await drive(load, client, plan)
    await delay(load.random.whole(0, pauseMsMax))
  }
  client.close()
}

async function drive({ ledger }: Load, client: ApiClient, { send, path, body }: Plan): Promise<void> {
  const startedMs = performance.now()
  while (performance.now() - startedMs < sendMsMax) {
    let canRepeat = send.idempotencyKey !== null
    try {
      const answer = await client.call({
        method: 'POST',
        path,
        apiKey: send.from.apiKey,
        body,
        idempotencyKey: send.idempotencyKey,
        onSent: () => {
          send.attempts++
          send.isAwaiting = true
        },
      })
      ledger.countReply(`api ${answer.status}${answer.isReplayed ? ' replayed' : ''}`)
      if (accept(send, answer)) return
      if (!answer.canRetry) ledger.report(`API answered ${send.marker} with 503 without Retry-After`)
      // On 503 the database was unavailable, and the effect may have happened. On 409 the previous request is still running.
      if (answer.status !== 503 && answer.status !== 409) {
        send.state = 'refused'
        return ledger.report(`API answered ${send.marker} with ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
      }
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      if (error.message.includes('silence')) ledger.report(`API ${send.marker}: ${error.message}`)
      if (error.wasSent) ledger.countReply('api unanswered')
      canRepeat ||= !error.wasSent
    } finally {
      send.isAwaiting = false
    }
    if (!canRepeat) {
      send.state = 'unknown'
      return
    }
    await delay(retryMs)
  }
  ledger.report(`API did not accept ${send.marker} within ${sendMsMax} ms`)
}

function accept(send: Send, answer: ApiAnswer): boolean {
  if (answer.status !== 200 && answer.status !== 201) return false
  const { id, thread_id } = JSON.parse(answer.body.toString()) as { id: string; thread_id: string }
  Object.assign(send, { id, threadId: thread_id, isReplayed: answer.isReplayed, state: 'accepted' } satisfies Partial<Send>)
  return true
}

async function planSend(load: Load, client: ApiClient, marker: string): Promise<Plan> {
  const { from, random } = load
  const parent = random.isHit(0.25) ? await findParent(from, client, random) : null
  const { hosted, outside } = planRecipients(load)
  const attachments = planAttachments(random)
  const send: Send = {
    marker,
    state: 'open',
    attempts: 0,
    isAwaiting: false,
    from,
    hosted,
    outside,
    idempotencyKey: random.isHit(0.65) ? `key-${marker}` : null,
    attachments: attachments.map(({ filename, bytes }) => ({ filename, sizeBytes: bytes.length, sha256: hashOf(bytes) })),
    parentThread: parent?.thread_id ?? null,
    draftId: null,
    id: null,
    threadId: null,
    isReplayed: false,
  }
  const common = {
    to: [...hosted.map((mailbox) => mailbox.address), ...outside],
    text: `Message ${marker} of the crash run.\n${'A line of text like any other.\n'.repeat(random.whole(0, 40))}`,
    headers: { [markerHeader]: marker },
    ...(attachments.length > 0
      ? {
          attachments: attachments.map(({ filename, bytes }) => ({
            filename,
            content_type: 'application/octet-stream',
            content: bytes.toString('base64'),
          })),
        }
      : {}),
  }
  return parent
    ? { send, path: `${mailboxPath(from.address)}/messages/${parent.id}/reply`, body: common }
    : { send, path: '/api/v1/mail/send', body: { agent: from.handle, subject: `crash ${marker}`, ...common } }
}

export function planRecipients({ from, mailboxes, random }: Load): { hosted: Mailbox[]; outside: string[] } {
  const kind = random.pick(['hosted', 'outside', 'both'] as const)
  const others = mailboxes.filter((mailbox) => mailbox !== from)
  const hosted = kind === 'outside' ? [] : random.pickSome(others, random.isHit(0.3) ? 2 : 1)
  const outside =
    kind === 'hosted'
      ? []
      : random.pickSome(['one@outside.example', 'two@outside.example', 'three@else.example'], random.isHit(0.3) ? 2 : 1)
  return { hosted, outside }
}

/** None, small ones, or large ones that the server keeps in its blob store. */
export function planAttachments(random: Random): { filename: string; bytes: Buffer }[] {
  if (random.isHit(0.55)) return []
  const sizes = random.isHit(0.55) ? [random.whole(1, 20_000)] : [random.whole(66_000, 300_000), random.whole(100, 90_000)]
  return sizes.map((size, index) => ({ filename: `load-${index}.bin`, bytes: random.bytes(size) }))
}

/** Returns a recent message of the mailbox, or null when there is none or the server is unreachable. */
async function findParent(from: Mailbox, client: ApiClient, random: Random): Promise<{ id: string; thread_id: string } | null> {
  try {
    const path = `${mailboxPath(from.address)}/messages?direction=inbound&limit=10`
    const { data } = await client.get<{ data: { id: string; thread_id: string }[] }>(path, from.apiKey)
    return data.length === 0 ? null : random.pick(data)
  } catch {
    return null
  }
}
