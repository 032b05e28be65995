// Chooses the author of an outgoing message among the addresses of its agent.
import type { ParsedAddress } from '@callsign/mail/mime/addresses'
import { invalid } from '../../../core/errors.ts'
import { isLocalPart, localPartOf, type MailboxOwner, mailboxAddressOf, normalizeAddress } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { MessageRow } from '../stored/model.ts'
import { readAddress } from './model.ts'

export interface Authors {
  /**
   * The author of a message. Reads the `from` of a request, or without one chooses `cameTo`, the address that the answered mail came to, or the
   * primary address. Throws 400 for an address of another agent.
   */
  chooseAuthor(owner: MailboxOwner, from: string | null | undefined, cameTo?: string | null): Promise<ParsedAddress>
  /** The addresses that an answer to a message does not go to: those of the agent, and those in the message that lead to its mailbox, as by a catch-all. */
  findOwnAddresses(owner: MailboxOwner, message: Addresses): Promise<string[]>
}

type Addresses = Pick<MessageRow, 'direction' | 'from_address' | 'envelope_to' | 'to_addresses' | 'cc_addresses' | 'reply_to'>

export function createAuthors(identities: Pick<Identities, 'findHosted' | 'findAddresses'>): Authors {
  const isOwn = async (owner: MailboxOwner, address: string): Promise<boolean> =>
    address === owner.address ||
    (isLocalPart(localPartOf(mailboxAddressOf(address) ?? '')) && (await identities.findHosted(address))?.mailboxId === owner.mailboxId)

  return {
    async chooseAuthor(owner, from, cameTo = null) {
      const primary = { name: owner.displayName, address: owner.address }
      if (from === undefined || from === null) {
        const isKept = cameTo !== null && cameTo !== owner.address && (await isOwn(owner, cameTo))
        return isKept ? { ...primary, address: cameTo } : primary
      }
      const given = readAddress(from)
      const address = given && normalizeAddress(given.address)
      if (!given || address === null)
        throw invalid('/from', 'must be an email address, such as user@example.com or Name <user@example.com>')
      if (!(await isOwn(owner, address))) throw invalid('/from', `must be an address of this agent, such as ${owner.address}`)
      return { name: given.name === '' ? owner.displayName : given.name, address }
    },

    async findOwnAddresses(owner, message) {
      const named = new Set([message.from_address, ...message.reply_to, ...message.to_addresses, ...message.cc_addresses])
      const [own, leading] = await Promise.all([
        identities.findAddresses(owner.identityId),
        Promise.all([...named].map(async (address) => (await identities.findHosted(address))?.mailboxId === owner.mailboxId)),
      ])
      return [
        ...own,
        ...[...named].filter((_, index) => leading[index]),
        ...(message.envelope_to === null ? [] : [message.envelope_to]),
        ...(message.direction === 'outbound' ? [message.from_address] : []),
      ]
    },
  }
}
