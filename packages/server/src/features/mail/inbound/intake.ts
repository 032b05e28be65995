// Receiver of the SMTP edge: checks recipients and accepts messages.
import type { Arrival } from './model.ts'
import type { InboundMail } from './operations.ts'

type Reply = { code: number; enhanced: string; text: string }
type Envelope = { from: string; recipients: string[]; clientAddress: string; clientName: string }

const noSuchMailbox: Reply = { code: 550, enhanced: '5.1.1', text: 'No such mailbox here' }
const noPostmaster: Reply = { code: 451, enhanced: '4.2.1', text: 'No mailbox receives mail for this role address yet, try again later' }
const mailLoop: Reply = { code: 554, enhanced: '5.4.6', text: 'Mail loop: this message was already delivered to this mailbox' }
/** RFC 7372 §3.2 has codes for SPF and DKIM only. 4.7.5 (temporary cryptographic failure) is customary for DMARC. */
const noVerdict = (domain: string | null): Reply => ({
  code: 451,
  enhanced: '4.7.5',
  text: domain
    ? `Temporary DNS failure for the DMARC, SPF or DKIM records of ${domain.replace(/[^\x21-\x7e]/g, '?').slice(0, 253)}, try again later`
    : 'Temporary DNS failure while authenticating the sender, try again later',
})
const mailboxFull: Reply = { code: 452, enhanced: '4.2.2', text: 'The storage quota of this mailbox is used up, try again later' }
const mailboxGone: Reply = { code: 451, enhanced: '4.2.1', text: 'A recipient mailbox was deleted during this transaction, try again' }

/** Creates the receiver. */
export const createSmtpIntake = (inboundMail: InboundMail) => ({
  /** `declaredSize` is the announced size of the message, or null. */
  async checkRecipient(address: string, { declaredSize }: { declaredSize: number | null }) {
    const owner = await inboundMail.findRecipient(address)
    if (owner !== null)
      return (await inboundMail.hasRoom(owner, declaredSize ?? 0))
        ? { kind: 'accepted' as const }
        : { kind: 'refused' as const, reply: mailboxFull }
    return { kind: 'refused' as const, reply: (await inboundMail.isRole(address)) ? noPostmaster : noSuchMailbox }
  },

  /** Resolves once the message is committed for every recipient. */
  async accept(envelope: Envelope, raw: Buffer, received: string) {
    const { from, recipients, clientAddress, clientName } = envelope
    const arrival: Arrival = { from, recipients, raw, received, client: { address: clientAddress, name: clientName } }
    const stored = await inboundMail.accept(arrival)
    // Stored for all recipients or none. The client retries, and RCPT refuses the deleted mailbox.
    if (typeof stored === 'object' && 'later' in stored) return { kind: 'refused' as const, reply: noVerdict(stored.later) }
    if (stored === 'full') return { kind: 'refused' as const, reply: mailboxFull }
    if (stored === 'loop') return { kind: 'refused' as const, reply: mailLoop }
    return stored === 'gone' ? { kind: 'refused' as const, reply: mailboxGone } : { kind: 'stored' as const, id: stored.id }
  },
})
