// The event as a row, and the one payload that webhooks, the list and the stream give of it.
import { eventTypes } from '@callsign/contract/event-types'
import type { Event } from '@callsign/contract/events'
import type { Static } from 'typebox'
import { invalid } from '../../../core/errors.ts'

export type EventRow = {
  id: string
  organization_id: string
  identity_id: string | null
  /** Null when the event has no agent, or its agent was deleted. */
  agent_handle: string | null
  type: string
  subject_id: string
  data: Record<string, unknown>
  created_at: Date
}

/** The part of an event that a wait needs. */
export type EventBrief = Pick<EventRow, 'id' | 'type' | 'subject_id' | 'created_at'> & { identity_id: string; position: number }

export type PlacedRow = EventRow & { position: number }

export type Payload = Static<typeof Event>

/** A subject in a payload. It holds facts that never change, so that every delivery of an event is the same. */
export type Description = Record<string, unknown>

/** Default types for an agent key. They exclude events about mail that guardrails hide from the agent. */
export const unaskedTypes: string[] = eventTypes.filter((type) => type !== 'email.quarantined')

const knownTypes = new Set<string>(eventTypes)

/** The types of `types=a,b`, or null for all. Throws 400 with the first unknown one. */
export function readTypes(text: string | undefined): string[] | null {
  if (text === undefined) return null
  const types = text.split(',').map((part) => part.trim())
  const unknown = types.find((type) => !knownTypes.has(type))
  if (unknown !== undefined)
    throw invalid('/types', `types must be event types separated by commas: "${unknown.slice(0, 50)}" is not an event type`)
  return [...new Set(types)]
}

/** Builds a payload. A null `description` is a deleted subject, an undefined one a subject without a description. */
export function toPayload(row: EventRow, description: Description | null | undefined): Payload {
  const subject = description === null ? { id: row.subject_id, deleted: true } : (description ?? {})
  const agent = row.identity_id === null ? {} : { agent_handle: row.agent_handle, agent_identity_id: row.identity_id }
  return {
    id: row.id,
    type: row.type,
    timestamp: row.created_at.toISOString(),
    data: { ...subject, ...statusIn(row.type, description), ...agent, ...row.data },
  }
}

/** The message status at the time of the event. The message's own status may have changed since. */
function statusIn(type: string, description: Description | null | undefined): Description {
  if (!description || !type.startsWith('email.')) return {}
  const status = type.slice('email.'.length)
  // A complaint is about a message that was delivered.
  return { status: status === 'complained' ? 'delivered' : status }
}

/** Replaces the stored id of an approval link by its URL, or removes it from the event of a reader without that right. */
export function withApprovalUrl(row: EventRow, urlOf: ((linkId: string) => string) | null): EventRow {
  const { approval_link_id: linkId, ...data } = row.data
  if (typeof linkId !== 'string') return row
  return { ...row, data: urlOf ? { ...data, approval_url: urlOf(linkId) } : data }
}
