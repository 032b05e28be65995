// The list of the inbox with selection, bulk actions and keys.
import type { Identity } from '@callsign/sdk'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Failure, Loading } from '../../elements/empty.tsx'
import { VirtualList } from '../../elements/virtual-list.tsx'
import { addressOf, go, place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { canWrite } from '../../session/session.ts'
import { BulkBar } from './bulk-bar.tsx'
import { listKindOf, type MailFilter, parseSearch } from './filter.ts'
import type { ListRow } from './list-rows.ts'
import type { MailPages } from './mail-pages.ts'
import { MailRow } from './mail-row.tsx'
import { changeMessage, markThread } from './message-actions.ts'
import { NoMail } from './no-mail.tsx'
import { searchProblemId } from './search-field.tsx'

const rowHeight = 76

const queryOf = (query: URLSearchParams): Record<string, string> => Object.fromEntries(query)

/** The address of a row in the inbox. The filter stays in the query. */
const linkTo = ({ handle, id }: ListRow): string => addressOf(`/inbox/${handle}/${id}`, queryOf(place.value.query))

export const closeOpen = (): void => go(addressOf('/inbox', queryOf(place.peek().query)))

type MailListProps = { list: MailPages; identities: Identity[]; filter: MailFilter; openId: string | undefined }

export function MailList({ list, identities, filter, openId }: MailListProps) {
  const { rows, pages } = list
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const openAt = openId ? rows.findIndex((row) => row.id === openId) : -1
  const problem = listKindOf(filter) === 'messages' ? parseSearch(filter.search).problem : null
  useListShortcuts(rows, openAt, openId !== undefined)
  useRowShortcuts(selected, rows[openAt])
  useEffect(() => {
    if (openAt >= 0 && openAt + 10 > rows.length) void pages.loadMore()
  }, [openAt, rows.length])
  useEffect(() => {
    const known = new Set(rows.map((row) => row.id))
    if ([...selected.peek()].some((id) => !known.has(id))) selected.value = new Set([...selected.peek()].filter((id) => known.has(id)))
  }, [rows])
  const error = pages.error.value
  return (
    <section class="mail-list" aria-label="Messages">
      {problem && (
        <p class="mail-list-note" id={searchProblemId} role="status">
          {problem}
        </p>
      )}
      {selected.value.size > 0 && <BulkBar selected={selected} rows={rows} />}
      <div class="grow mail-list-rows">
        {rows.length > 0 ? (
          <Rows
            rows={rows}
            list={list}
            selected={selected}
            openAt={openAt}
            isMailboxShown={filter.mailbox === '' && identities.length > 1}
          />
        ) : error ? (
          <Failure error={error} onRetry={() => void pages.refresh()} />
        ) : pages.isLoaded.value ? (
          <NoMail filter={filter} identities={identities} />
        ) : (
          <Loading lines={12} />
        )}
      </div>
      {rows.length > 0 && error && <p class="mail-list-note">Loading more failed: {error.message}</p>}
    </section>
  )
}

type RowsProps = {
  rows: ListRow[]
  list: MailPages
  selected: Signal<ReadonlySet<string>>
  openAt: number
  isMailboxShown: boolean
}

function Rows({ rows, list, selected, openAt, isMailboxShown }: RowsProps) {
  return (
    <VirtualList
      name="Messages"
      count={rows.length}
      rowHeight={rowHeight}
      selected={openAt}
      keyOf={(index) => rows[index]?.id ?? String(index)}
      onEndReached={() => void list.pages.loadMore()}
      row={(index) => {
        const row = rows[index]
        if (!row) return null
        return (
          <MailRow
            row={row}
            href={linkTo(row)}
            isOpen={index === openAt}
            isMailboxShown={isMailboxShown}
            isSelected={selected.value.has(row.id)}
            onSelect={canWrite.value && !row.draft ? (isSelected) => select(selected, row.id, isSelected) : null}
          />
        )
      }}
    />
  )
}

function select(selected: Signal<ReadonlySet<string>>, id: string, isSelected: boolean): void {
  const next = new Set(selected.peek())
  if (isSelected) next.add(id)
  else next.delete(id)
  selected.value = next
}

function useListShortcuts(rows: ListRow[], openAt: number, isOpen: boolean): void {
  const open = (index: number) => {
    const next = rows[index]
    if (next) go(linkTo(next), { replace: isOpen })
  }
  useShortcuts('Message list', [
    { keys: 'j', label: 'Next message', run: () => open(openAt + 1) },
    { keys: 'k', label: 'Previous message', run: () => open(Math.max(0, openAt - 1)) },
    { keys: 'Escape', label: 'Close the message', run: closeOpen },
  ])
}

function useRowShortcuts(selected: Signal<ReadonlySet<string>>, open: ListRow | undefined): void {
  const row = canWrite.value && !open?.draft ? open : undefined
  useShortcuts('Open message', [
    { keys: 'x', label: 'Select', run: () => row && select(selected, row.id, !selected.peek().has(row.id)) },
    {
      keys: 's',
      label: 'Star',
      run: () => row?.message && void changeMessage(row.handle, row.message, { is_starred: !row.message.is_starred }),
    },
    { keys: 'e', label: 'Mark as read or unread', run: () => row && void markThread(row, row.isUnread) },
  ])
}
