// The stored message: its row, its statuses, and its views in the API.

import type { Attachment } from '@callsign/contract/attachments'
import type { Code } from '@callsign/contract/codes'
import { eventBodyBytesMax } from '@callsign/contract/events'
import type { Flag as FlagSchema } from '@callsign/contract/flags'
import type { DeliveryAttempt, MessageStatus } from '@callsign/contract/message-delivery'
import { type Message, type MessageItem, type View, viewDefault, viewOmissions } from '@callsign/contract/message-views'
import type { Metadata } from '@callsign/contract/metadata'
import type { Authentication } from '@callsign/contract/sender-checks'
import { formatAddress } from '@callsign/mail/mail-address'
import type { Static } from 'typebox'
import { toTags } from '../../../core/metadata.ts'
import type { Guardrail } from '../rules/model.ts'

type Flag = Static<typeof FlagSchema>

export type MessageRow = {
  id: string
  organization_id: string
  mailbox_id: string
  thread_id: string
  direction: 'inbound' | 'outbound'
  status: MessageStatus
  from_address: string
  from_name: string
  to_addresses: string[]
  cc_addresses: string[]
  bcc_addresses: string[]
  reply_to: string[]
  subject: string
  snippet: string
  text: string
  html: string
  extracted_text: string
  rfc_message_id: string | null
  in_reply_to: string | null
  in_reply_to_message_id: string | null
  reference_ids: string[]
  headers: Record<string, string>
  /** Results of the sender checks. Null on outbound messages. */
  authentication: Static<typeof Authentication> | null
  envelope_from: string | null
  /** The address of its mailbox that an inbound message came to, without a tag. */
  envelope_to: string | null
  labels: string[]
  /** Each `name:value`. Null for none. */
  tags: string[] | null
  metadata: Metadata | null
  is_read: boolean
  is_starred: boolean
  size_bytes: number
  /** Set when its files were deleted before it: the bytes that are still stored. */
  kept_bytes: number | null
  attachment_count: number
  raw_id: string | null
  /** Indicators of deception. Empty on outbound messages. */
  flags: Flag[]
  /** Null on messages from before there were guardrails. */
  guardrail: Guardrail | null
  /** The time of its release from quarantine. */
  released_at: Date | null
  /** The time when it was moved to the trash. */
  trashed_at: Date | null
  /** Codes that were found when the message was filed. Empty on outbound messages. */
  codes: Code[]
  created_at: Date
  updated_at: Date
}

/** One entry of a recipient's delivery log. */
export type LogEntry = Static<typeof DeliveryAttempt>

export type RecipientStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed'

export type RecipientRow = {
  message_id: string
  position: number
  kind: 'to' | 'cc' | 'bcc'
  name: string
  address: string
  status: RecipientStatus
  attempts: number
  last_answer: string | null
  diagnostic_code: string | null
  last_attempt_at: Date | null
  next_attempt_at: Date | null
  /** Oldest first. */
  log: LogEntry[]
}

/** The folder that a thread is stored with. It keeps it in the trash, and returns to it. */
export type StoredFolder = 'inbox' | 'archive' | 'spam' | 'sent'

const severity: Record<RecipientStatus, number> = { delivered: 0, sent: 1, queued: 2, bounced: 3, failed: 4 }

/** The status of a message: the worst of its recipients'. It only moves forward, since their statuses do. */
export const worstStatus = (statuses: readonly RecipientStatus[]): RecipientStatus =>
  statuses.reduce((worst, status) => (severity[status] > severity[worst] ? status : worst), 'delivered')

const moves: Record<RecipientStatus, readonly RecipientStatus[]> = {
  queued: ['sent', 'delivered', 'bounced', 'failed'],
  sent: ['delivered', 'bounced', 'failed'],
  // A relay or a receiving system may still bounce a message that it accepted.
  delivered: ['bounced'],
  bounced: [],
  failed: [],
}

/** True when a recipient's status may change this way. Statuses only move forward. */
export const canMove = (from: RecipientStatus, to: RecipientStatus): boolean => moves[from].includes(to)

/** The status of a recipient after a report. A report cannot move it backwards, or from one final status to another. */
export const moved = (from: RecipientStatus, to: RecipientStatus): RecipientStatus => (canMove(from, to) ? to : from)

/** The first 200 characters of the text, with white space folded. */
export function snippetOf(text: string): string {
  // Skips single blanks, which folding would not change.
  return text
    .slice(0, 1000)
    .replace(/ \s+|[^\S ]\s*/g, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed()
}

/** Characters of a text that are searched. */
export const searchedCharactersMax = 60_000

type Item = Static<typeof MessageItem>
type FullItem = Item & Required<Pick<Item, 'headers'>>

/** A listed message with the fields of a view. */
export function inView(item: Item, view: View = viewDefault): Item {
  const left = { ...item }
  for (const field of viewOmissions[view]) delete (left as Partial<Item>)[field]
  return left
}

/** One item of a list, in the full view. `from` includes the display name. */
export function toItem(row: MessageRow, attachments: Static<typeof Attachment>[]): FullItem {
  return {
    id: row.id,
    mailbox_id: row.mailbox_id,
    thread_id: row.thread_id,
    direction: row.direction,
    status: row.status,
    from: formatAddress(row.from_name, row.from_address),
    to: row.to_addresses,
    cc: row.cc_addresses,
    bcc: row.bcc_addresses,
    reply_to: row.reply_to,
    subject: row.subject,
    snippet: row.snippet,
    text: row.text,
    html: row.html,
    extracted_text: row.extracted_text,
    delivered_to: row.envelope_to,
    in_reply_to_message_id: row.in_reply_to_message_id,
    message_id: row.rfc_message_id,
    references: row.reference_ids,
    headers: row.headers,
    is_read: row.is_read,
    is_starred: row.is_starred,
    labels: row.labels,
    tags: toTags(row.tags),
    metadata: row.metadata ?? {},
    attachments,
    codes: row.codes,
    size_bytes: row.size_bytes,
    flags: row.flags,
    guardrail: row.guardrail,
    released_at: row.released_at?.toISOString() ?? null,
    trashed_at: row.trashed_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }
}

/**
 * The whole message: `from` is the bare address, and outbound messages include the delivery of each recipient. The recipients may be read
 * after the row, so the status is theirs.
 */
export function toMessage(
  row: MessageRow,
  attachments: Static<typeof Attachment>[],
  recipients: RecipientRow[],
): Omit<Static<typeof Message>, 'raw_url'> {
  return {
    ...toItem(row, attachments),
    status: recipients.length > 0 ? worstStatus(recipients.map(({ status }) => status)) : row.status,
    from: row.from_address,
    authentication: row.authentication ?? { source: null, spf: null, dkim: null, dmarc: null, arc: null },
    delivery: row.direction === 'outbound' ? { recipients: recipients.map(toDelivery) } : null,
  }
}

/**
 * The event payload of a message: fields that never change, so that every delivery of the event has the same bytes. It omits read and starred
 * marks, labels and delivery, and the tags and metadata, which an event has by itself. Attachments have no link, because links expire. Long bodies
 * are cut.
 */
export function toDescription(row: MessageRow, attachments: Static<typeof Attachment>[]) {
  const {
    is_read: _read,
    is_starred: _starred,
    labels: _labels,
    delivery: _delivery,
    released_at: _released,
    trashed_at: _trashed,
    ...view
  } = toMessage(row, [], [])
  const text = cutToBytes(row.text, eventBodyBytesMax)
  const html = cutToBytes(row.html, eventBodyBytesMax)
  return {
    ...view,
    tags: [],
    metadata: {},
    text,
    html,
    extracted_text: cutToBytes(row.extracted_text, eventBodyBytesMax),
    truncated: text.length < row.text.length || html.length < row.html.length,
    attachments: attachments.map((attachment) => ({ ...attachment, url: null })),
  }
}

/** The tags and metadata of a message, at the time of an event. They may change later, so the event stores them. */
export const marksOf = ({ tags, metadata }: Pick<MessageRow, 'tags' | 'metadata'>) => ({
  ...(tags && { tags: toTags(tags) }),
  ...(metadata && { metadata }),
})

export type MessageDescription = ReturnType<typeof toDescription>

/** The beginning of a text that fits this many bytes of UTF-8, cut between characters. */
function cutToBytes(text: string, bytesMax: number): string {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= bytesMax) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let end = bytesMax
  while (((bytes[end] as number) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function toDelivery(row: RecipientRow) {
  return {
    address: row.address,
    status: row.status,
    attempts: row.attempts,
    last_answer: row.last_answer,
    diagnostic_code: row.diagnostic_code,
    last_attempt_at: row.last_attempt_at?.toISOString() ?? null,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    log: row.log,
  }
}

/** The answer to the release of a message from quarantine. */
export const toRelease = ({ id, thread_id, status, released_at }: Pick<MessageRow, 'id' | 'thread_id' | 'status' | 'released_at'>) => ({
  id,
  thread_id,
  status,
  released_at: released_at?.toISOString() ?? null,
})
