// Messages and attachments as Resend shows them.
import type { Message, MessageItem } from '@callsign/contract/message-views'
import type { Static } from 'typebox'

type Email = Static<typeof Message>
type Item = Static<typeof MessageItem>

const orNull = <T>(list: T[]): T[] | null => (list.length > 0 ? list : null)

/** The fields of an item of a list. */
export const addressing = (email: Item) => ({
  id: email.id,
  from: email.from,
  to: email.to,
  cc: orNull(email.cc),
  bcc: orNull(email.bcc),
  reply_to: orNull(email.reply_to),
  subject: email.subject,
  message_id: email.message_id ?? '',
  created_at: email.created_at,
})

const bodies = (email: Item) => ({ text: email.text || null, html: email.html || null })

/** `last_event` is our status: the worst of the recipients'. */
export const toSentItem = (email: Item) => ({ ...addressing(email), topic_id: null, scheduled_at: null, last_event: email.status })

export const toEmail = (email: Email) => ({ object: 'email', ...toSentItem(email), ...bodies(email), tags: email.tags })

export const toReceivedItem = (email: Item) => ({
  ...addressing(email),
  received_for: email.delivered_to === null ? [] : [email.delivered_to],
  attachments: email.attachments.map(({ id, filename, size_bytes, content_type, content_id }) => ({
    id,
    filename,
    size: size_bytes,
    content_type,
    content_id,
    content_disposition: content_id === null ? 'attachment' : 'inline',
  })),
})

export const toReceived = (email: Email) => ({
  object: 'email',
  ...toReceivedItem(email),
  ...bodies(email),
  headers: email.headers,
  raw: { download_url: email.raw_url, expires_at: expiryOf(email.raw_url) },
})

export const toAttachment = ({ id, filename, size_bytes, content_type, content_id, url }: Email['attachments'][number]) => ({
  id,
  filename,
  size: size_bytes,
  content_type,
  content_disposition: content_id === null ? 'attachment' : 'inline',
  ...(content_id !== null && { content_id }),
  download_url: url,
  expires_at: expiryOf(url),
})

/** The end of a signed link, which is its parameter `expires` in seconds. */
function expiryOf(url: string | null): string | null {
  const seconds = url === null ? Number.NaN : Number(new URL(url, 'http://localhost').searchParams.get('expires'))
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1000).toISOString() : null
}
