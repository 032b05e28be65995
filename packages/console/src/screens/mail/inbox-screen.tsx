// Folders, list and thread side by side. On narrow screens one at a time.
import type { Identity } from '@callsign/sdk'
import { Button } from '../../elements/button.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Screen } from '../../elements/screen.tsx'
import { place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { canWrite } from '../../session/session.ts'
import { openComposer } from './composer-state.ts'
import { DraftPane } from './draft-pane.tsx'
import { listKindOf, parseSearch, readFilter } from './filter.ts'
import { FolderPane, folderNames } from './folder-pane.tsx'
import { closeOpen, MailList } from './mail-list.tsx'
import { useMailPages } from './mail-pages.ts'
import { useIdentities } from './mailboxes.ts'
import { SearchField } from './search-field.tsx'
import { ThreadPane } from './thread-pane.tsx'

/** Opens `/inbox/{handle}/{id}` with the id of a thread, a message or a draft. The filter is in the query. */
export default function InboxScreen({ parts: [openHandle, openId] }: ScreenProps) {
  const filter = readFilter(place.value.query)
  const identities = useIdentities()
  const compose = () => openComposer({ kind: 'new', mailbox: filter.mailbox })
  useShortcuts('Inbox', [
    { keys: '/', label: 'Search', run: () => document.getElementById('mail-search')?.focus() },
    ...(canWrite.value ? [{ keys: 'c', label: 'Write a message', run: compose }] : []),
  ])
  const actions = (
    <>
      <SearchField
        search={filter.search}
        hasProblem={listKindOf(filter) === 'messages' && parseSearch(filter.search).problem !== null}
        isDisabled={filter.folder === 'drafts'}
      />
      {canWrite.value && (
        <Button kind="primary" icon="edit" shortcut="c" onClick={compose}>
          Compose
        </Button>
      )}
    </>
  )
  const known = identities.data.value
  return (
    <Screen
      title={filter.search ? 'Search' : folderNames[filter.folder].title}
      note={filter.mailbox || undefined}
      actions={actions}
      isFlush
    >
      <div class={`mail-panes${openId ? ' has-open' : ''}`}>
        <FolderPane filter={filter} identities={known} />
        {known ? (
          <Panes key={JSON.stringify(filter)} identities={known} openHandle={openHandle} openId={openId} />
        ) : identities.error.value ? (
          <Failure error={identities.error.value} onRetry={identities.reload} />
        ) : (
          <Loading lines={10} />
        )}
      </div>
    </Screen>
  )
}

type PanesProps = { identities: Identity[]; openHandle: string | undefined; openId: string | undefined }

function Panes({ identities, openHandle, openId }: PanesProps) {
  const filter = readFilter(place.value.query)
  const list = useMailPages(filter, identities)
  return (
    <>
      <MailList list={list} identities={identities} filter={filter} openId={openId} />
      <section class="mail-open" aria-label="Message">
        {openHandle && openId ? (
          <Open handle={openHandle} id={openId} threadId={list.rows.find((row) => row.id === openId)?.threadId} identities={identities} />
        ) : (
          <p class="mail-hint faint">{list.rows.length > 0 ? 'Choose a message, or press j.' : ''}</p>
        )}
      </section>
    </>
  )
}

type OpenProps = { handle: string; id: string; threadId: string | null | undefined; identities: Identity[] }

/** A draft that answers a thread is shown in it. */
function Open({ handle, id, threadId, identities }: OpenProps) {
  if (id.startsWith('drf_') && !threadId) return <DraftPane key={id} handle={handle} id={id} identities={identities} onClose={closeOpen} />
  const known = threadId ?? (id.startsWith('thrd_') ? id : undefined)
  return <ThreadPane handle={handle} openId={id} threadId={known} identities={identities} onClose={closeOpen} />
}
