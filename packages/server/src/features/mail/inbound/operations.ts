// Operations of inbound mail: looks up recipients and files messages durably before the sender gets a reply.

import { authorOf } from '@callsign/mail/authentication/dmarc/author'
import { toFlags } from '@callsign/mail/content/deception/flags'
import type { ResolverHealth } from '@callsign/mail/dns'
import { addressDomain } from '@callsign/mail/mime/addresses'
import { groupCommit } from '../../../core/batch.ts'
import type { Blobs } from '../../../core/blobs.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { nowMs } from '../../../core/clock.ts'
import { type Database, DatabaseUnavailable, isForeignKeyViolation, isOutcomeUnknown, type Sql, type Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { MailRules } from '../rules/operations.ts'
import { StorageFull } from '../storage/model.ts'
import type { Storage } from '../storage/operations.ts'
import { type Filed, type Filing, fileMessages, keepRaw } from '../stored/mail-store.ts'
import { toFiling } from './filing.ts'
import { createJudgeArrivals, type Incoming } from './judging.ts'
import { type Arrival, type MailIntake, type Prepared, type Refused, roleDomainOf, shownAuthor, withTrace } from './model.ts'
import type { MailReader } from './provider.ts'
import { receive } from './receive.ts'
import { type Checked, createSenderCheck } from './sender-check.ts'
import * as store from './store.ts'
import type { WakeGuard } from './wake-guard.ts'

/** Inbound mail. */
export interface InboundMail {
  /** The mailbox that receives mail for this address, role addresses included. Null when none does. Always queries the database. */
  findRecipient(address: string): Promise<MailboxOwner | null>
  /** True for a role address of this server, even without a mailbox for it. */
  isRole(address: string): Promise<boolean>
  /**
   * Parses a message and stores its large bytes, outside any transaction. Makes one filing per mailbox. `owners` has the mailbox of each
   * recipient. For mail of an agent on this server.
   */
  prepare(arrival: Arrival, owners: MailboxOwner[]): Promise<Prepared>
  /** Files prepared mail and its events in the caller's transaction. */
  file(tx: Tx, prepared: Prepared[]): Promise<void>
  /** `receive` for mail from an SMTP client. */
  receive(arrival: Arrival): Promise<{ id: string } | Refused>
  /** True if the quotas of this recipient have room for a message of this size. */
  hasRoom(owner: MailboxOwner, sizeBytes: number): Promise<boolean>
  /** Deletes records of deferred messages after 7 days without a retry. Returns their number. */
  sweepDeferrals(): Promise<number>
}

type Parts = {
  db: Database
  blobs: Blobs
  identities: Identities
  mailRules: MailRules
  wakeGuard: WakeGuard
  businessEvents: BusinessEvents
  reader: MailReader
  /** Reports if DNS answers at all, regardless of the sender's own names. */
  resolverHealth: ResolverHealth
  storage: Storage
  /** The domains among these that have mailboxes here. */
  findHostedDomains: (sql: Sql, domains: string[]) => Promise<ReadonlySet<string>>
  /** The host name in our trace fields. */
  hostname: string
}

/**
 * The fixed cost of a group (commit and statements) equals about four messages. While one group is filed the next one fills. It
 * starts beside the first when it is full, or after 100 ms.
 */
const groupOptions = {
  groupMax: 16,
  inFlightMax: 3,
  besideFrom: 16,
  // Messages that may have been committed are looked up, not filed again: without a Message-ID a copy would not be recognized.
  isFinal: isOutcomeUnknown,
}

export function createInboundMail({
  db,
  blobs,
  identities,
  mailRules,
  wakeGuard,
  businessEvents,
  reader,
  resolverHealth,
  storage,
  findHostedDomains,
  hostname,
}: Parts): InboundMail {
  const senders = createSenderCheck({ db, reader, resolverHealth })
  const judgeArrivals = createJudgeArrivals({ mailRules, findHostedDomains })
  const fileTogether = groupCommit((group: Prepared[]) => db.transact((tx) => fileAll(tx, group)), groupOptions)

  async function fileAll(tx: Tx, group: Prepared[]): Promise<Filed[][]> {
    const owners = group.flatMap((one) => one.owners)
    const arrivals = group.flatMap((one) =>
      one.filings.map((filing, index): Incoming => ({ filing, author: one.author, owner: one.owners[index] as MailboxOwner })),
    )
    await storage.reserve(
      tx,
      arrivals.map(({ owner, filing }) => ({ owner, bytes: filing.message.size_bytes })),
    )
    const { filings, known } = await judgeArrivals(tx, arrivals)
    const raws = group.flatMap((one) => one.raws)
    const filed = await fileMessages(tx, filings, known, raws, async (places) => {
      const announcements = places.flatMap(({ messageId, isDuplicate }, index) => {
        const owner = owners[index] as MailboxOwner
        const { organizationId, identityId } = owner
        const { status, from_address: sender } = (filings[index] as Filing).message
        const type = status === 'quarantined' ? ('email.quarantined' as const) : ('email.received' as const)
        return isDuplicate ? [] : [{ owner, sender, event: { type, organizationId, identityId, subjectId: messageId } }]
      })
      await wakeGuard.announce(tx, announcements)
    })
    tx.afterCommit(() => {
      for (const [index, filing] of filings.entries()) {
        if (filed[index]?.isDuplicate) continue
        const { organization_id, mailbox_id, id: message_id, size_bytes, guardrail } = filing.message
        const status = guardrail?.decision === 'quarantined' ? 'quarantined' : 'received'
        businessEvents.messageAccepted({ organization_id, mailbox_id, message_id, size_bytes, status })
      }
    })
    const rest = [...filed]
    return group.map((one) => rest.splice(0, one.filings.length))
  }

  /** The mailbox that receives mail for this address, role addresses included. Null when none does. */
  async function findRecipient(address: string): Promise<MailboxOwner | null> {
    const owner = address.includes('@') ? await identities.findHosted(address) : null
    const domain = owner ? null : roleDomainOf(address, hostname)
    return domain === null ? owner : identities.findPostmaster(domain)
  }

  async function prepare(arrival: Arrival, owners: MailboxOwner[], checked: Checked): Promise<Prepared> {
    const { verdicts, sha256, isUnverified } = checked
    const distinct = [...new Map(owners.map((owner) => [owner.mailboxId, owner])).values()]
    const stored = withTrace(arrival, verdicts, hostname, distinct.length === 1 ? (distinct[0] as MailboxOwner).address : null)
    const { parsed, extractedText, codes, indicators } = await reader.read(stored)
    const organizations = [...new Set(distinct.map((owner) => owner.organizationId))]
    const raws = await Promise.all(organizations.map((organizationId) => keepRaw(blobs, organizationId, stored, sha256)))
    const rawIds = new Map(raws.map((raw) => [raw.organizationId, raw.id]))
    const author = authorOf(parsed, verdicts)
    const shown = author ?? parsed.from.find((entry) => entry.address !== '') ?? { name: parsed.from[0]?.name ?? '', address: '' }
    const recipientsOf = (owner: MailboxOwner) => arrival.recipients.filter((_, index) => owners[index]?.mailboxId === owner.mailboxId)
    const flagsFor = (owner: MailboxOwner) =>
      toFlags(indicators, {
        parsed,
        ...shown,
        verdicts,
        isUnverified,
        hasAuthor: author !== null,
        ownDomains: [hostname, ...new Set([owner.address, ...recipientsOf(owner)].map(addressDomain))],
      })
    const filings = distinct.map((owner) =>
      toFiling(owner, {
        arrival,
        recipient: recipientsOf(owner)[0] ?? owner.address,
        parsed,
        shown: shownAuthor(parsed, author),
        verdicts,
        flags: flagsFor(owner),
        extractedText,
        codes,
        sizeBytes: stored.length,
        rawId: rawIds.get(owner.organizationId) as string,
        sha256,
      }),
    )
    return { filings, raws, owners: distinct, author: { address: author?.address ?? null, verdicts, isUnverified } }
  }

  /** `file` in a transaction that waiting messages share. The messages are stored for all recipients or none. */
  async function fileDurably(prepared: Prepared): Promise<{ messageId: string }[] | Refused> {
    try {
      return await fileTogether(prepared).catch(storage.orAnnounce)
    } catch (error) {
      if (error instanceof StorageFull) return { refused: 'full' }
      if (isForeignKeyViolation(error)) return { refused: 'gone' }
      if (!isOutcomeUnknown(error)) throw error
      const ids = prepared.filings.map(({ message }) => message.id)
      return findOutcome(error, () => store.findFiled(db, ids))
    }
  }

  return {
    findRecipient,

    async isRole(address: string): Promise<boolean> {
      const domain = roleDomainOf(address, hostname)
      return domain !== null && (await identities.isHostedRecipient(`postmaster@${domain}`))
    },

    prepare: async (arrival, owners) => prepare(arrival, owners, await senders.ofHosted(arrival.raw)),

    async file(tx: Tx, prepared: Prepared[]): Promise<void> {
      await fileAll(tx, prepared)
    },

    hasRoom: (owner, sizeBytes) => storage.hasRoom([owner], sizeBytes),

    receive: (arrival) => receive(arrival, { hostname, findRecipient, storage, senders, prepare, file: fileDurably }),

    sweepDeferrals: () => senders.sweep(),
  }
}

/** A failover takes about 20 seconds, and a sender waits ten minutes for the reply (RFC 5321 §4.5.3.2.6). */
const outcomeWaitMs = 30_000

/**
 * The stored message, so that its sender is not asked to repeat it. `find` resolves with its id, or with null. Throws the error when there is none,
 * or when no database answers in time.
 */
async function findOutcome(error: DatabaseUnavailable, find: () => Promise<string | null>): Promise<{ messageId: string }[]> {
  const deadlineMs = nowMs() + outcomeWaitMs
  for (;;) {
    try {
      const messageId = await find()
      if (messageId === null) throw error
      return [{ messageId }]
    } catch (failure) {
      if (failure === error || !(failure instanceof DatabaseUnavailable) || nowMs() > deadlineMs) throw error
    }
  }
}

/** The intake of mailboxes. It takes what no other intake has taken. */
export const createMailboxIntake = (inboundMail: InboundMail): MailIntake => ({
  async check(address, bytes) {
    const owner = await inboundMail.findRecipient(address)
    if (owner === null) return (await inboundMail.isRole(address)) ? 'no-postmaster' : 'no-mailbox'
    return (await inboundMail.hasRoom(owner, bytes)) ? 'accepted' : 'full'
  },

  async take(arrival) {
    const received = await inboundMail.receive(arrival)
    return 'refused' in received ? received : { ...received, left: [] }
  },
})
