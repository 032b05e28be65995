// Drafts that wait for a person, the oldest request first.
import type { Draft, Identity } from '@callsign/sdk'
import { listAll } from '../../cache/list-all.ts'
import { type Query, useQuery } from '../../cache/query.ts'
import { client } from '../../session/client.ts'
import { parseAddress } from './addresses.ts'

export type Waiting = { handle: string; draft: Draft }

export function useApprovalQueue(): Query<Waiting[]> {
  return useQuery('drafts approvals', async () => {
    const all = await listAll((page) => client.approvals.list(page))
    return all.map(({ agent_handle: handle, draft }) => ({ handle, draft }))
  })
}

export type RecipientWarning = { code: 'first-contact' | 'external' | 'many' | 'hidden'; text: string }

const manyRecipients = 5

/** Warnings that need no request. */
export function warningsOf(draft: Draft, identities: Identity[]): RecipientWarning[] {
  const recipients = [...draft.to, ...draft.cc, ...draft.bcc].map((one) => parseAddress(one).address.toLowerCase())
  const hosted = new Set(identities.map((identity) => domainOf(identity.mailbox_address)))
  const external = [...new Set(recipients.map(domainOf))].filter((domain) => !hosted.has(domain))
  const warnings: RecipientWarning[] = []
  if (external.length > 0) warnings.push({ code: 'external', text: `Leaves the organization, to ${external.join(', ')}.` })
  if (recipients.length > manyRecipients) warnings.push({ code: 'many', text: `Goes to ${recipients.length} recipients.` })
  if (draft.bcc.length > 0)
    warnings.push({ code: 'hidden', text: `Has ${draft.bcc.length} hidden ${draft.bcc.length === 1 ? 'recipient' : 'recipients'}.` })
  return warnings
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Recipients with whom this mailbox has not exchanged mail. */
export async function findFirstContacts(handle: string, draft: Draft): Promise<string[]> {
  const addresses = [...new Set([...draft.to, ...draft.cc, ...draft.bcc].map((one) => parseAddress(one).address.toLowerCase()))].slice(
    0,
    10,
  )
  const isKnown = await Promise.all(
    addresses.map(async (address) => {
      const [sent, received] = await Promise.all([
        client.messages.list(handle, { to: address, direction: 'outbound', view: 'summary', limit: 1 }),
        client.messages.list(handle, { from: address, direction: 'inbound', view: 'summary', limit: 1 }),
      ])
      return sent.data.length + received.data.length > 0
    }),
  )
  return addresses.filter((_, index) => !isKnown[index])
}
