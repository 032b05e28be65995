// Mail in: which recipients exist, and filing what arrives for them, durably, before anybody is told that we have it.
import { authorOf } from '@callsign/mail/authentication/dmarc/author'
import type { Verdicts } from '@callsign/mail/authentication/sender-checks'
import { hasBeenDelivered } from '@callsign/mail/authentication/trace-fields'
import { type Flag, toFlags } from '@callsign/mail/content/deception/flags'
import type { ResolverHealth } from '@callsign/mail/dns'
import { addressDomain } from '@callsign/mail/mime/addresses'
import { groupCommit } from '../../../core/batch.ts'
import type { Blobs } from '../../../core/blobs.ts'
import type { BusinessEvents } from '../../../core/business-events.ts'
import { now, nowMs } from '../../../core/clock.ts'
import type { Emit } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import { type Database, isForeignKeyViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import {
  answeredThreads,
  type Filed,
  type Filing,
  fileMessages,
  findParticipants,
  findThreads,
  type KnownThreads,
  type NewRaw,
} from '../messages/operations.ts'
import type { Guardrail } from '../rules/model.ts'
import type { FoundRules, MailRules } from '../rules/operations.ts'
import { toFiling } from './filing.ts'
import { type Arrival, isAuthenticated, isProven, roleDomainOf, shownAuthor, withTrace } from './model.ts'
import type { MailReader } from './provider.ts'
import { RecentRecipients } from './recent-recipients.ts'
import { type Checked, createSenderCheck } from './sender-check.ts'

/** Mail in. */
export interface InboundMail {
  /** The mailbox that takes mail for this address, role addresses included. Null when there is none. Always asks the database. */
  findRecipient(address: string): Promise<MailboxOwner | null>
  /** True for a role address of this server, whether or not a mailbox stands behind it yet. */
  isRole(address: string): boolean
  /** Parses a message and stores its large bytes, outside any transaction. Makes one filing per mailbox. */
  prepare(arrival: Arrival, owners: MailboxOwner[], checked?: Checked): Promise<Prepared>
  /** Files prepared mail and its events in the caller's transaction. */
  file(tx: Tx, prepared: Prepared[]): Promise<void>
  /**
   * Takes mail from an SMTP client. Resolves with the id of the stored message when it is committed for every recipient, all or none. Resolves with `gone`
   * when a mailbox has been deleted since RCPT, with `loop` when the message has been delivered here before, and with `later` and the author's domain
   * while DNS cannot say who wrote the message. Concurrent arrivals share a transaction.
   */
  accept(arrival: Arrival): Promise<{ id: string } | 'gone' | 'loop' | { later: string | null }>
  /** Forgets messages that were put off and have not come for a week. Returns their number. */
  sweepDeferrals(): Promise<number>
}

/** Parsed and stored outside any transaction, ready to be filed. */
export type Prepared = { filings: Filing[]; raws: NewRaw[]; owners: MailboxOwner[]; author: Author }

/** Who wrote a message: the address in From, or null without exactly one usable author, and what is known about it. */
type Author = { address: string | null; verdicts: Verdicts; isUnverified: boolean }

type Incoming = { filing: Filing; author: Author; owner: MailboxOwner }

type Parts = {
  db: Database
  blobs: Blobs
  identities: Identities
  mailRules: MailRules
  emit: Emit
  businessEvents: BusinessEvents
  reader: MailReader
  /** Whether DNS works at all; a sender's own names do not count. */
  resolverHealth: ResolverHealth
  /** Of these domains those that have mailboxes here. */
  findHostedDomains: (sql: Sql, domains: string[]) => Promise<ReadonlySet<string>>
  /** The name that our trace fields bear. */
  hostname: string
}

/** Raw messages up to this size stay in their row; larger ones go to the blob store. */
const inlineBytesMax = 64 * 1024

/**
 * What a group costs whatever is in it (its commit, its statements) is four messages' worth: while one is filed the next gathers, and only a full
 * one is filed beside it.
 */
const groupOptions = { groupMax: 16, inFlightMax: 3, besideFrom: 16 }

export function createInboundMail({
  db,
  blobs,
  identities,
  mailRules,
  emit,
  businessEvents,
  reader,
  resolverHealth,
  findHostedDomains,
  hostname,
}: Parts): InboundMail {
  const senders = createSenderCheck({ db, reader, resolverHealth })
  const fileTogether = groupCommit((group: Prepared[]) => db.transact((tx) => fileAll(tx, group)), groupOptions)

  async function fileAll(tx: Tx, group: Prepared[]): Promise<Filed[][]> {
    const owners = group.flatMap((one) => one.owners)
    const arrivals = group.flatMap((one) =>
      one.filings.map((filing, index): Incoming => ({ filing, author: one.author, owner: one.owners[index] as MailboxOwner })),
    )
    const [known, rules, hosted] = await Promise.all([
      findThreads(
        tx,
        arrivals.map(({ filing }) => filing),
      ),
      mailRules.findInbound(
        tx,
        arrivals.map(({ owner, author }) => ({ owner, senders: author.address === null ? [] : [author.address] })),
      ),
      findHostedDomains(tx, [...new Set(arrivals.flatMap(({ author }) => outsideDomain(author) ?? []))]),
    ])
    const replies = await findReplies(tx, arrivals, known)
    const filings = judge(arrivals, replies, rules, hosted)
    const raws = group.flatMap((one) => one.raws)
    const filed = await fileMessages(tx, filings, known, raws, (places) =>
      emit(
        tx,
        places.flatMap(({ messageId, isDuplicate }, index) => {
          const { organizationId, identityId } = owners[index] as MailboxOwner
          const type = filings[index]?.message.status === 'quarantined' ? ('email.quarantined' as const) : ('email.received' as const)
          return isDuplicate ? [] : [{ type, organizationId, identityId, subjectId: messageId }]
        }),
      ),
    )
    tx.afterCommit(() => {
      for (const [index, filing] of filings.entries()) {
        if (filed[index]?.isDuplicate) continue
        const { organization_id, mailbox_id, id: message_id, size_bytes, guardrail } = filing.message
        const status = guardrail?.decision === 'quarantined' ? 'quarantined' : 'received'
        businessEvents.messageAccepted({ organization_id, mailbox_id, message_id, size_bytes, status })
      }
    })
    let next = 0
    return group.map((one) => {
      const own = filed.slice(next, next + one.filings.length)
      next += one.filings.length
      return own
    })
  }

  /** The mailbox that takes mail for this address, role addresses included; null when there is none. */
  async function findRecipient(address: string): Promise<MailboxOwner | null> {
    const owner = address.includes('@') ? await identities.findHosted(address) : null
    const domain = owner ? null : roleDomainOf(address, hostname)
    if (domain === null) return owner
    return domain === hostname ? identities.findPostmaster() : identities.findDomainPostmaster(domain)
  }

  /** The messages whose author takes part in a thread that the agent has written in. */
  async function findReplies(tx: Tx, arrivals: Incoming[], known: KnownThreads): Promise<Set<Filing>> {
    const answers = arrivals.flatMap(({ filing, author }) => {
      const threads = author.address === null ? [] : answeredThreads(filing, known)
      return threads.length === 0 ? [] : [{ filing, address: author.address as string, threads }]
    })
    if (answers.length === 0) return new Set()
    const participants = await findParticipants(tx, [...new Set(answers.flatMap(({ threads }) => threads))], isProven)
    return new Set(
      answers.flatMap(({ filing, address, threads }) => (threads.some((thread) => participants(thread, address)) ? [filing] : [])),
    )
  }

  /** The same messages with what the guardrails of each mailbox decide on them. */
  function judge(arrivals: Incoming[], replies: Set<Filing>, rules: FoundRules, hosted: ReadonlySet<string>): Filing[] {
    const judged = arrivals.map(({ filing, author, owner }) => {
      const isHostedName = hosted.has(outsideDomain(author) ?? '')
      const isForeign = isHostedName && author.verdicts.dmarc?.alignment.dkim !== true
      return {
        owner,
        author: author.address,
        isAuthenticated: isAuthenticated(author.verdicts, isHostedName),
        isForeign,
        isUnverified: author.isUnverified,
        isReply: replies.has(filing),
        dmarc: author.verdicts.dmarc,
      }
    })
    const guardrails = mailRules.judgeArrivals(judged, rules)
    return arrivals.map(({ filing }, index) => {
      const guardrail = guardrails[index] as Guardrail
      const status = guardrail.decision === 'quarantined' ? ('quarantined' as const) : ('received' as const)
      const flags = judged[index]?.isForeign ? withForeignFlag(filing.message.flags, guardrail) : filing.message.flags
      return { ...filing, message: { ...filing.message, status, guardrail, flags } }
    })
  }

  const recent = new RecentRecipients()

  return {
    async findRecipient(address: string): Promise<MailboxOwner | null> {
      const askedAtMs = nowMs()
      const owner = await findRecipient(address)
      recent.note(address, owner, askedAtMs)
      return owner
    },

    isRole: (address: string): boolean => roleDomainOf(address, hostname) === hostname,

    async prepare(arrival: Arrival, owners: MailboxOwner[], checked?: Checked): Promise<Prepared> {
      const { raw } = arrival
      const { verdicts, sha256, isUnverified } = checked ?? (await senders.ofHosted(raw))
      const distinct = [...new Map(owners.map((owner) => [owner.mailboxId, owner])).values()]
      const stored = withTrace(arrival, verdicts, hostname, distinct.length === 1 ? (distinct[0] as MailboxOwner).address : null)
      const { parsed, extractedText, codes, indicators } = await reader.read(stored)
      const organizations = [...new Set(distinct.map((owner) => owner.organizationId))]
      const raws = await Promise.all(
        organizations.map(async (organizationId): Promise<NewRaw> => {
          const id = newId('raw')
          const blobKey = stored.length <= inlineBytesMax ? null : `raw/${organizationId}/${id}`
          if (blobKey) await blobs.put(blobKey, stored)
          return { id, organizationId, sizeBytes: stored.length, sha256, bytes: blobKey ? null : stored, blobKey, at: now() }
        }),
      )
      const rawIds = new Map(raws.map((raw) => [raw.organizationId, raw.id]))
      const author = authorOf(parsed, verdicts)
      const shown = author ?? parsed.from.find((entry) => entry.address !== '') ?? { name: parsed.from[0]?.name ?? '', address: '' }
      const flagsFor = (owner: MailboxOwner) =>
        toFlags(indicators, {
          parsed,
          ...shown,
          verdicts,
          isUnverified,
          hasAuthor: author !== null,
          ownDomains: [hostname, addressDomain(owner.address)],
        })
      const filings = distinct.map((owner) =>
        toFiling(
          owner,
          arrival,
          parsed,
          shownAuthor(parsed, author),
          verdicts,
          flagsFor(owner),
          extractedText,
          codes,
          stored.length,
          rawIds.get(owner.organizationId) as string,
          sha256,
        ),
      )
      return { filings, raws, owners: distinct, author: { address: author?.address ?? null, verdicts, isUnverified } }
    },

    async file(tx: Tx, prepared: Prepared[]): Promise<void> {
      await fileAll(tx, prepared)
    },

    async accept(arrival: Arrival): Promise<{ id: string } | 'gone' | 'loop' | { later: string | null }> {
      const found = await Promise.all(arrival.recipients.map((address) => recent.recall(address) ?? findRecipient(address)))
      const owners = found.flatMap((owner) => owner ?? [])
      if (owners.length < found.length) return 'gone'
      const mailboxes = owners.map((owner) => owner.address)
      if (hasBeenDelivered(arrival.raw, mailboxes)) return 'loop'
      const checked = await senders.check(arrival, owners)
      if ('later' in checked) return checked
      const prepared = await this.prepare(arrival, owners, checked)
      const filed = await fileTogether(prepared).catch((error: unknown) => {
        if (isForeignKeyViolation(error)) return null
        throw error
      })
      if (filed === null) return 'gone'
      return { id: filed[0]?.messageId as string }
    },

    sweepDeferrals: () => senders.sweep(),
  }
}

/** The domain of an author from outside; null for mail of an agent on this server. */
const outsideDomain = ({ address, verdicts }: Author): string | null =>
  address === null || verdicts.source === 'hosted' ? null : (verdicts.dmarc?.domain ?? addressDomain(address).toLowerCase())

function withForeignFlag(flags: Flag[], { reason }: Guardrail): Flag[] {
  const type = 'failed_authentication' as const
  return flags.some((flag) => flag.type === type) ? flags : [...flags, { type, reason, evidence: '' }]
}
