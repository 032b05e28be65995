// Judges arriving messages by the guardrails of their mailboxes, after the look-ups that decide, or beside a check that none of them finds anything.
import type { Sql, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { answeredThreads, type Filing, findParticipants, findThreads, type KnownThreads, withoutThreads } from '../messages/operations.ts'
import type { Guardrail } from '../rules/model.ts'
import { type FoundRules, type MailRules, noRules } from '../rules/operations.ts'
import { type Author, isAuthenticated, isProven, outsideDomain, withForeignFlag } from './model.ts'

/** A message for one mailbox. */
export type Incoming = { filing: Filing; author: Author; owner: MailboxOwner }

/** `check` sends a statement that fails with `isJudgementNeeded` if a rule names an author. Null when the rules were looked up. */
export type Judged = { filings: Filing[]; known: KnownThreads; check: (() => Promise<void>) | null }

type Parts = {
  mailRules: MailRules
  /** The domains among these that have mailboxes here. */
  findHostedDomains: (sql: Sql, domains: string[]) => Promise<ReadonlySet<string>>
}

export interface Judging {
  /** Looks up threads and rules, then judges. */
  lookUp(tx: Tx, arrivals: Incoming[]): Promise<Judged>
  /**
   * Judges messages that start threads as if their Message-IDs were new and no rule named their authors. Filing them fails otherwise, with 40001 or by
   * `check`. Null when a message answers another, is quarantined, or comes to an agent that has rules for its senders.
   */
  assume(tx: Tx, arrivals: Incoming[]): Promise<Judged | null>
}

/** Identities that were found to have rules for senders of their mail. */
const ruledMax = 10_000

export function createJudging({ mailRules, findHostedDomains }: Parts): Judging {
  const ruled = new Set<string>()

  const findHosted = (tx: Tx, arrivals: Incoming[]): Promise<ReadonlySet<string>> =>
    findHostedDomains(tx, [...new Set(arrivals.flatMap(({ author }) => outsideDomain(author) ?? []))])

  /** The messages whose author is a participant of a thread that the agent has written in. */
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

  /** Applies the guardrails of each mailbox to its messages. */
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

  return {
    async lookUp(tx, arrivals) {
      const [known, rules, hosted] = await Promise.all([
        findThreads(
          tx,
          arrivals.map(({ filing }) => filing),
        ),
        mailRules.findInbound(tx, arrivals.map(toSenders)),
        findHosted(tx, arrivals),
      ])
      for (const { owner } of arrivals) {
        if (rules(owner).size === 0) continue
        if (ruled.size >= ruledMax) ruled.clear()
        ruled.add(owner.identityId)
      }
      return { filings: judge(arrivals, await findReplies(tx, arrivals, known), rules, hosted), known, check: null }
    },

    async assume(tx, arrivals) {
      if (arrivals.some(({ owner }) => ruled.has(owner.identityId))) return null
      const known = withoutThreads(arrivals.map(({ filing }) => filing))
      if (known === null) return null
      const filings = judge(arrivals, new Set(), noRules, await findHosted(tx, arrivals))
      // A quarantined copy of a known message is recognized by a look-up only.
      if (filings.some(({ message }) => message.status === 'quarantined')) return null
      return { filings, known, check: () => mailRules.requireNoInboundRule(tx, arrivals.map(toSenders)) }
    },
  }
}

const toSenders = ({ owner, author }: Incoming) => ({ owner, senders: author.address === null ? [] : [author.address] })
