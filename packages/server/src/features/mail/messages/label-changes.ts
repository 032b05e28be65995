// Changes of the labels of messages, as the event that announces them. States that people change are labels too: read, unread, starred, trash.
import type { Emit } from '../../../core/event.ts'
import type { Tx } from '../../../core/sql.ts'
import type { ChangedMessage, LockedThread, MovedMessage } from '../stored/mail-store.ts'

export type LabelChange = {
  id: string
  thread_id: string
  mailbox_id: string
  identity_id: string
  added: string[]
  removed: string[]
}

/** Writes one event per message whose labels differ, in one statement. */
export const emitLabelChanges = (emit: Emit, tx: Tx, organizationId: string, changes: LabelChange[]): Promise<void> =>
  emit(
    tx,
    changes
      .filter(({ added, removed }) => added.length + removed.length > 0)
      .map(({ identity_id: identityId, ...data }) => ({
        type: 'email.labels_changed',
        organizationId,
        identityId,
        subjectId: data.id,
        data,
      })),
  )

/** The labels before and after a change of flags and labels. */
export function labelChangeOf(message: ChangedMessage): LabelChange {
  const { id, thread_id, mailbox_id, identity_id, direction } = message
  const [before, after] = [
    labelsOf(direction, message.was_read, message.was_starred, message.old_labels),
    labelsOf(direction, message.is_read, message.is_starred, message.labels),
  ]
  const added = after.filter((label) => !before.includes(label))
  return { id, thread_id, mailbox_id, identity_id, added, removed: before.filter((label) => !after.includes(label)) }
}

/** Messages that the agent wrote are neither read nor unread. */
const labelsOf = (direction: ChangedMessage['direction'], isRead: boolean, isStarred: boolean, labels: string[]): string[] => [
  ...new Set([...labels, ...(direction === 'inbound' ? [isRead ? 'read' : 'unread'] : []), ...(isStarred ? ['starred'] : [])]),
]

/** One change of these messages of a thread. */
export const sameChange = (thread: LockedThread, messages: MovedMessage[], labels: Pick<LabelChange, 'added' | 'removed'>): LabelChange[] =>
  messages.map(({ id, identity_id }) => ({ id, thread_id: thread.id, mailbox_id: thread.mailbox_id, identity_id, ...labels }))
