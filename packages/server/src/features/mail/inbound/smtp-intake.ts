// Answers the SMTP edge: checks recipients and accepts messages.
import type { Arrival } from './model.ts'
import type { InboundMail } from './operations.ts'

type Reply = { code: number; enhanced: string; text: string }
type Envelope = { from: string; recipients: string[]; clientAddress: string; clientName: string }

const noSuchMailbox: Reply = { code: 550, enhanced: '5.1.1', text: 'No such mailbox here' }
const noPostmaster: Reply = { code: 451, enhanced: '4.2.1', text: 'Nobody here takes mail for that role yet; try again later' }
const mailLoop: Reply = { code: 554, enhanced: '5.4.6', text: 'This message has been delivered to that mailbox before: mail loop' }
/** RFC 7372 §3.2 has 4.7.25 and 5.7.2x for SPF and DKIM; for DMARC 4.7.5 is in use: a cryptographic failure that may end. */
const noVerdict = (domain: string | null): Reply => ({
  code: 451,
  enhanced: '4.7.5',
  text: domain
    ? `The DMARC record of ${domain.replace(/[^\x21-\x7e]/g, '?').slice(0, 253)} or its proof cannot be looked up now; try again later`
    : 'The sender of this message cannot be checked now; try again later',
})
const mailboxGone: Reply = { code: 451, enhanced: '4.2.1', text: 'A mailbox has just gone; try again' }

/** The receiver of the SMTP edge. */
export const createSmtpIntake = (inboundMail: InboundMail) => ({
  async checkRecipient(address: string) {
    if ((await inboundMail.findRecipient(address)) !== null) return { kind: 'accepted' as const }
    return { kind: 'refused' as const, reply: inboundMail.isRole(address) ? noPostmaster : noSuchMailbox }
  },

  /** Resolves once the message is committed for every recipient. */
  async accept(envelope: Envelope, raw: Buffer, received: string) {
    const { from, recipients, clientAddress, clientName } = envelope
    const arrival: Arrival = { from, recipients, raw, received, client: { address: clientAddress, name: clientName } }
    const stored = await inboundMail.accept(arrival)
    // Stored for all recipients or none. The client retries, and RCPT refuses the deleted mailbox.
    if (typeof stored === 'object' && 'later' in stored) return { kind: 'refused' as const, reply: noVerdict(stored.later) }
    if (stored === 'loop') return { kind: 'refused' as const, reply: mailLoop }
    return stored === 'gone' ? { kind: 'refused' as const, reply: mailboxGone } : { kind: 'stored' as const, id: stored.id }
  },
})
