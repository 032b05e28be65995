// The intake of mailboxes: checks recipients, and receives what no other intake takes.
import type { MailIntake } from './model.ts'
import type { InboundMail } from './operations.ts'

export const createMailboxIntake = (inboundMail: InboundMail): MailIntake => ({
  async check(address, bytes) {
    const owner = await inboundMail.findRecipient(address)
    if (owner === null) return (await inboundMail.isRole(address)) ? 'no-postmaster' : 'no-mailbox'
    return (await inboundMail.hasRoom(owner, bytes)) ? 'accepted' : 'full'
  },

  async take(arrival) {
    const received = await inboundMail.receive(arrival)
    return 'refused' in received ? received : { ...received, left: [] }
  },
})
