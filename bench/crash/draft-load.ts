// API clients that write drafts and have them sent, by request or at a set time. Unanswered requests are repeated, with or without a key.
import { setTimeout as delay } from 'node:timers/promises'
import { type ApiAnswer, type ApiClient, createApiClient, mailboxPath, Unanswered } from './api-client.ts'
import { type Load, planAttachments, planRecipients } from './api-load.ts'
import { hashOf, markerHeader, type Send } from './ledger.ts'

const retryMs = 50
const pauseMsMax = 40
const answerMsMax = 150_000
const scheduleMsMax = 1_500
/** Share of drafts that wait for approval first. Their send approves them. */
const approvalShare = 0.4

type Request = { method: 'GET' | 'POST' | 'PATCH'; path: string; body?: unknown; idempotencyKey?: string | null; send?: Send }
/** An answer. `isAgain` is true when an earlier request went unanswered and may have had its effect. */
type Settled = ApiAnswer & { isAgain: boolean }

/** Runs one client. It sends draft after draft until it is stopped, and finishes the one that it has begun. */
export async function runDraftClient(load: Load): Promise<void> {
  const client = createApiClient(load.port)
  for (let number = 1; !load.isStopping(); number++) {
    await writeAndSend(load, client, `${load.name}-${number}`)
    await delay(load.random.whole(0, pauseMsMax))
  }
  client.close()
}

async function writeAndSend(load: Load, client: ApiClient, marker: string): Promise<void> {
  const { from, random, ledger } = load
  const { hosted, outside } = planRecipients(load)
  const attachments = planAttachments(random)
  const drafts = `${mailboxPath(from.address)}/drafts`
  const made = await ask(load, client, {
    method: 'POST',
    path: drafts,
    idempotencyKey: `draft-${marker}`,
    body: {
      to: [...hosted.map((mailbox) => mailbox.address), ...outside],
      subject: `crash ${marker}`,
      text: 'Not the last word.',
      headers: { [markerHeader]: marker },
      attachments: attachments.map(({ filename, bytes }) => ({ filename, content: bytes.toString('base64') })),
    },
  })
  if (made?.status !== 201) return ledger.report(`the draft of ${marker} was answered ${describe(made)}`)
  const { id } = JSON.parse(made.body.toString()) as { id: string }
  const isScheduled = random.isHit(0.25)
  const send: Send = {
    marker,
    state: 'open',
    attempts: 0,
    isAwaiting: false,
    from,
    hosted,
    outside,
    idempotencyKey: random.isHit(0.6) ? `send-${marker}` : null,
    attachments: attachments.map(({ filename, bytes }) => ({ filename, sizeBytes: bytes.length, sha256: hashOf(bytes) })),
    parentThread: null,
    draftId: id,
    id: null,
    threadId: null,
    isReplayed: false,
  }
  // Recorded before the change, because a scheduled draft may be sent from then on.
  ledger.sends.set(marker, send)
  const changed = await ask(load, client, {
    method: 'PATCH',
    path: `${drafts}/${id}`,
    body: {
      version: 1,
      text: `Message ${marker} of the crash run.`,
      ...(isScheduled ? { send_at: new Date(Date.now() + random.whole(1_000, 1_000 + scheduleMsMax)).toISOString() } : {}),
    },
  })
  // The previous change had committed, or the draft has been sent at its time since.
  const isChanged =
    changed?.status === 200 || (changed?.isAgain && ['draft_version_conflict', 'draft_not_editable'].includes(codeOf(changed)))
  // A time that passed while the server was down is refused. The draft is then sent by request.
  const isLate = isScheduled && changed?.status === 400 && changed.body.includes('/send_at')
  if (!isChanged && !isLate) {
    send.state = 'refused'
    return ledger.report(`the change of draft ${marker} was answered ${describe(changed)}`)
  }
  if (!isScheduled && random.isHit(approvalShare)) {
    const asked = await ask(load, client, { method: 'POST', path: `${drafts}/${id}/request-approval` })
    if (asked?.status !== 200) ledger.report(`the request for approval of ${marker} was answered ${describe(asked)}`)
  }
  if (isScheduled && !isLate) await waitUntilGone(load, client, send, `${drafts}/${id}`)
  // The time is refused as late, and an earlier request went unanswered. That request may have set the time, so the draft may be sent before this
  // request.
  else await sendNow(load, client, send, `${drafts}/${id}/send`, isLate === true && changed?.isAgain === true)
}

/**
 * Repeats the send until it is answered 201, or until the answer says that the draft is already sent. The earlier send may come from a request
 * without a key, or from the draft's schedule.
 */
async function sendNow(load: Load, client: ApiClient, send: Send, path: string, mayGoAtItsTime: boolean): Promise<void> {
  const answer = await ask(load, client, {
    method: 'POST',
    path,
    idempotencyKey: send.idempotencyKey,
    send,
  })
  if (answer?.status === 201) {
    const { id, thread_id } = JSON.parse(answer.body.toString()) as { id: string; thread_id: string }
    Object.assign(send, { id, threadId: thread_id, isReplayed: answer.isReplayed, state: 'accepted' } satisfies Partial<Send>)
  } else if (codeOf(answer) === 'draft_send_in_progress' && (mayGoAtItsTime || (answer?.isAgain && send.idempotencyKey === null))) {
    send.state = 'accepted'
  } else {
    send.state = 'refused'
    load.ledger.report(`the send of draft ${send.marker} was answered ${describe(answer)}`)
  }
}

/** A scheduled draft is gone once it is sent. A draft that stays with a reason was not sent. */
async function waitUntilGone(load: Load, client: ApiClient, send: Send, path: string): Promise<void> {
  const startedMs = performance.now()
  while (performance.now() - startedMs < answerMsMax) {
    const answer = await ask(load, client, { method: 'GET', path })
    if (answer?.status === 404) {
      send.state = 'accepted'
      return
    }
    if (answer?.status !== 200) break
    const { send_error } = JSON.parse(answer.body.toString()) as { send_error: string | null }
    if (send_error !== null) break
    await delay(retryMs)
  }
  send.state = 'refused'
  load.ledger.report(`the scheduled draft ${send.marker} was not sent`)
}

/** Repeats until a final answer, and counts the attempts of a send. Returns null when the time limit passes without one. */
async function ask({ ledger, from }: Load, client: ApiClient, { send, ...request }: Request): Promise<Settled | null> {
  const startedMs = performance.now()
  let isAgain = false
  const onSent = () => {
    if (send) Object.assign(send, { attempts: send.attempts + 1, isAwaiting: true })
  }
  while (performance.now() - startedMs < answerMsMax) {
    try {
      const answer = await client.call({ ...request, apiKey: from.apiKey, onSent })
      ledger.countReply(`draft ${request.method} ${answer.status}${answer.isReplayed ? ' replayed' : ''}`)
      if (!answer.canRetry) ledger.report(`${request.method} ${request.path} was answered 503 without Retry-After`)
      // On 503 the database was unavailable, and the effect may have happened.
      if (answer.status !== 503 && codeOf(answer) !== 'idempotency_in_progress') return { ...answer, isAgain }
      isAgain = true
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      if (error.wasSent) ledger.countReply('draft unanswered')
      isAgain ||= error.wasSent
    } finally {
      if (send) send.isAwaiting = false
    }
    await delay(retryMs)
  }
  return null
}

function codeOf(answer: ApiAnswer | null): string {
  if (answer === null || answer.status < 400) return ''
  try {
    return (JSON.parse(answer.body.toString()) as { error: { code: string } }).error.code
  } catch {
    return ''
  }
}

const describe = (answer: ApiAnswer | null): string => (answer ? `${answer.status}: ${answer.body.toString().slice(0, 300)}` : 'by nobody')
