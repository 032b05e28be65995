// Takes reports about domains between the SMTP edge and the mailboxes. Passes other mail on unchanged.
import type { DomainReports, Taken } from './operations.ts'

type Reply = { code: number; enhanced: string; text: string }
type Refused = { kind: 'refused'; reply: Reply }
type Envelope = { id: string; from: string; recipients: string[]; clientAddress: string; clientName: string }
/** The interface that the SMTP edge calls. */
type Intake<S> = {
  checkRecipient: (address: string, sender: S) => Promise<{ kind: 'accepted' } | Refused>
  accept: (envelope: Envelope, raw: Buffer, received: string) => Promise<{ kind: 'stored'; id: string } | Refused>
}

const refusals: Record<Exclude<Taken, 'stored'>, Reply> = {
  unsigned: { code: 550, enhanced: '5.7.1', text: 'A report needs a valid DKIM signature of the domain in From' },
  foreign: { code: 550, enhanced: '5.7.1', text: 'This report is about another domain' },
  unreadable: {
    code: 550,
    enhanced: '5.6.0',
    text: 'This address takes DMARC or TLS reports only, and this message has none that can be read',
  },
  undecided: { code: 451, enhanced: '4.7.5', text: 'Temporary DNS failure while authenticating the sender, try again later' },
  full: { code: 452, enhanced: '4.2.2', text: 'Too many reports about this domain today, try again later' },
  busy: { code: 451, enhanced: '4.3.2', text: 'Too many reports are being read, try again later' },
}

/** An intake that takes reports and passes the rest to `mailboxes`. */
export const createReportIntake = <S>(reports: DomainReports, mailboxes: Intake<S>): Intake<S> => ({
  checkRecipient: async (address, sender) =>
    (await reports.isTaken(address)) ? { kind: 'accepted' } : mailboxes.checkRecipient(address, sender),

  async accept(envelope, raw, received) {
    const areReports = await Promise.all(envelope.recipients.map((address) => reports.isTaken(address)))
    const recipients = envelope.recipients.filter((_, index) => !areReports[index])
    let refusal: Reply | null = null
    for (const [index, address] of envelope.recipients.entries()) {
      if (!areReports[index]) continue
      const client = { address: envelope.clientAddress, name: envelope.clientName }
      const taken = await reports.take(address, envelope.from, client, raw)
      if (taken !== 'stored') refusal = refusals[taken]
    }
    // A report that is stored is recognized when the client sends it again.
    if (refusal !== null) return { kind: 'refused', reply: refusal }
    return recipients.length > 0 ? mailboxes.accept({ ...envelope, recipients }, raw, received) : { kind: 'stored', id: envelope.id }
  },
})
