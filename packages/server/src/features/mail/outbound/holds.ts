// Holds of the server: the outbound guard, and the loop guard for correspondents elsewhere. A held message needs approval.

import { type MailFlag, reasonsOf } from '@callsign/mail/content/secrets/message-search'
import { now } from '../../../core/clock.ts'
import type { ApiError } from '../../../core/errors.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { findHoldMs, type LoopRule } from './agent-loop.ts'
import { correspondentsOf } from './answers.ts'
import { exchangeSince } from './attempt.ts'
import { searchedFields } from './composed-message.ts'
import type { Addressed } from './filing.ts'
import { HeldForApproval, type Inspected, type Inspection, toRecipientRows } from './model.ts'
import type { SecretSearcher } from './provider.ts'

type Parts = {
  identities: Identities
  messages: Messages
  secrets: SecretSearcher
  loopRule: LoopRule
  /** The numbers of answers of an identity to correspondents in the window. */
  findAnswers: (owner: MailboxOwner, correspondents: string[], sql?: Sql) => Promise<Map<string, number>>
}

export function createHolds({ identities, messages, secrets, loopRule, findAnswers }: Parts) {
  const { messagesMax, windowMs } = loopRule

  /** The first of these correspondents that is elsewhere. Hosted agents wait instead, in the delivery. */
  async function findElsewhere(correspondents: string[], sql?: Sql): Promise<string | null> {
    for (const address of correspondents) if (!(await identities.isHostedRecipient(address, sql))) return address
    return null
  }

  const answersReason = (correspondent: string): string =>
    `More than ${messagesMax} answers to ${correspondent} in ${windowMs / 1000} seconds.`

  /** The secrets in a message. */
  async function findSecrets(owner: MailboxOwner, message: Inspected): Promise<MailFlag[]> {
    const { mode, patterns } = owner.outboundGuard
    if (mode === 'off') return []
    return secrets.search(owner.organizationId, { patterns, fields: searchedFields(message, message.files), ...message.searched })
  }

  /**
   * The correspondents that a message answers: its recipients if it has a parent. A program may answer without naming a thread. Its recipients
   * are answered if they have written more in the window than they got. A message of a person answers none.
   */
  async function findAnswered(owner: MailboxOwner, message: Inspected): Promise<{ answered: string[]; reason: string | null }> {
    const addresses = toRecipientRows(message.recipients).map(({ address }) => address)
    if (windowMs === 0 || message.keyId === null || addresses.length === 0) return { answered: [], reason: null }
    const at = now()
    const { parent, threadId } = message
    const correspondents = correspondentsOf(addresses)
    const exchange = { addresses: correspondents, beforeId: 'msg_zzzz', sinceId: exchangeSince(at) }
    const [exchanged, counts, received] = await Promise.all([
      parent === null || threadId === null ? [] : messages.findExchange({ threadId, ...exchange }),
      findAnswers(owner, correspondents),
      parent === null ? messages.countReceived(owner.mailboxId, correspondents, new Date(at.getTime() - windowMs)) : null,
    ])
    const count = (name: string): number => counts.get(name) ?? 0
    const answered = received === null ? correspondents : correspondents.filter((name) => (received.get(name) ?? 0) > count(name))
    const isLoop = (correspondent: string): boolean => {
      const before = exchanged.filter(({ address }) => address === correspondent).map((one) => one.at)
      return findHoldMs(before, at.getTime(), loopRule) !== null
    }
    const onThread = await findElsewhere(answered.filter(isLoop))
    if (onThread !== null)
      return { answered, reason: `More than ${messagesMax} messages with ${onThread} on this thread in ${windowMs / 1000} seconds.` }
    const above = await findElsewhere(answered.filter((name) => count(name) >= messagesMax))
    return { answered, reason: above === null ? null : answersReason(above) }
  }

  /**
   * Throws 403 for the first of these correspondents that is elsewhere. They got more answers than the loop rule allows. `sql` is the
   * transaction that the caller is in, because a second connection could not be had while all are in transactions.
   */
  async function refuseAnswers(correspondents: string[], sql: Sql): Promise<void> {
    const correspondent = await findElsewhere(correspondents, sql)
    if (correspondent !== null) throw new HeldForApproval([answersReason(correspondent)])
  }

  /**
   * The messages of a batch that have to be refused, because the answers before them reach the limit of a correspondent elsewhere. A refused
   * message does not count. `sql` as in `refuseAnswers`.
   */
  async function judgeAnswers(messages: Addressed[], sql: Sql): Promise<Map<Addressed, ApiError>> {
    const refusals = new Map<Addressed, ApiError>()
    for (const own of Map.groupBy(messages, ({ owner }) => owner.identityId).values()) {
      const answered = own.map((message) => message.inspection.answered)
      const correspondents = [...new Set(answered.flat())]
      if (correspondents.length === 0) continue
      const counts = await findAnswers((own[0] as Addressed).owner, correspondents, sql)
      const elsewhere = new Map<string, boolean>()
      for (const [index, message] of own.entries()) {
        const names = answered[index] ?? []
        const above = names.filter((name) => (counts.get(name) ?? 0) >= messagesMax)
        for (const name of above) if (!elsewhere.has(name)) elsewhere.set(name, (await findElsewhere([name], sql)) !== null)
        const refused = above.find((name) => elsewhere.get(name))
        if (refused !== undefined) refusals.set(message, new HeldForApproval([answersReason(refused)]))
        else for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    }
    return refusals
  }

  /** Searches a message or draft for reasons to hold it. May take seconds, so it is called before the transaction that writes. */
  async function inspect(owner: MailboxOwner, message: Inspected): Promise<Inspection> {
    const [flags, { answered, reason }] = await Promise.all([findSecrets(owner, message), findAnswered(owner, message)])
    const reasons = [...reasonsOf(flags), ...(reason === null ? [] : [reason])]
    return { flags, reasons, isHeld: reason !== null || (owner.outboundGuard.mode === 'hold' && flags.length > 0), answered }
  }

  return { inspect, judgeAnswers, refuseAnswers }
}
