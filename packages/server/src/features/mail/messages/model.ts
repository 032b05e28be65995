// The views of a stored message in the API.

import type { Attachment } from '@callsign/contract/attachments'
import { eventBodyBytesMax } from '@callsign/contract/events'
import { type Message, type MessageItem, type View, viewDefault, viewOmissions } from '@callsign/contract/message-views'
import { formatAddress } from '@callsign/mail/mail-address'
import type { Static } from 'typebox'
import { toTags } from '../../../core/metadata.ts'
import { type MessageRow, type RecipientRow, worstStatus } from '../stored/model.ts'

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

/** The number of first messages whose lengths sum up to at most `max`, so that they fit into one response. The first always does. */
export function countFitting(lengths: number[], max: number): number {
  let sum = 0
  const over = lengths.findIndex((length, index) => {
    sum += length
    return sum > max && index > 0
  })
  return over === -1 ? lengths.length : over
}
