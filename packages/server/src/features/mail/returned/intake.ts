// The intake of return paths: bounces, delivery reports and complaints.
import type { MailIntake } from '../inbound/model.ts'
import type { ReturnedMail } from './operations.ts'

export const createReturnIntake = (returnedMail: ReturnedMail): MailIntake => ({
  async check(address) {
    if (!returnedMail.isReturnAddress(address)) return null
    return (await returnedMail.isTaken(address)) ? 'accepted' : 'no-return-path'
  },

  /** Other mail, such as a reader's answer, is left for the mailbox that sent. */
  async take({ from, recipients, raw }) {
    const returns = recipients.filter(returnedMail.isReturnAddress)
    const left = recipients.filter((address) => !returns.includes(address))
    let isRecorded = false
    for (const address of returns) {
      const taken = await returnedMail.take(address, from, raw)
      if (taken.kind === 'message' && !left.includes(taken.to)) left.push(taken.to)
      isRecorded ||= taken.kind === 'recorded'
    }
    // The reports are recorded by now. When the client tries again for the recipients that are left, they are recognized.
    return left.length > 0 || isRecorded ? { left } : { refused: 'no-report' }
  },
})
