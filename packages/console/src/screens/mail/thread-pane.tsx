// One thread, oldest message first, with its drafts at the end and the opened message in view.
import type { Draft, Identity, Thread } from '@callsign/sdk'
import { useEffect, useRef, useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import { DraftCard } from './draft-card.tsx'
import { MessageCard } from './message-card.tsx'
import { ThreadActions } from './thread-actions.tsx'

type ThreadPaneProps = {
  handle: string
  /** A message, a draft of the thread, or the thread itself. */
  openId: string
  /** Known when the message is in the list. */
  threadId: string | undefined
  identities: Identity[]
  onClose: () => void
}

export function ThreadPane({ handle, openId, threadId: listed, identities, onClose }: ThreadPaneProps) {
  const message = useQuery(listed ? null : `message ${openId}`, () => client.messages.get(handle, openId))
  const threadId = listed ?? message.data.value?.thread_id
  const thread = useQuery(threadId ? `thread ${threadId}` : null, () => client.threads.get(handle, threadId as string))
  const drafts = useQuery(threadId ? `drafts thread ${threadId}` : null, () =>
    listAll((page) => client.drafts.listAll({ thread_id: threadId as string, ...page })),
  )
  const error = message.error.value ?? thread.error.value
  const found = threadId ? thread.data.value : undefined
  if (found) {
    const written = drafts.data.value?.toReversed() ?? []
    return <ThreadView handle={handle} thread={found} drafts={written} openId={openId} identities={identities} onClose={onClose} />
  }
  if (!error) return <Loading lines={8} />
  return <Failure error={error} onRetry={() => void (listed ? thread : message).reload()} />
}

type ThreadViewProps = {
  handle: string
  thread: Thread
  drafts: Draft[]
  openId: string
  identities: Identity[]
  onClose: () => void
}

function ThreadView({ handle, thread, drafts, openId, identities, onClose }: ThreadViewProps) {
  const pane = useRef<HTMLDivElement>(null)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setUnfolded(new Set()), [openId])
  const open = thread.messages.find((message) => message.id === openId) ?? thread.messages.at(-1)
  useEffect(() => {
    // The first message is below the subject, which stays in view.
    if (open === thread.messages[0] && !openId.startsWith('drf_')) pane.current?.parentElement?.scrollTo(0, 0)
    else document.getElementById(openId.startsWith('drf_') ? openId : `message-${open?.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [openId, thread.id])
  const toggle = (id: string) => {
    const next = new Set(unfolded)
    if (!next.delete(id)) next.add(id)
    setUnfolded(next)
  }
  const own = identities.find((identity) => identity.agent_handle === handle)?.mailbox_address ?? ''
  return (
    <div class="thread" ref={pane}>
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
      {open && canWrite.value && (
        <ThreadActions handle={handle} thread={thread} message={open} drafts={drafts} ownAddress={own} onClose={onClose} />
      )}
      <div class="thread-messages">
        {thread.messages.map((message) => (
          <MessageCard
            key={message.id}
            handle={handle}
            message={message}
            identities={identities}
            isUnfolded={(message.id === open?.id) !== unfolded.has(message.id)}
            onToggle={() => toggle(message.id)}
          />
        ))}
        {drafts.map((draft) => (
          <div key={draft.id} id={draft.id}>
            <DraftCard handle={handle} draft={draft} />
          </div>
        ))}
      </div>
    </div>
  )
}
