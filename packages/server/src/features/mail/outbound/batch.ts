// Sends many messages in one transaction: all or none of them, or those that can be sent.
import { type sendBatch, sendBatchBytesMax } from '@callsign/contract/batches'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from '../../../core/caller.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Call } from '../../../core/route.ts'
import type { Tx } from '../../../core/sql.ts'
import { shareThread } from '../../../core/turn.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Guardrail } from '../rules/model.ts'
import type { Addressed } from './filing.ts'
import { bodyBytes, orGone, type Queued } from './model.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'
import { readMessage, type SendSteps } from './send.ts'

type Body = BodyOf<typeof sendBatch>
type Item = Body['messages'][number]
type Reply = ReplyOf<typeof sendBatch>

type Parts = SendSteps &
  Pick<OutgoingQueue, 'judgeBatch' | 'queueJudged'> & { requireSender: (caller: Caller, mailbox: string) => Promise<MailboxOwner> }

type Refused = { index: number; addressed: null; refusal: ApiError }
/** A message of a batch: ready to be judged, or refused. */
type Prepared = { index: number; addressed: Addressed; refusal: null } | Refused
/** A message of a batch: ready to be queued, or refused. */
type Decided = { index: number; addressed: Addressed; refusal: null; guardrail: Guardrail } | Refused

export function createBatchSend(parts: Parts) {
  const { requireSender, prepareWhole, judgeBatch, queueJudged } = parts

  async function prepareItem(call: Call, { agent, ...message }: Item, index: number): Promise<Prepared> {
    try {
      const owner = await requireSender(call.caller, agent)
      const addressed = await prepareWhole(owner, await readMessage(call, owner, message, parts))
      return { index, addressed, refusal: null }
    } catch (error) {
      if (error instanceof ApiError) return { index, addressed: null, refusal: error }
      throw error
    }
  }

  /** The same messages, with those as refused that rules, suppressions or the guards refuse. */
  async function decide(tx: Tx, prepared: Prepared[]): Promise<Decided[]> {
    const ready = prepared.flatMap(({ addressed }) => addressed ?? [])
    const judged = new Map((await judgeBatch(tx, ready)).map((one, place) => [ready[place], one]))
    return prepared.map((item) => {
      if (item.addressed === null) return item
      const one = judged.get(item.addressed) as Guardrail | ApiError
      return one instanceof ApiError ? { index: item.index, addressed: null, refusal: one } : { ...item, guardrail: one }
    })
  }

  return async (call: Call, { messages, mode = 'strict' }: Body): Promise<Reply> => {
    checkBodies(messages)
    const prepared: Prepared[] = []
    // One after another, because each may fetch attachments.
    for (const [index, message] of messages.entries()) {
      const item = await shareThread(call.caller.organizationId, () => prepareItem(call, message, index))
      if (item.refusal && mode === 'strict') throw atIndex(item.refusal, index)
      prepared.push(item)
    }
    return call
      .transact(async (tx) => {
        const items = await decide(tx, prepared)
        const refused = items.find((item) => item.refusal !== null)
        if (refused?.refusal && mode === 'strict') throw atIndex(refused.refusal, refused.index)
        const allowed = items.filter((item) => item.refusal === null)
        const queued = await queueJudged(
          tx,
          allowed.map(({ addressed }) => addressed),
          allowed.map(({ guardrail }) => guardrail),
        )
        return toReply(items, queued)
      })
      .catch(orGone)
  }
}

/** Throws 413 when the bodies of a batch are more than one request may send. */
function checkBodies(messages: Item[]): void {
  if (messages.reduce((sum, message) => sum + bodyBytes(message), 0) > sendBatchBytesMax)
    throw new ApiError(
      'payload_too_large',
      `The text and HTML of a batch have at most ${sendBatchBytesMax / (1024 * 1024)} MB. Send the messages in several batches.`,
    )
}

/** The error of one message, with its place in the batch. */
function atIndex(error: ApiError, index: number): ApiError {
  const place = `/messages/${index}`
  const details = error.details?.map(({ path, message }) => ({ path: `${place}${path}`, message })) ?? [
    { path: place, message: error.message },
  ]
  return new ApiError(error.code, error.message, { details, headers: error.headers, ...(error.status === 400 && { status: 400 as const }) })
}

function toReply(items: Decided[], queued: Queued[]): Reply {
  const left = queued.values()
  const data = items.map(({ index, refusal }) => {
    if (refusal !== null) {
      const { code, message, details } = refusal
      const error = { code, message, ...(details && { details }) }
      return { index, status: 'refused' as const, id: null, thread_id: null, created_at: null, error }
    }
    const { id, threadId, at } = left.next().value as Queued
    return { index, status: 'queued' as const, id, thread_id: threadId, created_at: at.toISOString(), error: null }
  })
  return { queued: queued.length, refused: data.length - queued.length, data }
}
