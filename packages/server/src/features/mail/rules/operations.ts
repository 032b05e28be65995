// Operations on mail rules, and their decisions on inbound and outbound mail.
import type * as contract from '@callsign/contract/mail-rules'
import { everyAgent } from '@callsign/contract/mail-rules'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import { addressKey, domainKey } from '@callsign/mail/mail-address'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Accounts, actorOf, clientIdTaken, createOnce } from '../../account/organizations/operations.ts'
import { type Arrival, candidatesFor, decideInbound, decideOutbound, type Rule, type Rules } from './decision.ts'
import { type Guardrail, type MailRuleRow, type RuleDirection, readEntry, rulesMax, toMailRule } from './model.ts'
import * as store from './store.ts'

type RuleReply = ReplyOf<typeof contract.getMailRule>

/** Mail rules of identities and of every agent, and the decisions on inbound and outbound mail. The reference `*` means every agent. */
export interface MailRules {
  /** `POST /identities/{handle}/mail-rules`. */
  createMailRule(call: Call, reference: string, body: BodyOf<typeof contract.createMailRule>): Promise<RuleReply>
  /** `GET /identities/{handle}/mail-rules`: newest first. */
  listMailRules(
    caller: Caller,
    reference: string,
    query: QueryOf<typeof contract.listMailRules>,
  ): Promise<ReplyOf<typeof contract.listMailRules>>
  /** `GET …/mail-rules/{rule_id}`. */
  getMailRule(caller: Caller, reference: string, id: string): Promise<RuleReply>
  /** `PATCH …/mail-rules/{rule_id}`. */
  updateMailRule(call: Call, reference: string, id: string, body: BodyOf<typeof contract.updateMailRule>): Promise<RuleReply>
  /** `DELETE …/mail-rules/{rule_id}`: idempotent. */
  deleteMailRule(call: Call, reference: string, id: string): Promise<ReplyOf<typeof contract.deleteMailRule>>

  /** The rules that `judgeArrivals` needs for messages from these senders. */
  findInbound(sql: Sql, arrivals: AskedSenders[]): Promise<FoundRules>
  /** The decision on each arriving message, in order. */
  judgeArrivals(arrivals: JudgedArrival[], rulesOf: FoundRules): Guardrail[]
  /** For each outgoing message, in order, the guardrail that allows it, or 403 `recipient_not_allowed` with its refused recipients. */
  judgeOutgoing(sql: Sql, messages: OutgoingRecipients[]): Promise<(Guardrail | ApiError)[]>
}

/** A mailbox owner, and the authors of a message to it. */
export type AskedSenders = { owner: MailboxOwner; senders: string[] }

/** An inbound message and the owner of its mailbox. */
export type JudgedArrival = Omit<Arrival, 'mode'> & { owner: MailboxOwner }

/** The active rules that match the requested addresses: of an identity, and of its organization for entries without one of its own. */
export type FoundRules = (owner: Pick<MailboxOwner, 'identityId' | 'organizationId'>) => Rules

/** The sender of an outgoing message, its recipients, and the further addresses that it asks to write to, with the field that names each. */
export type OutgoingRecipients = {
  owner: MailboxOwner
  addressees: { kind: 'to' | 'cc' | 'bcc'; address: string }[]
  replyAddresses: { field: string; address: string }[]
}

/** The owner of rules. Without an identity it is the organization, whose rules hold for every agent. */
type RuleOwner = { id: string; identityId: string | null; handle: string | null }

const uniqueIndexes = ['mail_rules_inbound', 'mail_rules_outbound']

export function createMailRules({ db, accounts, identities }: { db: Database; accounts: Accounts; identities: Identities }): MailRules {
  const noRule = () => notFound('mail rule')

  const isTaken = (error: unknown) => uniqueIndexes.some((index) => isUniqueViolation(error, index))

  /** 409 that names the existing rule. */
  async function taken(ownerId: string, rule: { entry: string; direction: RuleDirection }, id: string | null): Promise<ApiError> {
    const other = await store.findRuleOfEntry(db, ownerId, rule.entry, rule.direction, id)
    return new ApiError('conflict', `${rule.entry} has a rule for this direction already${other ? `: ${other}` : ''}. Change that one.`)
  }

  async function findRules(sql: Sql, way: 'inbound' | 'outbound', asked: AskedAddresses[]): Promise<FoundRules> {
    const byOwner = new Map<string, Map<string, Rule>>()
    const wanted = wantedOf(asked)
    const found = wanted.length === 0 ? [] : await store.findRules(sql, way, wanted)
    for (const { owner_id, ...rule } of found)
      byOwner.set(owner_id, (byOwner.get(owner_id) ?? new Map<string, Rule>()).set(rule.entry, rule))
    return ({ identityId, organizationId }) => new Map([...(byOwner.get(organizationId) ?? []), ...(byOwner.get(identityId) ?? [])])
  }

  /** The identity that a reference names, or the organization for `*`. */
  async function findOwner(caller: Caller, reference: string): Promise<RuleOwner> {
    if (reference === everyAgent) return { id: caller.organizationId, identityId: null, handle: null }
    const { id, agent_handle } = await identities.getIdentity(caller, reference)
    return { id, identityId: id, handle: agent_handle }
  }

  return {
    async createMailRule(call, reference, body) {
      const owner = await findOwner(call.caller, reference)
      const at = now()
      const row: MailRuleRow = {
        id: newId('mailRule'),
        organization_id: call.caller.organizationId,
        identity_id: owner.identityId,
        direction: body.direction,
        action: body.action,
        entry: readEntry(body.entry),
        reason: body.reason ?? null,
        status: body.status ?? 'active',
        client_id: body.client_id ?? null,
        created_at: at,
        updated_at: at,
      }
      try {
        const create = async (tx: Tx) => {
          if (!(await store.insertMailRule(tx, row, rulesMax)))
            throw new ApiError('conflict', `An agent, and the organization, has at most ${rulesMax} mail rules. Delete one first.`)
          const { direction, action, entry } = row
          const details = { agent_handle: owner.handle, direction, action, entry }
          await accounts.audit(tx, row.organization_id, actorOf(call), 'mail_rule.created', row.id, details)
          return toMailRule(row, owner.handle)
        }
        const find = async (tx: Tx, clientId: string) => {
          const found = await store.findRuleByClientId(tx, row.organization_id, clientId)
          if (found && found.identity_id !== owner.identityId) throw clientIdTaken()
          return found && toMailRule(found, owner.handle)
        }
        return await call.transact((tx) =>
          createOnce(tx, { organizationId: row.organization_id, kind: 'mailRule', clientId: row.client_id }, find, create),
        )
      } catch (error) {
        throw isTaken(error) ? await taken(owner.id, row, null) : error
      }
    },

    async listMailRules(caller, reference, query) {
      const page = readPage(query, 'mailRule')
      const owner = await findOwner(caller, reference)
      const { direction = null, action = null, status = null, entry } = query
      const key = entry === undefined ? null : entry.includes('@') ? addressKey(entry) : domainKey(entry)
      const rows = await store.listMailRules(db.reads, owner.id, { direction, action, status, entry: key }, page)
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => toMailRule(row, owner.handle),
      )
    },

    async getMailRule(caller, reference, id) {
      const owner = await findOwner(caller, reference)
      const row = await store.findMailRule(db, owner.id, id)
      if (!row) throw noRule()
      return toMailRule(row, owner.handle)
    },

    async updateMailRule(call, reference, id, body) {
      const owner = await findOwner(call.caller, reference)
      const change: store.MailRuleChange = {
        direction: body.direction ?? null,
        action: body.action ?? null,
        entry: body.entry === undefined ? null : readEntry(body.entry),
        hasReason: body.reason !== undefined,
        reason: body.reason ?? null,
        status: body.status ?? null,
        at: now(),
      }
      try {
        return await call.transact(async (tx) => {
          const row = await store.updateMailRule(tx, owner.id, id, change)
          if (!row) throw noRule()
          const { direction, action, entry, status } = row
          const details = { agent_handle: owner.handle, direction, action, entry, status }
          await accounts.audit(tx, row.organization_id, actorOf(call), 'mail_rule.updated', id, details)
          return toMailRule(row, owner.handle)
        })
      } catch (error) {
        const before = isTaken(error) ? await store.findMailRule(db, owner.id, id) : null
        if (!before) throw error
        throw await taken(owner.id, { entry: change.entry ?? before.entry, direction: change.direction ?? before.direction }, id)
      }
    },

    async deleteMailRule(call, reference, id) {
      const owner = await findOwner(call.caller, reference)
      return call.transact(async (tx) => {
        const deleted = await store.deleteMailRule(tx, owner.id, id, now())
        if (!deleted) throw noRule()
        const details = { agent_handle: owner.handle, entry: deleted.entry }
        if (deleted.isNew) await accounts.audit(tx, call.caller.organizationId, actorOf(call), 'mail_rule.deleted', id, details)
        return { id, deleted: true as const }
      })
    },

    findInbound: (sql, arrivals) => findRules(sql, 'inbound', arrivals.map(toAsked)),

    judgeArrivals: (arrivals, rulesOf) =>
      arrivals.map(({ owner, ...arrival }) => decideInbound({ ...arrival, mode: owner.inboundMode }, rulesOf(owner))),

    async judgeOutgoing(sql, messages) {
      const rulesOf = await findRules(sql, 'outbound', messages.map(addressesOf))
      return messages.map(({ owner, addressees, replyAddresses }) => {
        const decide = (list: { address: string }[]) =>
          decideOutbound(
            list.map(({ address }) => address),
            owner.outboundMode,
            rulesOf(owner),
          )
        const sent = decide(addressees)
        const refusals = [...sent.refusals, ...decide(replyAddresses).refusals]
        if (sent.guardrail && refusals.length === 0) return sent.guardrail
        const fields = [...addressees.map(({ kind, address }) => ({ field: kind, address })), ...replyAddresses]
        const details = refusals.map(({ address, reason }) => ({
          path: `/${fields.find((one) => one.address === address)?.field}`,
          message: reason,
        }))
        const rest = refusals.length - 1
        const more = rest > 0 ? ` So ${rest === 1 ? 'is' : 'are'} ${rest} more, listed in details.` : ''
        return new ApiError('recipient_not_allowed', `${refusals[0]?.reason}.${more}`, { details })
      })
    },
  }
}

const toAsked = ({ owner, senders }: AskedSenders): AskedAddresses => ({ owner, addresses: senders })

type AskedAddresses = { owner: MailboxOwner; addresses: string[] }

const addressesOf = ({ owner, addressees, replyAddresses }: OutgoingRecipients): AskedAddresses => ({
  owner,
  addresses: [...addressees, ...replyAddresses].map(({ address }) => address),
})

/** The entries that a rule for one of the addresses may have, of the identity and of its organization. */
const wantedOf = (asked: AskedAddresses[]): store.Wanted[] =>
  asked.flatMap(({ owner: { identityId, organizationId }, addresses }) => {
    const entries = new Set(addresses.flatMap((address) => candidatesFor(address).map(({ entry }) => entry)))
    return [...entries].flatMap((entry) => [
      { ownerId: identityId, entry },
      { ownerId: organizationId, entry },
    ])
  })
