// Changes of messages. The lists show a change at once and return to the server's state when it fails.
import type { Message, MessageItem, Thread } from '@callsign/sdk'
import { patchItems, refreshLists } from '../../cache/pages.ts'
import { invalidate } from '../../cache/query.ts'
import { attempt, toast, toastError } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

type Change = Parameters<typeof client.messages.update>[2]
type Changed = Pick<MessageItem, 'id' | 'is_read' | 'is_starred' | 'labels'>

function applied(message: Changed, change: Change): Changed {
  const labels = change.labels ?? [
    ...new Set([...message.labels, ...(change.add_labels ?? [])].filter((label) => !change.remove_labels?.includes(label))),
  ]
  return {
    id: message.id,
    is_read: change.is_read ?? message.is_read,
    is_starred: change.is_starred ?? message.is_starred,
    labels,
  }
}

const show = ({ id, is_read, is_starred, labels }: Changed) =>
  patchItems<MessageItem>('messages', id, (item) => ({ ...item, is_read, is_starred, labels }))

/** Sets flags and labels of one message. Resolves with true on success. */
export async function changeMessage(handle: string, message: Changed, change: Change): Promise<boolean> {
  const before = { id: message.id, is_read: message.is_read, is_starred: message.is_starred, labels: message.labels }
  show(applied(message, change))
  try {
    show(await client.messages.update(handle, message.id, change))
    invalidate('thread', `message ${message.id}`)
    return true
  } catch (error) {
    show(before)
    toastError(error)
    return false
  }
}

/** Moves a message to the trash, and offers to take it back. */
export async function trashMessage(handle: string, message: Pick<Message, 'id'>): Promise<boolean> {
  const undo = () =>
    attempt(() => client.messages.restore(handle, message.id), 'Taken out of the trash').then(() => {
      refreshLists('messages')
      invalidate('thread')
    })
  const isMoved = await attempt(() => client.messages.trash(handle, message.id))
  if (!isMoved) return false
  patchItems('messages', message.id, () => null)
  invalidate('thread', 'overview')
  toast({ text: 'Moved to the trash', action: { label: 'Undo', run: () => void undo() } })
  return true
}

/** Takes a thread out of the inbox, and offers to put it back. */
export async function archiveThread({ id, folder }: Pick<Thread, 'id' | 'folder'>): Promise<boolean> {
  if (folder !== 'inbox') return false
  const move = (to: 'archive' | 'inbox') => async () => {
    await client.threads.update(id, { folder: to })
    refreshLists('messages')
    invalidate('thread')
  }
  if (!(await attempt(move('archive')))) return false
  toast({ text: 'Archived', action: { label: 'Undo', run: () => void attempt(move('inbox'), 'Moved to the inbox') } })
  return true
}

/** Deletes a message permanently. */
export async function deleteMessage(handle: string, message: Pick<Message, 'id'>): Promise<boolean> {
  try {
    await client.messages.delete(handle, message.id)
    patchItems('messages', message.id, () => null)
    patchItems('quarantine', message.id, () => null)
    invalidate('thread', 'overview')
    return true
  } catch (error) {
    toastError(error)
    return false
  }
}

const concurrencyMax = 6

/** Runs one change for each message, six at a time, and reports the number of failures once. */
export async function changeAll<T>(items: T[], change: (item: T) => Promise<boolean>, done: string): Promise<void> {
  const queue = [...items]
  let failed = 0
  const work = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) if (!(await change(item))) failed++
  }
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, items.length) }, work))
  if (failed === 0) toast({ text: `${items.length} ${items.length === 1 ? 'message' : 'messages'} ${done}` })
}
