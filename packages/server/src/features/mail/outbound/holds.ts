// Holds of the server: the outbound guard, and the loop guard for correspondents elsewhere. A held message needs approval.
import { now } from '../../../core/clock.ts'
import type { ApiError } from '../../../core/errors.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { findHoldMs, type LoopRule } from './agent-loop.ts'
import { answeredBy, correspondentsOf } from './answers.ts'
import { exchangeSince } from './attempt.ts'
import type { Addressed } from './filing.ts'
import { type GuardedFile, HeldForApproval, type Inspected, type Inspection } from './model.ts'
import { guardFlags, isTextFile, reasonsOf, scannedCharactersMax } from './outbound-guard.ts'

type Parts = {
  identities: Identities
  attachments: Attachments
  messages: Messages
  loopRule: LoopRule
  /** The numbers of answers of an identity to correspondents in the window. */
  findAnswers: (owner: MailboxOwner, correspondents: string[], sql?: Sql) => Promise<Map<string, number>>
}

export function createHolds({ identities, attachments, messages, loopRule, findAnswers }: Parts) {
  const { messagesMax, windowMs } = loopRule

  async function textOf(file: GuardedFile): Promise<{ name: string; text: string | null }> {
    const isLong = file.size_bytes > scannedCharactersMax
    return { name: file.filename, text: isLong ? null : (await attachments.readFile(file)).toString('utf8') }
  }

  /** The first of these correspondents that is elsewhere. Hosted agents wait instead, in the delivery. */
  async function findElsewhere(correspondents: string[], sql?: Sql): Promise<string | null> {
    for (const address of correspondents) if (!(await identities.isHostedRecipient(address, sql))) return address
    return null
  }

  const answersReason = (correspondent: string): string =>
    `More than ${messagesMax} answers to ${correspondent} in ${windowMs / 1000} seconds.`

  /** The reason to hold an answer: too many messages with a correspondent elsewhere on its thread, or too many answers to one. */
  async function findLoop(owner: MailboxOwner, { isReply, threadId, addresses }: Inspected, sql?: Sql): Promise<string | null> {
    if (!isReply || windowMs === 0 || addresses.length === 0) return null
    const at = now()
    const correspondents = correspondentsOf(addresses)
    const exchange = { addresses: correspondents, beforeId: 'msg_zzzz', sinceId: exchangeSince(at) }
    const [exchanged, counts] = await Promise.all([
      threadId === null ? [] : messages.findExchange({ threadId, ...exchange }, sql),
      findAnswers(owner, correspondents, sql),
    ])
    const isLoop = (correspondent: string): boolean => {
      const before = exchanged.filter(({ address }) => address === correspondent).map((one) => one.at)
      return findHoldMs(before, at.getTime(), loopRule) !== null
    }
    const onThread = await findElsewhere(correspondents.filter(isLoop), sql)
    if (onThread !== null) return `More than ${messagesMax} messages with ${onThread} on this thread in ${windowMs / 1000} seconds.`
    const answered = await findElsewhere(
      correspondents.filter((one) => (counts.get(one) ?? 0) >= messagesMax),
      sql,
    )
    return answered === null ? null : answersReason(answered)
  }

  /** Throws 403 for the first of these correspondents that is elsewhere. They got more answers than the loop rule allows. `sql` as in `inspect`. */
  async function refuseAnswers(correspondents: string[], sql: Sql): Promise<void> {
    const correspondent = await findElsewhere(correspondents, sql)
    if (correspondent !== null) throw new HeldForApproval([answersReason(correspondent)])
  }

  /**
   * The messages of a batch that have to be refused, because the answers before them reach the limit of a correspondent elsewhere. A refused
   * message does not count. `sql` as in `inspect`.
   */
  async function judgeAnswers(messages: Addressed[], sql: Sql): Promise<Map<Addressed, ApiError>> {
    const refusals = new Map<Addressed, ApiError>()
    for (const own of Map.groupBy(messages, ({ owner }) => owner.identityId).values()) {
      const answered = own.map((message) => answeredBy(message, loopRule))
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

  /** `sql` is the transaction that the caller is in, because a second connection could not be had while all are in transactions. */
  async function inspect(owner: MailboxOwner, message: Inspected, sql?: Sql): Promise<Inspection> {
    const files =
      owner.outboundGuard.mode === 'off' ? [] : message.files.filter((file) => isTextFile(file) && (file.bytes || file.blob_key))
    const [texts, loop] = await Promise.all([Promise.all(files.map(textOf)), findLoop(owner, message, sql)])
    const flags = guardFlags(owner, { subject: message.subject, text: message.text, html: message.html, files: texts })
    const reasons = reasonsOf(flags)
    if (loop !== null) reasons.push(loop)
    return { flags, reasons, isHeld: loop !== null || (owner.outboundGuard.mode === 'hold' && flags.length > 0) }
  }

  return { inspect, judgeAnswers, refuseAnswers }
}
