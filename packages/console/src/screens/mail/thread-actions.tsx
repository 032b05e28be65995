// Actions on a thread and its opened message.
import type { Draft, Thread } from '@callsign/sdk'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { addressOf } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { composing, openComposer } from './composer-state.ts'
import { isUnfinished } from './draft-card.tsx'
import { archiveThread, changeMessage, restoreThread, trashMessage } from './message-actions.ts'

type ThreadActionsProps = {
  handle: string
  thread: Thread
  message: Thread['messages'][number]
  drafts: Draft[]
  ownAddress: string
  onClose: () => void
}

/** Goes on with the draft of the same answer or forward, if there is one. */
function useAnswers({ handle, message, drafts, ownAddress }: ThreadActionsProps) {
  const isOpenFor = (kind: 'reply' | 'forward'): boolean => {
    const current = composing.peek()
    return current?.kind === kind && current.message.id === message.id
  }
  const resume = (draft: Draft | undefined): boolean => {
    if (draft) openComposer({ kind: 'draft', mailbox: handle, draftId: draft.id })
    return draft !== undefined
  }
  return {
    reply(isToAll: boolean) {
      if (isOpenFor('reply')) return
      const draft = drafts.find(
        (one) => isUnfinished(one) && one.in_reply_to_message_id === message.id && one.reply_all === isToAll && !one.forward_of_message_id,
      )
      if (!resume(draft)) openComposer({ kind: 'reply', mailbox: handle, message, isToAll, ownAddress })
    },
    forward() {
      if (!isOpenFor('forward')) openComposer({ kind: 'forward', mailbox: handle, message })
    },
  }
}

export function ThreadActions(props: ThreadActionsProps) {
  const { handle, thread, message, onClose } = props
  const { reply, forward } = useAnswers(props)
  const remove = async () => {
    if (await trashMessage(handle, message)) onClose()
  }
  const archive = async () => {
    if (await archiveThread(thread)) onClose()
  }
  const restore = async () => {
    if (await restoreThread(thread)) onClose()
  }
  const isTrashed = thread.folder === 'trash'
  useShortcuts('Thread', [
    { keys: 'r', label: 'Reply', run: () => reply(false) },
    { keys: 'a', label: 'Reply to all', run: () => reply(true) },
    { keys: 'f', label: 'Forward', run: forward },
    { keys: 'y', label: 'Archive the thread', run: () => void archive() },
    { keys: '#', label: 'Move to the trash', run: () => !isTrashed && void remove() },
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
      {thread.folder !== 'inbox' && thread.folder !== 'sent' && (
        <Button size="small" icon="inbox" onClick={() => void restore()}>
          {isTrashed ? 'Restore' : 'To inbox'}
        </Button>
      )}
      {!isTrashed && <Button size="small" kind="quiet" icon="trash" label="Move to the trash" onClick={() => void remove()} />}
      <ButtonLink size="small" kind="quiet" icon="search" label="Inspect" href={addressOf(`/messages/${handle}/${message.id}`)} />
    </div>
  )
}
