// Judges arriving messages by the rules and threads of their mailboxes.
import type { Sql, Tx } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Guardrail } from '../rules/model.ts'
import type { FoundRules, MailRules } from '../rules/operations.ts'
import { answeredThreads, type Filing, findParticipants, findThreads, type KnownThreads } from '../stored/mail-store.ts'
import { type Author, isAuthenticated, isProven, outsideDomain, withForeignFlag } from './model.ts'

/** A message for one mailbox. */
export type Incoming = { filing: Filing; author: Author; owner: MailboxOwner }

/** `filings` have their status, and `known` the threads that were looked up. */
export type Judged = { filings: Filing[]; known: KnownThreads }

type Parts = {
  mailRules: MailRules
  /** The domains among these that have mailboxes here. */
  findHostedDomains: (sql: Sql, domains: string[]) => Promise<ReadonlySet<string>>
}

/** Looks up threads and rules in the transaction that files the messages, and judges each. */
export type JudgeArrivals = (tx: Tx, arrivals: Incoming[]) => Promise<Judged>

export function createJudgeArrivals({ mailRules, findHostedDomains }: Parts): JudgeArrivals {
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

  return async (tx, arrivals) => {
    const [known, rules, hosted] = await Promise.all([
      findThreads(
        tx,
        arrivals.map(({ filing }) => filing),
      ),
      mailRules.findInbound(tx, arrivals.map(toSenders)),
      findHosted(tx, arrivals),
    ])
    return { filings: judge(arrivals, await findReplies(tx, arrivals, known), rules, hosted), known }
  }
}

const toSenders = ({ owner, author }: Incoming) => ({ owner, senders: author.address === null ? [] : [author.address] })
