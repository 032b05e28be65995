// Receives one message for mailboxes of this server.
import { hasBeenDelivered } from '@callsign/mail/authentication/trace-fields'
import type { MailboxOwner } from '../../account/identities/model.ts'
import type { Storage } from '../storage/operations.ts'
import type { Arrival, Prepared, Refused } from './model.ts'
import type { Checked, SenderCheck } from './sender-check.ts'

/** The parts of the server that take a step each. */
export type ReceiveSteps = {
  /** The host name in our trace fields. */
  hostname: string
  /** The mailbox that receives mail for an address, role addresses included, or null. */
  findRecipient(address: string): Promise<MailboxOwner | null>
  storage: Pick<Storage, 'hasRoom'>
  senders: Pick<SenderCheck, 'check'>
  /** Reads the message, stores its large bytes, and makes one filing per mailbox. */
  prepare(arrival: Arrival, owners: MailboxOwner[], checked: Checked): Promise<Prepared>
  /** Judges, files and announces the message in one transaction, which it shares with messages that arrive meanwhile. */
  file(prepared: Prepared): Promise<{ messageId: string }[] | Refused>
}

/**
 * Resolves with the id of the stored message after it is committed for all recipients, so that the sender may forget it. Otherwise none has it,
 * and the word says why.
 */
export async function receive(arrival: Arrival, steps: ReceiveSteps): Promise<{ id: string } | Refused> {
  const found = await Promise.all(arrival.recipients.map(steps.findRecipient))
  const owners = found.filter((owner) => owner !== null)
  // Stored for all recipients or none. The client tries again, and RCPT refuses the deleted mailbox then.
  if (owners.length < found.length) return { refused: 'gone' }
  const mailboxes = owners.map(({ address }) => address)
  if (hasBeenDelivered(arrival.raw, mailboxes, steps.hostname)) return { refused: 'loop' }
  // Before the message joins a group, which would have to be split.
  if (!(await steps.storage.hasRoom(owners, arrival.raw.length))) return { refused: 'full' }
  const checked = await steps.senders.check(arrival, owners)
  if ('later' in checked) return { refused: 'unverified', domain: checked.later }
  const prepared = await steps.prepare(arrival, owners, checked)
  const filed = await steps.file(prepared)
  return 'refused' in filed ? filed : { id: (filed[0] as { messageId: string }).messageId }
}
