// Controls and state of the simulated suppliers. Their texts arrive as real callbacks do: signed, verified, parsed and filed.
import type { PhoneNumber } from '@callsign/contract/phones'
import type { listOutbox, OutboxItem, setFault, simulateSms } from '@callsign/contract/simulator'
import { type FaultChannel, simulatedFaults } from '@callsign/contract/simulator-choices'
import type { Static } from 'typebox'
import type { Caller } from '../../core/caller.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { type Page, readPage, toPage } from '../../core/page.ts'
import type { RawRequest } from '../../core/route.ts'
import type { Database, Sql } from '../../core/sql.ts'
import { decodeBase64 } from '../mail/attachments/model.ts'
import type { Phones } from '../phone/operations.ts'
import * as store from './store.ts'

export interface SimulatorState {
  /** The carrier behind the simulated phone provider. */
  phoneCarrier: {
    takeFault(organizationId: string, op: string): Promise<string | null>
    findFree(numbers: string[]): Promise<string[]>
    buy(order: { organizationId: string; orderKey: string; phoneNumber: string }, readyInMs: number): Promise<boolean>
    find(orderKey: string): Promise<{ phoneNumber: string; isReady: boolean; isRejected: boolean } | null>
    release(orderKey: string): Promise<void>
    listUndelivered(since: Date): Promise<unknown[]>
  }
  /** Takes the fault set for one call of a channel, or null. A fault happens once. */
  takeFault(organizationId: string, channel: FaultChannel, op: string): Promise<string | null>
  /** Adds a message to the outbox, in the caller's transaction if given. Idempotent by id. */
  record(
    sql: Sql,
    organizationId: string,
    item: { id?: string; channel: 'imessage' | 'sms'; from: string; to: string; text: string; mediaUrl: string | null },
  ): Promise<void>
  /** Deletes withheld texts after 24 hours. */
  sweep(): Promise<void>
}
export interface Simulator {
  /** `POST /simulator/sms`. */
  simulateSms(
    caller: Caller,
    body: Static<NonNullable<typeof simulateSms.body>>,
  ): Promise<{ provider_message_id: string; message_id: string | null; status: 'dropped' | 'pending' | 'received' }>
  /** `POST /simulator/numbers/{id}/advance`. */
  advanceNumber(
    caller: Caller,
    reference: string,
    body: { to?: 'ready' | 'assignment_failed' } | undefined,
  ): Promise<Static<typeof PhoneNumber>>
  /** `POST /simulator/faults`. */
  setFault(
    caller: Caller,
    body: Static<NonNullable<typeof setFault.body>>,
  ): Promise<{ faults: { provider: FaultChannel; op: string; fail: string; times: number }[] }>
  /** `GET /simulator/outbox`: newest first. */
  listOutbox(caller: Caller, query: Static<NonNullable<typeof listOutbox.query>>): Promise<Page<Static<typeof OutboxItem>>>
}

/** The result of a text that arrived as a callback. */
type Filed = { kind: string; smsId?: string }

const mediaBytesMax = 25 * 1024 * 1024
const textsKeptMs = 24 * 3_600_000
const defaultSender = '+15555550100'

/** State of the simulated suppliers: numbers, faults, withheld texts and the outbox. */
export function createSimulatorState(db: Database): SimulatorState {
  return {
    phoneCarrier: {
      takeFault: (organizationId: string, op: string) => store.takeFault(db, organizationId, 'phone', op),
      findFree: (numbers: string[]) => store.findFree(db, numbers),
      buy: (order: { organizationId: string; orderKey: string; phoneNumber: string }, readyInMs: number) =>
        store.buyNumber(db, order, readyInMs),
      find: (orderKey: string) => store.findNumber(db, orderKey),
      release: (orderKey: string) => store.releaseNumber(db, orderKey),
      listUndelivered: (since: Date) => store.listTexts(db, since),
    },

    takeFault: (organizationId, channel, op) => store.takeFault(db, organizationId, channel, op),

    async record(sql, organizationId, item) {
      await store.insertOutbox(sql, organizationId, {
        id: item.id ?? newId('simulated'),
        channel: item.channel,
        from_number: item.from,
        to_number: item.to,
        text: item.text,
        media_url: item.mediaUrl,
        created_at: now(),
      })
    },

    sweep: () => store.sweepTexts(db, inMs(-textsKeptMs)),
  }
}

type Parts = {
  db: Database
  simulatorState: SimulatorState
  phones: Phones
  /** Polls the provider now for the state of a number. */
  pollNow: (numberId: string) => Promise<void>
  /** Makes the signed callback of a text. */
  toCallback: (body: Buffer, nowMs: number) => RawRequest
  /** Delivers a callback to the endpoint of real ones. */
  deliver: (request: RawRequest) => Promise<Filed[]>
}

export function createSimulator({ db, simulatorState, phones, pollNow, toCallback, deliver }: Parts): Simulator {
  async function requireSimulated(caller: Caller, reference: string) {
    const number = await phones.requireNumber(caller, reference)
    if (number.provider !== 'simulator') throw notFound('simulated phone number')
    return number
  }

  const post = (body: unknown) => deliver(toCallback(Buffer.from(JSON.stringify(body)), nowMs()))

  return {
    async simulateSms(caller, body) {
      const number = await requireSimulated(caller, body.to)
      if (!body.text && !body.media?.length) throw invalid('/text', 'text or media is required')
      let bytes = 0
      for (const [index, media] of (body.media ?? []).entries()) {
        const path = `/media/${index}`
        if ((media.content === undefined) === (media.url === undefined))
          throw invalid(path, 'media requires content (base64) or url, not both')
        if (media.content !== undefined) bytes += decodeBase64(media.content, path).length
      }
      if (bytes > mediaBytesMax) throw new ApiError('payload_too_large', 'The media of a text exceeds 25 MB. Send less.')
      const { organizationId } = caller
      const id = newId('simulated')
      const text = {
        id,
        from: body.from ?? defaultSender,
        to: number.phone_number,
        text: body.text ?? '',
        media: body.media ?? [],
        sent_at_ms: nowMs(),
      }
      const fault = await simulatorState.takeFault(organizationId, 'phone', 'webhook')
      if (fault === 'drop' || fault === 'reorder') {
        await store.keepText(db, organizationId, id, text, fault === 'reorder')
        return { provider_message_id: id, message_id: null, status: 'dropped' as const }
      }
      const [filed] = await post(text)
      if (fault === 'duplicate') await post(text)
      for (const held of await store.takeHeld(db, organizationId)) await post(held)
      return {
        provider_message_id: id,
        message_id: filed?.smsId ?? null,
        status: filed?.kind === 'filed' ? ('received' as const) : filed?.kind === 'pending' ? ('pending' as const) : ('dropped' as const),
      }
    },

    async advanceNumber(caller, reference, body) {
      const number = await requireSimulated(caller, reference)
      const wanted = body?.to ?? 'ready'
      if (number.sms_status === 'pending') {
        await store.advanceNumber(db, number.id, wanted === 'assignment_failed')
        await pollNow(number.id)
      }
      const settled = await phones.getPhoneNumber(caller, number.id)
      if (settled.sms_status !== wanted)
        throw new ApiError('conflict', `The number is ${settled.sms_status}. Only a pending number can be made ${wanted}.`)
      return settled
    },

    async setFault(caller, body) {
      const { provider, op, fail, times = 1 } = body
      const ops: Record<string, readonly string[]> = simulatedFaults[provider]
      if (!Object.hasOwn(ops, op)) throw invalid('/op', `op must be a step of ${provider}: ${Object.keys(ops).join(', ')}`)
      if (!ops[op]?.includes(fail)) throw invalid('/fail', `fail must be a fault of ${op} of ${provider}: ${ops[op]?.join(', ')}`)
      await store.setFault(db, caller.organizationId, { channel: provider, op, fail, times })
      const faults = await store.listFaults(db, caller.organizationId)
      return { faults: faults.map((one) => ({ provider: one.channel as FaultChannel, op: one.op, fail: one.fail, times: one.times })) }
    },

    async listOutbox(caller, query) {
      const page = readPage(query, 'simulated')
      const rows = await store.listOutbox(db.reads, caller.organizationId, query.to ?? null, page)
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => ({
          id: row.id,
          channel: row.channel,
          from: row.from_number,
          to: row.to_number,
          text: row.text,
          media_url: row.media_url,
          created_at: row.created_at.toISOString(),
        }),
      )
    },
  }
}
