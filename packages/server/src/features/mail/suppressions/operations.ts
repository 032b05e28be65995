// Operations on the suppression list: manual entries, entries from bounces and complaints, and the check before every send.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/suppressions'
import { addressKey, findHiddenCharacter, readAddressKey } from '@callsign/mail/mail-address'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { type ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import {
  type Addressee,
  entriesFor,
  type NewSuppression,
  reasonCharactersMax,
  recipientSuppressed,
  type SuppressionRow,
  toSuppression,
} from './model.ts'
import * as store from './store.ts'

/** The list of addresses that an organization must not send to. */
export interface Suppressions {
  /** `POST /suppressions`. */
  createSuppression(call: Call, body: BodyOf<typeof contract.createSuppression>): Promise<ReplyOf<typeof contract.createSuppression>>
  /** `GET /suppressions`: newest first. */
  listSuppressions(caller: Caller, query: QueryOf<typeof contract.listSuppressions>): Promise<ReplyOf<typeof contract.listSuppressions>>
  /** `DELETE /suppressions/{email_address}`: idempotent. Throws 404 for an address that was never on the list. */
  deleteSuppression(call: Call, emailAddress: string): Promise<ReplyOf<typeof contract.deleteSuppression>>

  /**
   * Adds addresses with a permanent bounce or a complaint, in the transaction that records it. Existing entries stay unchanged. Skips texts
   * that are not addresses, since a report may name anything.
   */
  suppress(tx: Tx, additions: NewSuppression[]): Promise<void>
  /** For each message, in order, 403 `recipient_suppressed` that names all of its suppressed recipients, or null. */
  judgeRecipients(sql: Sql, messages: AddressedMessage[]): Promise<(ApiError | null)[]>
}

type AddressedMessage = { organizationId: string; addressees: Addressee[] }

/** The entries that can suppress a recipient of these messages. */
const wantedOf = (messages: AddressedMessage[]): store.Wanted[] =>
  messages.flatMap(({ organizationId, addressees }) =>
    addressees.flatMap(({ address }) => entriesFor(address).map((emailAddress) => ({ organizationId, emailAddress }))),
  )

export function createSuppressions({ db, accounts }: { db: Database; accounts: Accounts }): Suppressions {
  return {
    async createSuppression(call, body) {
      const { organizationId } = call.caller
      const hidden = findHiddenCharacter(body.email_address)
      if (hidden !== null) throw invalid('/email_address', `email_address contains ${hidden}, an invisible character: remove it`)
      const key = readAddressKey(body.email_address)
      if (key === null) throw invalid('/email_address', 'email_address must be an address such as user@example.com')
      const row: SuppressionRow = {
        id: newId('suppression'),
        organization_id: organizationId,
        email_address: key,
        source: 'manual',
        reason: body.reason ?? null,
        message_id: null,
        created_at: now(),
      }
      return call.transact(async (tx) => {
        const stored = (await store.upsertSuppressions(tx, [row], false))[0] as SuppressionRow
        await accounts.audit(tx, organizationId, actorOf(call), 'suppression.created', stored.id, { email_address: key })
        return toSuppression(stored)
      })
    },

    async listSuppressions(caller, query) {
      const page = readPage(query, 'suppression')
      const filter = {
        emailAddress: query.email_address === undefined ? null : addressKey(query.email_address),
        source: query.source ?? null,
        id: query.id ?? null,
      }
      return toPage(await store.listSuppressions(db.reads, caller.organizationId, filter, page), page.limit, (row) => row.id, toSuppression)
    },

    async deleteSuppression(call, emailAddress) {
      const { organizationId } = call.caller
      const key = addressKey(emailAddress)
      return call.transact(async (tx) => {
        const removed = await store.removeSuppression(tx, organizationId, key, now())
        if (!removed) throw notFound('suppressed address')
        if (removed.isNew)
          await accounts.audit(tx, organizationId, actorOf(call), 'suppression.deleted', removed.id, { email_address: key })
        return { id: removed.id, deleted: true as const }
      })
    },

    async suppress(tx, additions) {
      const rows = new Map<string, SuppressionRow>()
      for (const { organizationId, address, source, reason, messageId } of additions) {
        const key = readAddressKey(address)
        if (key === null || rows.has(`${organizationId} ${key}`)) continue
        rows.set(`${organizationId} ${key}`, {
          id: newId('suppression'),
          organization_id: organizationId,
          email_address: key,
          source,
          reason: reason.slice(0, reasonCharactersMax).toWellFormed().replaceAll('\0', ''),
          message_id: messageId,
          created_at: now(),
        })
      }
      if (rows.size > 0) await store.upsertSuppressions(tx, [...rows.values()], true)
    },

    async judgeRecipients(sql, messages) {
      const found = new Map(
        (await store.findSuppressions(sql, wantedOf(messages))).map((row) => [`${row.organization_id} ${row.email_address}`, row] as const),
      )
      if (found.size === 0) return messages.map(() => null)
      return messages.map(({ organizationId, addressees }) => {
        const refused = addressees.flatMap((addressee) => {
          const row = entriesFor(addressee.address)
            .map((entry) => found.get(`${organizationId} ${entry}`))
            .find((one) => one !== undefined)
          return row ? [{ addressee, row }] : []
        })
        return refused.length > 0 ? recipientSuppressed(refused) : null
      })
    },
  }
}
