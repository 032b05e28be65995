// The rows of stored mail, and the statuses of messages and recipients.
import type { Code } from '@callsign/contract/codes'
import type { Flag as FlagSchema } from '@callsign/contract/flags'
import type { DeliveryAttempt, MessageStatus } from '@callsign/contract/message-delivery'
import type { Metadata } from '@callsign/contract/metadata'
import type { Authentication } from '@callsign/contract/sender-checks'
import type { Static } from 'typebox'
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

export type ThreadRow = {
  id: string
  mailbox_id: string
  subject: string
  snippet: string
  message_count: number
  unread_count: number
  trashed_count: number
  folder: StoredFolder
  labels: string[]
  metadata: Metadata | null
  participants: string[]
  last_message_at: Date
  last_message_id: string
  created_at: Date
}

/** Facts about the latest messages of a thread. Addresses are in lower case. */
export type ThreadFacts = {
  senders: string[]
  recipients: string[]
  size_bytes: number
  last_received_at: Date | null
  last_sent_at: Date | null
}

/** The fields of a message that the filters read. */
export type MessageHead = Pick<
  MessageRow,
  | 'id'
  | 'mailbox_id'
  | 'thread_id'
  | 'from_address'
  | 'from_name'
  | 'to_addresses'
  | 'cc_addresses'
  | 'subject'
  | 'codes'
  | 'created_at'
  | 'released_at'
>
