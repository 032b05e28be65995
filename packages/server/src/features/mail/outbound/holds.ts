// Holds of the server: the outbound guard, and the loop guard for correspondents elsewhere. A held message needs approval.
import { now } from '../../../core/clock.ts'
import type { Sql } from '../../../core/sql.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { Messages } from '../messages/operations.ts'
import { findHoldMs, type LoopRule } from './agent-loop.ts'
import { exchangeSince } from './attempt.ts'
import type { GuardedFile, Inspected, Inspection } from './model.ts'
import { guardFlags, isTextFile, reasonsOf, scannedCharactersMax } from './outbound-guard.ts'

type Parts = { identities: Identities; attachments: Attachments; messages: Messages; loopRule: LoopRule }

export function createHolds({ identities, attachments, messages, loopRule }: Parts) {
  async function textOf(file: GuardedFile): Promise<{ name: string; text: string | null }> {
    const isLong = file.size_bytes > scannedCharactersMax
    return { name: file.filename, text: isLong ? null : (await attachments.readFile(file)).toString('utf8') }
  }

  /** The correspondent elsewhere with whom a thread exceeds the loop rule, or null. Hosted agents wait instead, in the delivery. */
  async function findLoop({ isReply, threadId, addresses }: Inspected, sql?: Sql): Promise<string | null> {
    if (!isReply || threadId === null || loopRule.windowMs === 0) return null
    const at = now()
    for (const address of addresses) {
      const exchange = { threadId, addresses: [address.toLowerCase()], beforeId: 'msg_zzzz', sinceId: exchangeSince(at) }
      const isLoop = findHoldMs(await messages.findExchange(exchange, sql), at.getTime(), loopRule) !== null
      if (isLoop && !(await identities.isHostedRecipient(address))) return address
    }
    return null
  }

  /** `sql` is the transaction that the caller is in, because a second connection could not be had while all are in transactions. */
  async function inspect(owner: MailboxOwner, message: Inspected, sql?: Sql): Promise<Inspection> {
    const files =
      owner.outboundGuard.mode === 'off' ? [] : message.files.filter((file) => isTextFile(file) && (file.bytes || file.blob_key))
    const [texts, loop] = await Promise.all([Promise.all(files.map(textOf)), findLoop(message, sql)])
    const flags = guardFlags(owner, { subject: message.subject, text: message.text, html: message.html, files: texts })
    const reasons = reasonsOf(flags)
    if (loop !== null)
      reasons.push(`More than ${loopRule.messagesMax} messages with ${loop} on this thread in ${loopRule.windowMs / 1000} seconds.`)
    return { flags, reasons, isHeld: loop !== null || (owner.outboundGuard.mode === 'hold' && flags.length > 0) }
  }

  return { inspect }
}
