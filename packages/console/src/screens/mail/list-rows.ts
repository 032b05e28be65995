// The rows of the mail list: one per thread, whether the list has threads, messages that a search found, or drafts.
import type { Draft, Identity, MessageSummary, SearchPage, ThreadPage } from '@callsign/sdk'
import { nameOf } from './addresses.ts'

export type ListedMessage = MessageSummary & { highlights?: SearchPage['data'][number]['highlights'] }
export type ListedThread = ThreadPage['data'][number]

export type ListRow = {
  /** The id in the address: a thread, a message or a draft. */
  id: string
  threadId: string | null
  handle: string
  who: string
  subject: string
  snippet: string
  at: string
  /** Messages of the thread, or hits in it. */
  count: number
  isUnread: boolean
  labels: string[]
  /** The latest message, or the latest hit. */
  message: ListedMessage | null
  draft: Draft | null
}

const handleOf = (identities: Identity[], mailboxId: string): string =>
  identities.find((identity) => identity.mailbox.id === mailboxId)?.agent_handle ?? mailboxId

const recipientsOf = (to: string[]): string => (to.length > 0 ? `To ${to.map(nameOf).join(', ')}` : 'No recipient yet')

export const whoOf = (message: Pick<ListedMessage, 'direction' | 'from' | 'to'>): string =>
  message.direction === 'outbound' ? recipientsOf(message.to) : nameOf(message.from)

/** In the folder of sent mail, a received answer names its author as the recipient. */
function threadWho({ last_message: last, participants }: ListedThread, isSentFolder: boolean): string {
  if (!last) return participants.join(', ')
  return isSentFolder && last.direction === 'inbound' ? recipientsOf([last.from]) : whoOf(last)
}

export const threadRow = (identities: Identity[], thread: ListedThread, isSentFolder: boolean): ListRow => ({
  id: thread.id,
  threadId: thread.id,
  handle: handleOf(identities, thread.mailbox_id),
  who: threadWho(thread, isSentFolder),
  subject: thread.subject,
  snippet: thread.snippet,
  at: thread.last_message_at,
  count: thread.message_count,
  isUnread: thread.unread_count > 0,
  labels: thread.labels,
  message: thread.last_message ?? null,
  draft: null,
})

const messageRow = (identities: Identity[], message: ListedMessage): ListRow => ({
  id: message.id,
  threadId: message.thread_id,
  handle: handleOf(identities, message.mailbox_id),
  who: whoOf(message),
  subject: message.subject,
  snippet: message.snippet,
  at: message.created_at,
  count: 1,
  isUnread: !message.is_read && message.direction === 'inbound',
  labels: message.labels,
  message,
  draft: null,
})

/** One row per thread, at its newest message. The others count. */
export function messageRows(identities: Identity[], messages: ListedMessage[]): ListRow[] {
  const rows = new Map<string, ListRow>()
  for (const message of messages) {
    const row = rows.get(message.thread_id)
    if (row) row.count++
    else rows.set(message.thread_id, messageRow(identities, message))
  }
  return [...rows.values()]
}

export const draftRow = (identities: Identity[], draft: Draft): ListRow => ({
  id: draft.id,
  threadId: draft.thread_id,
  handle: handleOf(identities, draft.mailbox_id),
  who: recipientsOf(draft.to),
  subject: draft.subject ?? '',
  snippet: draft.snippet ?? '',
  at: draft.updated_at,
  count: 1,
  isUnread: false,
  labels: draft.labels,
  message: null,
  draft,
})
