// Folders, message list and thread side by side. On narrow screens one at a time.
import type { Identity } from '@callsign/sdk'
import { useEffect } from 'preact/hooks'
import { usePages } from '../../cache/pages.ts'
import { Button } from '../../elements/button.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Screen } from '../../elements/screen.tsx'
import { addressOf, go, place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { canWrite } from '../../session/session.ts'
import { openComposer } from './composer-state.ts'
import { type MailFilter, parseSearch, readFilter, type ThreadFolder, threadFolderOf } from './filter.ts'
import { FolderPane } from './folder-pane.tsx'
import { messagePages, useIdentities } from './mailboxes.ts'
import { linkToMessage, MessageList } from './message-list.tsx'
import { SearchField } from './search-field.tsx'
import { ThreadList } from './thread-list.tsx'
import { ThreadPane } from './thread-pane.tsx'

/** Opens `/inbox/{handle}/{message_id}`. The filter is in the query. */
export default function InboxScreen({ parts: [openHandle, openId] }: ScreenProps) {
  const filter = readFilter(place.value.query)
  const identities = useIdentities()
  const compose = () => openComposer({ kind: 'new', mailbox: filter.mailbox })
  useShortcuts('Inbox', [
    { keys: '/', label: 'Search', run: () => document.getElementById('mail-search')?.focus() },
    ...(canWrite.value ? [{ keys: 'c', label: 'Write a message', run: compose }] : []),
  ])
  const threadFolder = threadFolderOf(filter.folder)
  const actions = (
    <>
      <SearchField search={filter.search} hasProblem={threadFolder === null && parseSearch(filter.search).problem !== null} />
      {canWrite.value && (
        <Button kind="primary" icon="edit" shortcut="c" onClick={compose}>
          Compose
        </Button>
      )}
    </>
  )
  const known = identities.data.value
  return (
    <Screen title="Inbox" actions={actions} isFlush>
      <div class={`mail-panes${openId ? ' has-open' : ''}`}>
        <FolderPane filter={filter} identities={known} />
        {known && threadFolder ? (
          <ThreadPanes
            key={JSON.stringify(filter)}
            folder={threadFolder}
            filter={filter}
            identities={known}
            openHandle={openHandle}
            openId={openId}
          />
        ) : known ? (
          <Panes key={JSON.stringify(filter)} openHandle={openHandle} openId={openId} />
        ) : identities.error.value ? (
          <Failure error={identities.error.value} onRetry={identities.reload} />
        ) : (
          <Loading lines={10} />
        )}
      </div>
    </Screen>
  )
}

type ThreadPanesProps = {
  folder: ThreadFolder
  filter: MailFilter
  identities: Identity[]
  openHandle: string | undefined
  openId: string | undefined
}

function ThreadPanes({ folder, filter, identities, openHandle, openId }: ThreadPanesProps) {
  const close = () => go(addressOf('/inbox', queryOf(place.peek().query)))
  useShortcuts('Thread list', [{ keys: 'Escape', label: 'Close the thread', run: close }])
  return (
    <>
      <section class="mail-list" aria-label="Threads">
        <div class="grow mail-list-rows">
          <ThreadList folder={folder} filter={filter} identities={identities} openId={openId} />
        </div>
      </section>
      <section class="mail-open" aria-label="Message">
        {openHandle && openId ? (
          <ThreadPane handle={openHandle} messageId="" threadId={openId} identities={identities} onClose={close} />
        ) : (
          <p class="mail-hint faint">Choose a thread, or press j.</p>
        )}
      </section>
    </>
  )
}

function Panes({ openHandle, openId }: { openHandle: string | undefined; openId: string | undefined }) {
  const filter = readFilter(place.value.query)
  const identities = useIdentities().data.value ?? []
  const pages = usePages(`messages ${JSON.stringify(filter)} ${identities.length}`, messagePages(filter, identities))
  const items = pages.items.value
  const at = openId ? items.findIndex((message) => message.id === openId) : -1
  const open = (index: number) => {
    const next = items[index]
    if (next) go(linkToMessage(next, identities), { replace: openId !== undefined })
  }
  const close = () => go(addressOf('/inbox', queryOf(place.peek().query)))
  useShortcuts('Message list', [
    { keys: 'j', label: 'Next message', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous message', run: () => open(Math.max(0, at - 1)) },
    { keys: 'Escape', label: 'Close the message', run: close },
  ])
  useEffect(() => {
    if (at >= 0 && at + 10 > items.length) void pages.loadMore()
  }, [at, items.length])
  return (
    <>
      <MessageList pages={pages} identities={identities} filter={filter} openAt={at} />
      <section class="mail-open" aria-label="Message">
        {openHandle && openId ? (
          <ThreadPane handle={openHandle} messageId={openId} threadId={items[at]?.thread_id} identities={identities} onClose={close} />
        ) : (
          <p class="mail-hint faint">Choose a message, or press j.</p>
        )}
      </section>
    </>
  )
}

const queryOf = (query: URLSearchParams): Record<string, string> => Object.fromEntries(query)
