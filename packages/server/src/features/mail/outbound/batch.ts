// Sends many messages in one transaction: all or none of them, or those that can be sent.
import type { sendBatch } from '@callsign/contract/batches'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from '../../../core/caller.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Call } from '../../../core/route.ts'
import type { Sql, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Addressed } from './filing.ts'
import { type Inspection, type OutgoingMessage, orGone, type Queued } from './model.ts'

type Body = BodyOf<typeof sendBatch>
type Item = Body['messages'][number]
type Reply = ReplyOf<typeof sendBatch>

type Parts = {
  requireSender: (caller: Caller, mailbox: string) => Promise<MailboxOwner>
  prepare: (call: Call, owner: MailboxOwner, message: Omit<Item, 'agent'>) => Promise<OutgoingMessage>
  inspectOne: (message: Addressed) => Promise<Inspection>
  queueAll: (tx: Tx, messages: Addressed[]) => Promise<Queued[]>
  refusalsOf: (sql: Sql, messages: Addressed[]) => Promise<(ApiError | null)[]>
}

/** A message of a batch: ready to be queued, or refused. */
type Prepared = { index: number } & ({ addressed: Addressed; refusal: null } | { addressed: null; refusal: ApiError })

export function createBatchSend({ requireSender, prepare, inspectOne, queueAll, refusalsOf }: Parts) {
  async function prepareItem(call: Call, { agent, ...message }: Item, index: number): Promise<Prepared> {
    try {
      const owner = await requireSender(call.caller, agent)
      const addressed = { owner, outgoing: await prepare(call, owner, message) }
      return { index, addressed: { ...addressed, inspection: await inspectOne(addressed) }, refusal: null }
    } catch (error) {
      if (error instanceof ApiError) return { index, addressed: null, refusal: error }
      throw error
    }
  }

  /** The same messages, with those as refused that rules or suppressions refuse. */
  async function judgeItems(tx: Tx, prepared: Prepared[]): Promise<Prepared[]> {
    const ready = prepared.flatMap(({ addressed }) => addressed ?? [])
    const refusals = new Map((await refusalsOf(tx, ready)).map((refusal, place) => [ready[place], refusal]))
    return prepared.map((item) => {
      const refusal = item.addressed && refusals.get(item.addressed)
      return refusal ? { index: item.index, addressed: null, refusal } : item
    })
  }

  return async (call: Call, { messages, mode = 'strict' }: Body): Promise<Reply> => {
    const prepared: Prepared[] = []
    // One after another, because each may fetch attachments.
    for (const [index, message] of messages.entries()) {
      const item = await prepareItem(call, message, index)
      if (item.refusal && mode === 'strict') throw atIndex(item.refusal, index)
      prepared.push(item)
    }
    return call
      .transact(async (tx) => {
        const items = await judgeItems(tx, prepared)
        const refused = items.find((item) => item.refusal !== null)
        if (refused?.refusal && mode === 'strict') throw atIndex(refused.refusal, refused.index)
        const queued = await queueAll(
          tx,
          items.flatMap(({ addressed }) => addressed ?? []),
        )
        return toReply(items, queued)
      })
      .catch(orGone)
  }
}

/** The error of one message, with its place in the batch. */
function atIndex(error: ApiError, index: number): ApiError {
  const place = `/messages/${index}`
  const details = error.details?.map(({ path, message }) => ({ path: `${place}${path}`, message })) ?? [
    { path: place, message: error.message },
  ]
  return new ApiError(error.code, error.message, { details, headers: error.headers, ...(error.status === 400 && { status: 400 as const }) })
}

function toReply(items: Prepared[], queued: Queued[]): Reply {
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
