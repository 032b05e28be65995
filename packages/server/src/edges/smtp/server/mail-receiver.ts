// Passes mail from other servers to the intakes of this one, and answers with the replies for their words.
import type { MailIntake } from '../../../features/mail/inbound/model.ts'
import { replyToRefusal } from './error-reply.ts'
import type { SmtpReceiver } from './receiver.ts'

/** A receiver that asks the intakes in their order. The last one takes what the others leave. */
export const createMailReceiver = (intakes: MailIntake[]): SmtpReceiver => ({
  async checkRecipient(address, { declaredSize }) {
    for (const intake of intakes) {
      const verdict = await intake.check(address, declaredSize ?? 0)
      if (verdict === 'accepted') return { kind: 'accepted' }
      if (verdict !== null) return { kind: 'refused', reply: replyToRefusal({ refused: verdict }) }
    }
    return { kind: 'refused', reply: replyToRefusal({ refused: 'no-mailbox' }) }
  },

  async accept({ id, from, recipients, clientAddress, clientName }, raw, received) {
    let [left, storedId] = [recipients, id]
    for (const intake of intakes) {
      const taken = await intake.take({ from, recipients: left, raw, received, client: { address: clientAddress, name: clientName } })
      if ('refused' in taken) return { kind: 'refused', reply: replyToRefusal(taken) }
      left = taken.left
      storedId = taken.id ?? storedId
      if (left.length === 0) return { kind: 'stored', id: storedId }
    }
    return { kind: 'refused', reply: replyToRefusal({ refused: 'gone' }) }
  },
})
