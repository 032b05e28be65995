// One thread, oldest message first, with the opened message in view.
import type { Identity, Thread } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { addressOf } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import { openComposer } from './composer-state.ts'
import { archiveThread, changeMessage, trashMessage } from './message-actions.ts'
import { MessageCard } from './message-card.tsx'

type ThreadPaneProps = {
  handle: string
  messageId: string
  /** Known when the message is in the list. */
  threadId: string | undefined
  identities: Identity[]
  onClose: () => void
}

export function ThreadPane({ handle, messageId, threadId: listed, identities, onClose }: ThreadPaneProps) {
  const message = useQuery(listed ? null : `message ${messageId}`, () => client.messages.get(handle, messageId))
  const threadId = listed ?? message.data.value?.thread_id
  const thread = useQuery(threadId ? `thread ${threadId}` : null, () => client.threads.get(handle, threadId as string))
  const error = message.error.value ?? thread.error.value
  const found = threadId ? thread.data.value : undefined
  if (found) return <ThreadView handle={handle} thread={found} messageId={messageId} identities={identities} onClose={onClose} />
  if (!error) return <Loading lines={8} />
  return <Failure error={error} onRetry={() => void (listed ? thread : message).reload()} />
}

type ThreadViewProps = { handle: string; thread: Thread; messageId: string; identities: Identity[]; onClose: () => void }

function ThreadView({ handle, thread, messageId, identities, onClose }: ThreadViewProps) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setUnfolded(new Set()), [messageId])
  useEffect(() => {
    document.getElementById(`message-${messageId}`)?.scrollIntoView({ block: 'nearest' })
  }, [messageId, thread.id])
  const last = thread.messages.at(-1)
  const open = thread.messages.find((message) => message.id === messageId) ?? last
  const toggle = (id: string) => {
    const next = new Set(unfolded)
    if (!next.delete(id)) next.add(id)
    setUnfolded(next)
  }
  return (
    <div class="thread">
      <header class="thread-header">
        <span class="only-small">
          <Button kind="quiet" icon="back" label="Back to the list" onClick={onClose} />
        </span>
        <div class="grow">
          <h2 class="thread-subject">{thread.subject || 'No subject'}</h2>
          <div class="row faint">
            <span>
              {thread.message_count} {thread.message_count === 1 ? 'message' : 'messages'} in {handle}
            </span>
            <Id id={thread.id} name="thread id" />
            {open?.labels.map((label) => (
              <Badge key={label} tone="accent">
                {label}
              </Badge>
            ))}
          </div>
        </div>
      </header>
      {open && canWrite.value && <ThreadActions handle={handle} thread={thread} message={open} onClose={onClose} />}
      <div class="thread-messages">
        {thread.messages.map((message) => {
          const isOpen = message.id === open?.id || (message.id === last?.id && open === undefined) || unfolded.has(message.id)
          return (
            <MessageCard
              key={message.id}
              handle={handle}
              message={message}
              identities={identities}
              isUnfolded={isOpen}
              onToggle={() => toggle(message.id)}
            />
          )
        })}
      </div>
    </div>
  )
}

type ThreadActionsProps = { handle: string; thread: Thread; message: Thread['messages'][number]; onClose: () => void }

function ThreadActions({ handle, thread, message, onClose }: ThreadActionsProps) {
  const reply = (isToAll: boolean) => openComposer({ kind: 'reply', mailbox: handle, messageId: message.id, isToAll })
  const forward = () => openComposer({ kind: 'forward', mailbox: handle, messageId: message.id })
  const remove = async () => {
    if (await trashMessage(handle, message)) onClose()
  }
  const archive = async () => {
    if (await archiveThread(thread)) onClose()
  }
  useShortcuts('Thread', [
    { keys: 'r', label: 'Reply', run: () => reply(false) },
    { keys: 'a', label: 'Reply to all', run: () => reply(true) },
    { keys: 'f', label: 'Forward', run: forward },
    { keys: 'y', label: 'Archive the thread', run: () => void archive() },
    { keys: '#', label: 'Move to the trash', run: () => void remove() },
  ])
  return (
    <div class="thread-actions" role="toolbar" aria-label="Message actions">
      <Button size="small" icon="reply" shortcut="r" onClick={() => reply(false)}>
        Reply
      </Button>
      <Button size="small" icon="reply-all" shortcut="a" onClick={() => reply(true)}>
        All
      </Button>
      <Button size="small" icon="forward" shortcut="f" onClick={forward}>
        Forward
      </Button>
      <span class="grow" />
      <Button
        size="small"
        kind="quiet"
        icon="mail"
        label={message.is_read ? 'Mark as unread' : 'Mark as read'}
        onClick={() => void changeMessage(handle, message, { is_read: !message.is_read })}
      />
      <Button
        size="small"
        kind="quiet"
        icon="star"
        label="Star"
        isPressed={message.is_starred}
        onClick={() => void changeMessage(handle, message, { is_starred: !message.is_starred })}
      />
      {thread.folder === 'inbox' && (
        <Button size="small" kind="quiet" icon="archive" label="Archive the thread" onClick={() => void archive()} />
      )}
      <Button size="small" kind="quiet" icon="trash" label="Move to the trash" onClick={() => void remove()} />
      <ButtonLink size="small" icon="search" href={addressOf(`/messages/${handle}/${message.id}`)}>
        Inspect
      </ButtonLink>
    </div>
  )
}
