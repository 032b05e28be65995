// The list of messages with selection, bulk actions, flags and codes.
import type { Identity } from '@callsign/sdk'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Pages } from '../../cache/pages.ts'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { VirtualList } from '../../elements/virtual-list.tsx'
import { addressOf, place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { canWrite } from '../../session/session.ts'
import { BulkBar } from './bulk-bar.tsx'
import { type MailFilter, parseSearch } from './filter.ts'
import { identityOf, type ListedMessage } from './mailboxes.ts'
import { changeMessage } from './message-actions.ts'
import { MessageRow } from './message-row.tsx'
import { searchProblemId } from './search-field.tsx'

const rowHeight = 62

/** The address of a message in the inbox. The filter stays in the query. */
export function linkToMessage(message: ListedMessage, identities: Identity[]): string {
  const handle = identityOf(identities, message.mailbox_id)?.agent_handle ?? message.mailbox_id
  return addressOf(`/inbox/${handle}/${message.id}`, Object.fromEntries(place.value.query))
}

type MessageListProps = { pages: Pages<ListedMessage>; identities: Identity[]; filter: MailFilter; openAt: number }

export function MessageList({ pages, identities, filter, openAt }: MessageListProps) {
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const items = pages.items.value
  const isSelecting = selected.value.size > 0
  const handleOf = (message: ListedMessage) => identityOf(identities, message.mailbox_id)?.agent_handle ?? message.mailbox_id
  useSelectionShortcuts(selected, items[openAt], handleOf)
  useEffect(() => {
    const known = new Set(items.map((message) => message.id))
    if ([...selected.peek()].some((id) => !known.has(id))) selected.value = new Set([...selected.peek()].filter((id) => known.has(id)))
  }, [items])
  const error = pages.error.value
  const { problem } = parseSearch(filter.search)
  return (
    <section class="mail-list" aria-label="Messages">
      {problem && (
        <p class="mail-list-note" id={searchProblemId} role="status">
          {problem}
        </p>
      )}
      {isSelecting && <BulkBar selected={selected} items={items} handleOf={handleOf} />}
      <div class="grow mail-list-rows">
        {items.length > 0 ? (
          <VirtualList
            name="Messages"
            count={items.length}
            rowHeight={rowHeight}
            selected={openAt}
            keyOf={(index) => items[index]?.id ?? String(index)}
            onEndReached={() => void pages.loadMore()}
            row={(index) => {
              const message = items[index]
              if (!message) return null
              return (
                <MessageRow
                  message={message}
                  handle={handleOf(message)}
                  href={linkToMessage(message, identities)}
                  isOpen={index === openAt}
                  isMailboxShown={filter.mailbox === '' && identities.length > 1}
                  isSelected={selected.value.has(message.id)}
                  onSelect={(isSelected) => toggle(selected, message.id, isSelected)}
                />
              )
            }}
          />
        ) : error ? (
          <Failure error={error} onRetry={() => void pages.refresh()} />
        ) : pages.isLoaded.value ? (
          <NoMessages filter={filter} identities={identities} />
        ) : (
          <Loading lines={12} />
        )}
      </div>
      {items.length > 0 && error && <p class="mail-list-note">Loading more failed: {error.message}</p>}
    </section>
  )
}

function toggle(selected: Signal<ReadonlySet<string>>, id: string, isSelected: boolean): void {
  const next = new Set(selected.peek())
  if (isSelected) next.add(id)
  else next.delete(id)
  selected.value = next
}

function useSelectionShortcuts(
  selected: Signal<ReadonlySet<string>>,
  open: ListedMessage | undefined,
  handleOf: (message: ListedMessage) => string,
): void {
  useShortcuts('Open message', [
    { keys: 'x', label: 'Select', run: () => open && canWrite.value && toggle(selected, open.id, !selected.peek().has(open.id)) },
    {
      keys: 's',
      label: 'Star',
      run: () => open && canWrite.value && void changeMessage(handleOf(open), open, { is_starred: !open.is_starred }),
    },
    {
      keys: 'e',
      label: 'Mark as read or unread',
      run: () => open && canWrite.value && void changeMessage(handleOf(open), open, { is_read: !open.is_read }),
    },
  ])
}

function NoMessages({ filter, identities }: { filter: MailFilter; identities: Identity[] }) {
  if (filter.search || filter.label || filter.folder !== 'inbox') {
    return (
      <Empty icon="search" title="No messages here">
        Change the folder or the search.
      </Empty>
    )
  }
  const handle = filter.mailbox || identities[0]?.agent_handle
  if (!handle) {
    const samples = samplesOf({
      method: 'POST',
      path: '/identities',
      body: { agent_handle: 'sales' },
      sdk: "await callsign.identities.create({ agent_handle: 'sales' })",
      cli: 'callsign identities create sales',
    })
    return (
      <Empty icon="identities" title="Create the first identity" samples={samples}>
        An identity gives an agent a mailbox, a public address for its port, and optionally a phone number.
      </Empty>
    )
  }
  const address = identities.find((identity) => identity.agent_handle === handle)?.mailbox_address ?? handle
  return (
    <Empty icon="inbox" title="No mail yet" samples={arrivalSamples(handle)}>
      Send a message to {address}. It appears here at once. Until then, watch for it from your own code.
    </Empty>
  )
}

const arrivalSamples = (handle: string) =>
  samplesOf({
    method: 'GET',
    path: `/mailboxes/${handle}/wait?timeout=60`,
    sdk: `const { message } = await callsign.mailboxes.wait('${handle}', { timeout: 60 })`,
    cli: `callsign mail wait ${handle} --timeout 60`,
  })
