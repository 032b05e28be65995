// Operations on phone numbers: provision, list, get and release. A job buys the number and the request waits for it.
import { isId } from '@callsign/contract/ids'
import type { PhoneNumber, provisionPhoneNumber } from '@callsign/contract/phones'
import type { Static } from 'typebox'
import { type Caller, identityIdsOf, mayActFor } from '../../core/caller.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue } from '../../core/job.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import { type Database, isForeignKeyViolation, type Tx } from '../../core/sql.ts'
import type { Identities } from '../account/identities/operations.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import { deleteTexts } from './message-store.ts'
import { alreadyAssigned, failureOf, type NumberRow, orderJob, readWanted, releaseJob, toPhoneNumber, type Wanted } from './model.ts'
import type { ProviderName } from './provider.ts'
import * as store from './store.ts'

export interface Phones {
  /** The active number with this id or phone number. Throws 404 for numbers of other organizations and, for an agent key, of other agents. */
  requireNumber(caller: Caller, reference: string): Promise<NumberRow>
  /** `POST /phone/numbers`: waits until the purchase has ended, at most `waitMsMax`. */
  provisionPhoneNumber(call: Call, body: Static<NonNullable<typeof provisionPhoneNumber.body>>): Promise<Static<typeof PhoneNumber>>
  /** `GET /phone/numbers`: newest first. An agent key sees its own number. */
  listPhoneNumbers(caller: Caller, query: PageQuery): Promise<Page<Static<typeof PhoneNumber>>>
  /** `GET /phone/numbers/{id}`. */
  getPhoneNumber(caller: Caller, reference: string): Promise<Static<typeof PhoneNumber>>
  /** `DELETE /phone/numbers/{id}`: idempotent by id. A phone number may have a new owner by the second request. */
  releasePhoneNumber(call: Call, reference: string): Promise<{ id: string; deleted: true }>
  /** `POST /phone/numbers/{id}/messages`. */
  refuseToSend(caller: Caller, reference: string): Promise<never>
  /** Releases the number or the purchase of an identity, in the transaction that deletes the identity. */
  releaseOf(tx: Tx, identityId: string): Promise<void>
  /** Numbers in events, with immutable facts only. */
  describe(ids: string[]): Promise<Map<string, Record<string, unknown>>>
  /** Deletes purchases that failed more than 7 days ago. */
  sweep(): Promise<void>
}

type Parts = {
  db: Database
  accounts: Accounts
  identities: Identities
  attachments: Attachments
  enqueue: Enqueue
  /** The supplier of new numbers. */
  providerName: ProviderName
  /** Longest wait of a request for its number. */
  waitMsMax: number
}

/** First and longest interval between two polls of a purchase. */
const pollMs = { first: 20, last: 250 }
const failedKeptMs = 7 * 24 * 3_600_000

export function createPhones({ db, accounts, identities, attachments, enqueue, providerName, waitMsMax }: Parts): Phones {
  const isSame = (row: NumberRow, wanted: Wanted): boolean =>
    row.country_code === wanted.country_code &&
    row.type === wanted.type &&
    row.wanted_region === wanted.wanted_region &&
    row.wanted_area_code === wanted.wanted_area_code

  /** The purchase that this request waits for: a new one, or an equal one whose request ended without a response. */
  async function findOrBegin(caller: Caller, agent: { identityId: string; handle: string }, wanted: Wanted): Promise<string> {
    const id = newId('phoneNumber')
    const isNew = await db
      .transact(async (tx) => {
        const { organizationId } = caller
        const row = {
          id,
          organization_id: organizationId,
          identity_id: agent.identityId,
          agent_handle: agent.handle,
          provider: providerName,
        }
        if (!(await store.insertNumber(tx, { ...row, ...wanted, created_at: now() }))) return false
        await enqueue(tx, [{ kind: orderJob, organizationId, subject: id }])
        return true
      })
      .catch((error: unknown) => {
        throw isForeignKeyViolation(error) ? notFound('agent') : error
      })
    if (isNew) return id
    const present = await store.findNumberOf(db, agent.identityId)
    if (!present || present.delivered_at !== null || !isSame(present, wanted)) throw alreadyAssigned(agent.handle)
    return present.id
  }

  /** Waits until the purchase has succeeded or failed. */
  async function waitForEnd(id: string): Promise<NumberRow | null> {
    const deadlineMs = nowMs() + waitMsMax
    for (let waitMs = pollMs.first; ; waitMs = Math.min(pollMs.last, waitMs * 1.5)) {
      const row = await store.findNumber(db, id)
      if (row?.state !== 'ordering') return row
      if (nowMs() > deadlineMs) {
        throw new ApiError(
          'upstream_provider_error',
          'The phone provider has not confirmed the purchase yet. Send the same request again: it continues this purchase and does not buy a second number.',
        )
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  async function requireNumber(caller: Caller, reference: string): Promise<NumberRow> {
    const row = await store.findActive(db, caller.organizationId, reference)
    if (!row || !mayActFor(caller, row.identity_id)) throw notFound('phone number')
    return row
  }

  /** Takes a number and its texts from its agent, and enqueues its return to the supplier. */
  async function startRelease(tx: Tx, row: Pick<NumberRow, 'id' | 'organization_id'>): Promise<boolean> {
    if (!(await store.startRelease(tx, row.id, now()))) return false
    const blobKeys = await deleteTexts(tx, row.id)
    await enqueue(tx, [{ kind: releaseJob, organizationId: row.organization_id, subject: row.id }])
    tx.afterCommit(() => attachments.deleteBlobs(blobKeys))
    return true
  }

  return {
    requireNumber,

    async provisionPhoneNumber(call, body) {
      const { caller } = call
      const wanted = readWanted(body)
      const agent = await identities.findAgent(caller.organizationId, body.agent_handle.replace(/^@/, ''))
      if (!agent) throw notFound('agent')
      const ended = await waitForEnd(await findOrBegin(caller, agent, wanted))
      if (ended === null) throw notFound('agent')
      if (ended.state === 'failed') throw failureOf(ended)
      return call.transact(async (tx) => {
        const row = await store.claimResponse(tx, ended.id)
        // Returned by an equal request, or released meanwhile.
        if (!row) throw alreadyAssigned(agent.handle)
        const details = { agent_handle: row.agent_handle, phone_number: row.phone_number, provider: row.provider }
        await accounts.audit(tx, row.organization_id, actorOf(call), 'phone_number.provisioned', row.id, details)
        return toPhoneNumber(row)
      })
    },

    async listPhoneNumbers(caller, query) {
      const page = readPage(query, 'phoneNumber')
      const rows = await store.listNumbers(db.reads, caller.organizationId, identityIdsOf(caller), page)
      return toPage(rows, page.limit, (row) => row.id, toPhoneNumber)
    },

    getPhoneNumber: async (caller, reference) => toPhoneNumber(await requireNumber(caller, reference)),

    async releasePhoneNumber(call, reference) {
      const { organizationId } = call.caller
      const row = await store.findActive(db, organizationId, reference)
      if (!row) {
        if (isId('phoneNumber', reference) && (await store.wasReleased(db, organizationId, reference)))
          return { id: reference, deleted: true as const }
        throw notFound('phone number')
      }
      await call.transact(async (tx) => {
        if (!(await startRelease(tx, row))) return
        const details = { agent_handle: row.agent_handle, phone_number: row.phone_number }
        await accounts.audit(tx, organizationId, actorOf(call), 'phone_number.released', row.id, details)
      })
      return { id: row.id, deleted: true as const }
    },

    async refuseToSend(caller, reference) {
      await requireNumber(caller, reference)
      throw new ApiError('sms_outbound_unavailable', 'Phone numbers only receive texts. Sending is not supported.', {
        headers: { Allow: 'GET, HEAD' },
      })
    },

    async releaseOf(tx, identityId) {
      const row = await store.findNumberOf(tx, identityId)
      if (row) await startRelease(tx, row)
    },

    async describe(ids) {
      const rows = await store.findNumbers(db, ids)
      return new Map(
        [...rows].flatMap(([id, row]) => {
          if (row.state !== 'active') return []
          const { sms_status, sms_error, updated_at, ...facts } = toPhoneNumber(row)
          return [[id, facts] as const]
        }),
      )
    },

    sweep: () => store.sweepFailed(db, inMs(-failedKeptMs)),
  }
}
