// Threads of one folder, with a way back to the inbox.
import type { Identity, ThreadPage } from '@callsign/sdk'
import { type LoadPage, usePages } from '../../cache/pages.ts'
import { invalidate } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { VirtualList } from '../../elements/virtual-list.tsx'
import { addressOf, go, place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import type { MailFilter, ThreadFolder } from './filter.ts'
import { identityOf } from './mailboxes.ts'

type Thread = ThreadPage['data'][number]
type ThreadListProps = { folder: ThreadFolder; filter: MailFilter; identities: Identity[]; openId: string | undefined }

const rowHeight = 62

const loaderOf =
  (folder: ThreadFolder, filter: MailFilter): LoadPage<Thread> =>
  async (cursor) => {
    const page = await client.threads.listAll({
      folder,
      limit: 50,
      ...(filter.mailbox ? { agent: filter.mailbox } : {}),
      ...(filter.label ? { label: filter.label } : {}),
      ...(filter.search ? { q: filter.search } : {}),
      ...(typeof cursor === 'string' ? { cursor } : {}),
    })
    return { items: page.data, next: page.next_cursor }
  }

export function ThreadList({ folder, filter, identities, openId }: ThreadListProps) {
  const pages = usePages(`messages threads ${JSON.stringify(filter)}`, loaderOf(folder, filter))
  const threads = pages.items.value
  const at = threads.findIndex((thread) => thread.id === openId)
  const handleOf = (thread: Thread) => identityOf(identities, thread.mailbox_id)?.agent_handle ?? thread.mailbox_id
  const linkTo = (thread: Thread) => addressOf(`/inbox/${handleOf(thread)}/${thread.id}`, Object.fromEntries(place.value.query))
  const open = (index: number) => {
    const next = threads[index]
    if (next) go(linkTo(next), { replace: openId !== undefined })
  }
  useShortcuts('Threads', [
    { keys: 'j', label: 'Next thread', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous thread', run: () => open(Math.max(0, at - 1)) },
  ])
  const error = pages.error.value
  if (threads.length === 0) {
    if (error) return <Failure error={error} onRetry={() => void pages.refresh()} />
    return pages.isLoaded.value ? <Empty icon="inbox" title="No threads here" /> : <Loading lines={12} />
  }
  return (
    <VirtualList
      name="Threads"
      count={threads.length}
      rowHeight={rowHeight}
      selected={at}
      keyOf={(index) => threads[index]?.id ?? String(index)}
      onEndReached={() => void pages.loadMore()}
      row={(index) => {
        const thread = threads[index]
        if (!thread) return null
        const onMoved = () => void pages.refresh()
        return (
          <ThreadRow
            thread={thread}
            folder={folder}
            handle={handleOf(thread)}
            href={linkTo(thread)}
            isOpen={index === at}
            onMoved={onMoved}
          />
        )
      }}
    />
  )
}

type ThreadRowProps = { thread: Thread; folder: ThreadFolder; handle: string; href: string; isOpen: boolean; onMoved: () => void }

function ThreadRow({ thread, folder, handle, href, isOpen, onMoved }: ThreadRowProps) {
  const move = async () => {
    const moved = () => (folder === 'trash' ? client.threads.restore(thread.id) : client.threads.update(thread.id, { folder: 'inbox' }))
    if (!(await attempt(moved, folder === 'trash' ? 'Taken out of the trash' : 'Moved to the inbox'))) return
    invalidate('thread')
    onMoved()
  }
  return (
    <div class={`mail-row${isOpen ? ' open' : ''}${thread.unread_count > 0 ? ' unread' : ''}`}>
      <a class="mail-row-link" href={href} aria-current={isOpen ? 'true' : undefined}>
        <span class="mail-row-top">
          <span class="mail-row-from truncate">{thread.participants.join(', ')}</span>
          <span class="mail-row-time">
            <Time at={thread.last_message_at} />
          </span>
        </span>
        <span class="mail-row-subject truncate">{thread.subject || 'No subject'}</span>
        <span class="mail-row-snippet truncate">{thread.snippet}</span>
      </a>
      <div class="mail-row-side">
        <Badge>{handle}</Badge>
        {canWrite.value && folder !== 'scheduled' && (
          <Button size="small" onClick={() => void move()}>
            {folder === 'trash' ? 'Restore' : 'To inbox'}
          </Button>
        )}
      </div>
    </div>
  )
}
