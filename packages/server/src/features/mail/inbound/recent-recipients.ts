// Caches the mailboxes that RCPT found for the DATA that follows, which saves a second query.
import { nowMs } from '../../../core/clock.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'

/**
 * The lifetime of an entry. Short, because the mailbox's settings may change. Its deletion is harmless, since a message cannot be filed in a
 * deleted mailbox.
 */
const cachedMs = 1_000
const recipientsMax = 1_000

/** The latest mailboxes by the requested address, at most 1,000. */
export class RecentRecipients {
  readonly #found = new Map<string, { owner: MailboxOwner; atMs: number }>()

  /** `askedAtMs` is the time before the query, so that the entry is at least as new. */
  note(address: string, owner: MailboxOwner | null, askedAtMs: number): void {
    this.#found.delete(address)
    if (owner === null) return
    this.#found.set(address, { owner, atMs: askedAtMs })
    // Evicts the oldest entry: a map keeps insertion order.
    if (this.#found.size > recipientsMax) this.#found.delete(this.#found.keys().next().value as string)
  }

  /** The mailbox if it was found within the last second. Null does not mean that it is missing. */
  recall(address: string, atMs = nowMs()): MailboxOwner | null {
    const found = this.#found.get(address)
    return found && Math.abs(atMs - found.atMs) <= cachedMs ? found.owner : null
  }
}
