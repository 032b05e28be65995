// Events in the shape of Resend's webhooks, and the types that both have.
import type { Domain } from '@callsign/contract/domains'
import type { EventType } from '@callsign/contract/event-types'
import type { Event } from '@callsign/contract/events'
import type { Message } from '@callsign/contract/message-views'
import type { Static } from 'typebox'
import { domainWithRecords } from './domains.ts'

type Payload = Static<typeof Event>
type Data = Record<string, unknown>

const domainTypes: EventType[] = ['domain.verified', 'domain.failed']

/** Our types by the type of Resend. Resend has one type for every change of a domain. */
export const eventTypesOfResend: Record<string, EventType[]> = {
  'email.sent': ['email.sent'],
  'email.delivered': ['email.delivered'],
  'email.bounced': ['email.bounced'],
  'email.complained': ['email.complained'],
  'email.failed': ['email.failed'],
  'email.received': ['email.received'],
  'domain.updated': domainTypes,
}

/** The types of Resend that have these types of ours. */
export const resendTypesOf = (types: string[]): string[] =>
  Object.entries(eventTypesOfResend).flatMap(([name, ours]) =>
    ours.some((one) => types.includes(one) || types.includes('*')) ? [name] : [],
  )

/** The type of Resend for an event. An event without one keeps its own type. */
export const resendTypeOf = (type: string): string => (domainTypes.some((one) => one === type) ? 'domain.updated' : type)

/** The body of an event as webhooks of Resend have it. */
export const toResendEvent = ({ type, timestamp, data }: Payload): { type: string; created_at: string; data: Data } => ({
  type: resendTypeOf(type),
  created_at: timestamp,
  data: dataOf(type, data),
})

function dataOf(type: string, data: Data): Data {
  if (type === 'email.received') return receivedData(data as never)
  if (type.startsWith('email.') && type !== 'email.labels_changed') return { ...emailData(data as never), ...outcomeOf(type, data) }
  if (resendTypeOf(type) === 'domain.updated') return domainWithRecords(data as Static<typeof Domain>)
  return data
}

type Email = Partial<Static<typeof Message>>

/** A message that was deleted since has its id only. */
const emailData = (email: Email) => ({
  email_id: email.id,
  message_id: email.message_id ?? '',
  created_at: email.created_at,
  from: email.from ?? '',
  to: email.to ?? [],
  subject: email.subject ?? '',
  ...(email.tags && email.tags.length > 0 && { tags: Object.fromEntries(email.tags.map(({ name, value }) => [name, value])) }),
})

const receivedData = (email: Email) => ({
  ...emailData(email),
  cc: email.cc ?? [],
  bcc: email.bcc ?? [],
  received_for: email.delivered_to ? [email.delivered_to] : [],
  attachments: (email.attachments ?? []).map(({ id, filename, content_type, content_id }) => ({
    id,
    filename,
    content_type,
    content_disposition: content_id === null ? 'attachment' : 'inline',
    content_id,
  })),
})

/** The reason of a bounce or failure, which is the answer of the first recipient's server. */
function outcomeOf(type: string, { recipients }: Data): Data {
  const [first] = (recipients ?? []) as { answer?: string }[]
  const message = first?.answer ?? ''
  if (type === 'email.bounced') return { bounce: { message, type: 'Permanent', subType: 'General' } }
  return type === 'email.failed' ? { failed: { reason: message } } : {}
}
