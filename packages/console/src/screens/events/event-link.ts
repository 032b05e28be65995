// The screen that shows the object of an event.
import type { CallsignEvent } from '@callsign/sdk'
import { addressOf } from '../../navigation/place.ts'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The address of the object in the console, or null for an event without one. A decided draft no longer exists. */
export function eventLink({ type, data }: Pick<CallsignEvent, 'type' | 'data'>): string | null {
  const id = text(data.id)
  const handle = text(data.agent_handle)
  const [area] = type.split('.')
  if (area === 'tunnel') return handle ? addressOf(`/tunnels/${handle}`) : null
  if (area === 'imessage') return data.conversation_id ? addressOf(`/imessage/${text(data.conversation_id)}`) : null
  if (area === 'domain') return id.startsWith('dom_') ? addressOf(`/domains/${id}`) : null
  if (area === 'number') return id ? addressOf(`/phone/${id}`) : null
  if (type === 'draft.approval_requested') return addressOf(`/approvals/${handle}/${id}`)
  if (type === 'email.quarantined') return addressOf(`/quarantine/${handle}/${id}`)
  if (area === 'email' && handle && id.startsWith('msg_')) return addressOf(`/inbox/${handle}/${id}`)
  return null
}
