// Takes mail to return paths between the SMTP edge and the mailboxes. Passes other mail on unchanged.
import type { ReturnedMail } from './operations.ts'

type Reply = { code: number; enhanced: string; text: string }
type Refused = { kind: 'refused'; reply: Reply }
type Envelope = { id: string; from: string; recipients: string[]; clientAddress: string; clientName: string }
/** The interface that the SMTP edge calls. */
type Intake = {
  checkRecipient: (address: string, sender: { declaredSize: number | null }) => Promise<{ kind: 'accepted' } | Refused>
  accept: (envelope: Envelope, raw: Buffer, received: string) => Promise<{ kind: 'stored'; id: string } | Refused>
}

const noSuchReturnPath: Reply = { code: 550, enhanced: '5.1.1', text: 'No such return path here' }
const noReport: Reply = { code: 550, enhanced: '5.6.0', text: 'This address takes reports about mail from here only' }

/** An intake that takes returned mail and passes the rest to `mailboxes`. */
export function createReturnIntake(returnedMail: ReturnedMail, mailboxes: Intake): Intake {
  return {
    async checkRecipient(address, sender) {
      if (!returnedMail.isReturnAddress(address)) return mailboxes.checkRecipient(address, sender)
      return (await returnedMail.isTaken(address)) ? { kind: 'accepted' } : { kind: 'refused', reply: noSuchReturnPath }
    },

    async accept(envelope, raw, received) {
      const returns = envelope.recipients.filter(returnedMail.isReturnAddress)
      if (returns.length === 0) return mailboxes.accept(envelope, raw, received)
      const recipients = envelope.recipients.filter((address) => !returns.includes(address))
      let isRecorded = false
      for (const address of returns) {
        const taken = await returnedMail.take(address, envelope.from, raw)
        if (taken.kind === 'message' && !recipients.includes(taken.to)) recipients.push(taken.to)
        isRecorded ||= taken.kind === 'recorded'
      }
      // The reports are recorded by now. When the client retries for the other recipients, they are recognized.
      if (recipients.length > 0) return mailboxes.accept({ ...envelope, recipients }, raw, received)
      return isRecorded ? { kind: 'stored', id: envelope.id } : { kind: 'refused', reply: noReport }
    },
  }
}
