// Threads as AgentMail shows them.
import type { Thread } from '@callsign/contract/threads'
import type { Static } from 'typebox'

type Listed = Static<typeof Thread>

/** Our states of a thread as labels, and then its labels. */
export function threadLabelsOf(thread: Listed): string[] {
  const states = [
    thread.last_received_at !== null && 'received',
    thread.last_sent_at !== null && 'sent',
    thread.unread_count > 0 && 'unread',
    thread.folder === 'spam' && 'spam',
    thread.folder === 'trash' && 'trash',
    thread.folder === 'archive' && 'archive',
  ]
  return [...new Set([...states.filter((state) => typeof state === 'string'), ...thread.labels])]
}

export const toThreadItem = (thread: Listed, inboxId: string) => ({
  inbox_id: inboxId,
  thread_id: thread.id,
  labels: threadLabelsOf(thread),
  timestamp: thread.last_message_at,
  ...(thread.last_received_at !== null && { received_timestamp: thread.last_received_at }),
  ...(thread.last_sent_at !== null && { sent_timestamp: thread.last_sent_at }),
  senders: thread.senders,
  recipients: thread.recipients,
  subject: thread.subject,
  preview: thread.snippet,
  last_message_id: thread.last_message_id,
  message_count: thread.message_count,
  size: thread.size_bytes,
  updated_at: thread.last_message_at,
  created_at: thread.created_at,
})
