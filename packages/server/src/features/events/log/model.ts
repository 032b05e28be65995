// The event as a row, and the one payload that webhooks, the list and the stream give of it.
import { type EventType, eventScope, eventTypes } from '@callsign/contract/event-types'
import type { Event } from '@callsign/contract/events'
import type { Scope } from '@callsign/contract/scopes'
import type { Static } from 'typebox'
import { type Caller, missingScope, scopeMissing } from '../../../core/caller.ts'
import { invalid } from '../../../core/errors.ts'

/** Age at which events are deleted, a day more than that of webhook deliveries. */
export const keptMs = 31 * 24 * 3_600_000

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

const knownTypes = new Set<string>(eventTypes)
const isKnown = (type: string): type is EventType => knownTypes.has(type)

/** The types of `types=a,b`, or null for all. Throws 400 with the first unknown one. */
export function readTypes(text: string | undefined): EventType[] | null {
  if (text === undefined) return null
  const types = text.split(',').map((part) => part.trim())
  const unknown = types.find((type) => !isKnown(type))
  if (unknown !== undefined)
    throw invalid('/types', `types must be event types separated by commas: "${unknown.slice(0, 50)}" is not an event type`)
  return [...new Set(types.filter(isKnown))]
}

/** The API or a webhook. Requests for approval have a link that approves in webhooks. */
export type Way = 'api' | 'webhook'

/** The scope that the caller lacks to receive events of this type. Null if it may receive them. The only place that decides this. */
function missingToReceive(caller: Caller, type: EventType, way: Way): Scope | null {
  const approves = way === 'webhook' && type === 'draft.approval_requested'
  return missingScope(caller, [eventScope(type)]) ?? (approves ? missingScope(caller, ['drafts:approve']) : null)
}

/** Throws 403 unless the caller may receive events of each of these types. `*` stands for every type. */
export function requireReceivable(caller: Caller, types: readonly string[], way: Way): void {
  for (const type of types.includes('*') ? eventTypes : types.filter(isKnown)) {
    const missing = missingToReceive(caller, type, way)
    if (missing !== null) throw scopeMissing(caller, missing)
  }
}

/**
 * The types to read: the wanted ones, or every one that the caller may receive. Null for all. Throws 403 for a wanted one that it may not. An
 * agent gets events about quarantined mail only when it names their type.
 */
export function readableTypes(caller: Caller, wanted: EventType[] | null): EventType[] | null {
  if (wanted) {
    requireReceivable(caller, wanted, 'api')
    return wanted
  }
  const readable = eventTypes.filter(
    (type) => missingToReceive(caller, type, 'api') === null && !(caller.agents && type === 'email.quarantined'),
  )
  return readable.length === eventTypes.length ? null : readable
}

/** Types whose events have every fact in themselves. Their subjects are not read, so that a message in quarantine shows nothing of itself. */
export const isWhole = (type: string): boolean => type === 'email.labels_changed'

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
