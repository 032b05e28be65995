// What RCPT found, for DATA: the message follows its recipients at once, and the database need not be asked twice.
import { nowMs } from '../../../core/clock.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'

/**
 * So long a mailbox counts as RCPT found it. Short, because its settings may change meanwhile; that it may go does no harm, since a message cannot be
 * filed in a mailbox that is gone.
 */
const believedMs = 1_000
const recipientsMax = 1_000

/** Remembers the mailboxes that were found last, by the address that was asked for. */
export class RecentRecipients {
  readonly #found = new Map<string, { owner: MailboxOwner; atMs: number }>()

  /** `askedAtMs` is when the question was put: what is known is no older than that. */
  note(address: string, owner: MailboxOwner | null, askedAtMs: number): void {
    this.#found.delete(address)
    if (owner === null) return
    this.#found.set(address, { owner, atMs: askedAtMs })
    // Oldest first out: a map keeps the order of insertion.
    if (this.#found.size > recipientsMax) this.#found.delete(this.#found.keys().next().value as string)
  }

  /** The mailbox, when it was found a moment ago; else null, which says nothing. */
  recall(address: string, atMs = nowMs()): MailboxOwner | null {
    const found = this.#found.get(address)
    return found && Math.abs(atMs - found.atMs) <= believedMs ? found.owner : null
  }
}
