// The thread: its row, and its view in the API.
import type { ThreadFacts, ThreadRow } from '../stored/model.ts'

export function toThread(row: ThreadRow, facts: ThreadFacts) {
  return {
    id: row.id,
    mailbox_id: row.mailbox_id,
    subject: row.subject,
    snippet: row.snippet,
    folder: row.message_count === 0 ? ('trash' as const) : row.folder,
    labels: row.labels,
    metadata: row.metadata ?? {},
    participants: row.participants,
    senders: facts.senders,
    recipients: facts.recipients,
    size_bytes: facts.size_bytes,
    last_message_id: row.last_message_id,
    last_received_at: facts.last_received_at?.toISOString() ?? null,
    last_sent_at: facts.last_sent_at?.toISOString() ?? null,
    message_count: row.message_count === 0 ? row.trashed_count : row.message_count,
    unread_count: row.unread_count,
    last_message_at: row.last_message_at.toISOString(),
    created_at: row.created_at.toISOString(),
  }
}
