// The simulator's controls, and what it keeps in a supplier's place. What it sends takes the way of a real callback: signed, verified, parsed, filed.
import { type FaultChannel, type listOutbox, type setFault, simulatedFaults, type simulateSms } from '@callsign/contract/simulator'
import type { Static } from 'typebox'
import type { Caller } from '../../core/caller.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { readPage, toPage } from '../../core/page.ts'
import type { RawRequest } from '../../core/route.ts'
import type { Database, Sql } from '../../core/sql.ts'
import { decodeBase64 } from '../mail/attachments/model.ts'
import type { Phones } from '../phone/operations.ts'
import * as store from './store.ts'

export type SimulatorState = ReturnType<typeof createSimulatorState>
export type Simulator = ReturnType<typeof createSimulator>

/** What became of a text that was handed in as a callback. */
type Filed = { kind: string; smsId?: string }

const mediaBytesMax = 25 * 1024 * 1024
const textsKeptMs = 24 * 3_600_000
const defaultSender = '+15555550100'

/** What the simulated suppliers keep: numbers, faults, texts kept back, the outbox. */
export function createSimulatorState(db: Database) {
  return {
    /** The carrier behind the simulated phone provider. */
    phoneCarrier: {
      takeFault: (organizationId: string, op: string) => store.takeFault(db, organizationId, 'phone', op),
      findFree: (numbers: string[]) => store.findFree(db, numbers),
      buy: (order: { organizationId: string; orderKey: string; phoneNumber: string }, readyInMs: number) =>
        store.buyNumber(db, order, readyInMs),
      find: (orderKey: string) => store.findNumber(db, orderKey),
      release: (orderKey: string) => store.releaseNumber(db, orderKey),
      listUndelivered: (since: Date) => store.listTexts(db, since),
    },

    /** The fault that befalls this call of a channel, once, or null. */
    takeFault: (organizationId: string, channel: FaultChannel, op: string) => store.takeFault(db, organizationId, channel, op),

    /** Notes what a phone would have received, in the caller's transaction if it has one; the same id twice is one. */
    async record(
      sql: Sql,
      organizationId: string,
      item: { id?: string; channel: 'imessage' | 'sms'; from: string; to: string; text: string; mediaUrl: string | null },
    ): Promise<void> {
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
  /** A text as a signed callback of the simulated provider. */
  toCallback: (body: Buffer, nowMs: number) => RawRequest
  /** Hands a callback in where real ones come in. */
  deliver: (request: RawRequest) => Promise<Filed[]>
}

export function createSimulator({ db, simulatorState, phones, pollNow, toCallback, deliver }: Parts) {
  async function requireSimulated(caller: Caller, reference: string) {
    const number = await phones.requireNumber(caller, reference)
    if (number.provider !== 'simulator') throw notFound('simulated phone number')
    return number
  }

  const post = (body: unknown) => deliver(toCallback(Buffer.from(JSON.stringify(body)), nowMs()))

  return {
    /** `POST /simulator/sms`. */
    async simulateSms(caller: Caller, body: Static<NonNullable<typeof simulateSms.body>>) {
      const number = await requireSimulated(caller, body.to)
      if (!body.text && !body.media?.length) throw invalid('/text', 'a text needs text or media')
      let bytes = 0
      for (const [index, media] of (body.media ?? []).entries()) {
        const path = `/media/${index}`
        if ((media.content === undefined) === (media.url === undefined)) throw invalid(path, 'media needs either content (base64) or url')
        if (media.content !== undefined) bytes += decodeBase64(media.content, path).length
      }
      if (bytes > mediaBytesMax) throw new ApiError('payload_too_large', 'The media of a text is at most 25 MB.')
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

    /** `POST /simulator/numbers/{id}/advance`. */
    async advanceNumber(caller: Caller, reference: string, body: { to?: 'ready' | 'assignment_failed' } | undefined) {
      const number = await requireSimulated(caller, reference)
      const wanted = body?.to ?? 'ready'
      if (number.sms_status === 'pending') {
        await store.advanceNumber(db, number.id, wanted === 'assignment_failed')
        await pollNow(number.id)
      }
      const settled = await phones.getPhoneNumber(caller, number.id)
      if (settled.sms_status !== wanted)
        throw new ApiError('conflict', `The number is ${settled.sms_status}; from pending alone it can be made ${wanted}.`)
      return settled
    },

    /** `POST /simulator/faults`. */
    async setFault(caller: Caller, body: Static<NonNullable<typeof setFault.body>>) {
      const { provider, op, fail, times = 1 } = body
      const ops: Record<string, readonly string[]> = simulatedFaults[provider]
      if (!Object.hasOwn(ops, op)) throw invalid('/op', `${provider} has the steps ${Object.keys(ops).join(', ')}`)
      if (!ops[op]?.includes(fail)) throw invalid('/fail', `${op} of ${provider} can fail as ${ops[op]?.join(', ')}`)
      await store.setFault(db, caller.organizationId, { channel: provider, op, fail, times })
      const faults = await store.listFaults(db, caller.organizationId)
      return { faults: faults.map((one) => ({ provider: one.channel as FaultChannel, op: one.op, fail: one.fail, times: one.times })) }
    },

    /** `GET /simulator/outbox`: newest first. */
    async listOutbox(caller: Caller, query: Static<NonNullable<typeof listOutbox.query>>) {
      const page = readPage(query, 'simulated')
      const rows = await store.listOutbox(db, caller.organizationId, query.to ?? null, page)
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
