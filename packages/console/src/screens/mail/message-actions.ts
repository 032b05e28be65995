// Changes of messages. The lists show a change at once and return to the server's state when it fails.
import type { Message, MessageItem, Thread } from '@callsign/sdk'
import { patchItems, patchLists, refreshLists } from '../../cache/pages.ts'
import { invalidate } from '../../cache/query.ts'
import { attempt, toast, toastError } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import type { ListedMessage, ListedThread, ListRow } from './list-rows.ts'

type Change = Parameters<typeof client.messages.update>[2]
type ThreadChange = Parameters<typeof client.threads.update>[1]
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

/** Shows the change in lists of messages, and in lists of threads whose latest message this is. */
function show({ id, is_read, is_starred, labels }: Changed): void {
  const change = { is_read, is_starred, labels }
  patchLists<ListedMessage | ListedThread>('messages', (item) => {
    if (item.id === id) return { ...item, ...change }
    return 'last_message' in item && item.last_message?.id === id ? { ...item, last_message: { ...item.last_message, ...change } } : item
  })
}

/** Loads everything again that shows threads or counts them. */
function reloadMail(): void {
  refreshLists('messages')
  invalidate('thread', 'message', 'folders', 'overview')
}

/** Sets flags and labels of one message. Resolves with true on success. */
export async function changeMessage(handle: string, message: Changed, change: Change): Promise<boolean> {
  const before = { id: message.id, is_read: message.is_read, is_starred: message.is_starred, labels: message.labels }
  show(applied(message, change))
  try {
    show(await client.messages.update(handle, message.id, change))
    reloadMail()
    return true
  } catch (error) {
    show(before)
    toastError(error)
    return false
  }
}

/** Marks the messages of a thread. */
export const markThread = ({ threadId }: Pick<ListRow, 'threadId'>, isRead: boolean): Promise<boolean> =>
  changeThread(threadId, { is_read: isRead })

async function changeThread(id: string | null, body: ThreadChange): Promise<boolean> {
  if (id === null || !(await attempt(() => client.threads.update(id, body)))) return false
  reloadMail()
  return true
}

/** Moves a message to the trash, and offers to take it back. */
export async function trashMessage(handle: string, message: Pick<Message, 'id'>): Promise<boolean> {
  const undo = () => attempt(() => client.messages.restore(handle, message.id), 'Taken out of the trash').then(reloadMail)
  if (!(await attempt(() => client.messages.trash(handle, message.id)))) return false
  patchItems('messages', message.id, () => null)
  reloadMail()
  toast({ text: 'Moved to the trash', action: { label: 'Undo', run: () => void undo() } })
  return true
}

/** Takes a thread out of the inbox, and offers to put it back. */
export async function archiveThread({ id, folder }: Pick<Thread, 'id' | 'folder'>): Promise<boolean> {
  if (folder !== 'inbox' || !(await changeThread(id, { folder: 'archive' }))) return false
  toast({ text: 'Archived', action: { label: 'Undo', run: () => void moveToInbox(id) } })
  return true
}

async function moveToInbox(id: string): Promise<boolean> {
  const isMoved = await changeThread(id, { folder: 'inbox' })
  if (isMoved) toast({ text: 'Moved to the inbox' })
  return isMoved
}

/** Takes a thread out of the trash, the archive or spam. From the trash it returns to the folder where it was. */
export async function restoreThread({ id, folder }: Pick<Thread, 'id' | 'folder'>): Promise<boolean> {
  if (folder !== 'trash') return moveToInbox(id)
  if (!(await attempt(() => client.threads.restore(id), 'Taken out of the trash'))) return false
  reloadMail()
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

/** Changes threads, six at a time. Resolves with the errors. */
async function updateThreads(ids: string[], body: ThreadChange): Promise<unknown[]> {
  const queue = [...ids]
  const errors: unknown[] = []
  const work = async () => {
    for (let id = queue.shift(); id; id = queue.shift()) await client.threads.update(id, body).catch((error: unknown) => errors.push(error))
  }
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, ids.length) }, work))
  reloadMail()
  return errors
}

/** Changes threads and reports how many were changed. Rejects when none was. */
export async function changeThreads(ids: string[], body: ThreadChange, done: string): Promise<void> {
  const errors = await updateThreads(ids, body)
  const changed = ids.length - errors.length
  if (changed === 0 && errors.length > 0) throw errors[0]
  for (const error of errors) toastError(error)
  toast({ text: `${changed} ${changed === 1 ? 'thread' : 'threads'} ${done}` })
}
