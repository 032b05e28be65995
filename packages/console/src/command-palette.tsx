// The command palette: goes to a screen, an agent or a thread by a few letters of its name.
import type { Identity } from '@callsign/sdk'
import { useEffect, useId, useState } from 'preact/hooks'
import { useQuery } from './cache/query.ts'
import { Dialog } from './elements/dialog.tsx'
import { Icon, type IconName } from './elements/icon.tsx'
import { addressOf, go } from './navigation/place.ts'
import type { ScreenEntry } from './screen-entry.ts'
import { type ListedThread, type ListRow, threadRow } from './screens/mail/list-rows.ts'
import { useIdentities } from './screens/mail/mailboxes.ts'
import { client } from './session/client.ts'
import { canReview } from './session/session.ts'

type Entry = { id: string; title: string; note: string; icon: IconName; run: () => void }

const agentsMax = 8
const threadsMax = 8
const recentMax = 50
const typingMs = 250
/** A shorter text is looked for in recent threads alone. */
const searchedMin = 3

type PaletteProps = { screens: ScreenEntry[]; onOpen: (screen: ScreenEntry) => void; onClose: () => void }

export function CommandPalette({ screens, onOpen, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const identities = useIdentities().data.value ?? []
  const search = text.trim()
  const entries = [
    ...[...screenEntries(screens, search, onOpen), ...agentEntries(identities, search)].toSorted(
      (one, other) => rankOf(one.title, search) - rankOf(other.title, search),
    ),
    ...useThreads(identities, search),
    ...(search === '' ? [] : [searchEntry(search)]),
  ]
  const current = Math.min(at, entries.length - 1)
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 && event.key !== 'Enter') return
    event.preventDefault()
    if (step === 0) return run(entries[current])
    const next = (current + step + entries.length) % entries.length
    setAt(next)
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label="Search screens, agents and threads"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={entries.length > 0 ? `${id}-${current}` : undefined}
        placeholder="A screen, an agent, or words of a message"
        autoComplete="off"
        spellcheck={false}
        autoFocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <Results id={id} entries={entries} current={current} onRun={run} />
    </Dialog>
  )
}

type ResultsProps = { id: string; entries: Entry[]; current: number; onRun: (entry: Entry) => void }

function Results({ id, entries, current, onRun }: ResultsProps) {
  return (
    <div id={id} class="palette-list" role="listbox" aria-label="Results">
      {entries.map((entry, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
        <div
          key={entry.id}
          id={`${id}-${index}`}
          class="palette-entry"
          role="option"
          aria-selected={index === current}
          onClick={() => onRun(entry)}
        >
          <Icon name={entry.icon} />
          <span class="grow truncate">{entry.title}</span>
          <span class="faint truncate">{entry.note}</span>
        </div>
      ))}
    </div>
  )
}

/** 0 for a text that begins with the search, 1 if a word of it does, 2 if it is inside one, and 3 otherwise. */
function rankOf(text: string, search: string): number {
  const at = text.toLowerCase().indexOf(search.toLowerCase())
  if (at <= 0) return at === 0 ? 0 : 3
  return /[^\p{L}\p{N}]/u.test(text[at - 1] as string) ? 1 : 2
}

const has = (text: string, search: string): boolean => rankOf(text, search) < 3

function screenEntries(screens: ScreenEntry[], search: string, onOpen: (screen: ScreenEntry) => void): Entry[] {
  const docs = {
    id: 'docs',
    title: 'Docs',
    note: 'documentation of this server',
    icon: 'docs',
    run: () => location.assign('/docs'),
  } as const
  return [
    ...screens
      .filter((screen) => screen.group !== null)
      .map(
        (screen): Entry => ({
          id: `screen ${screen.name}`,
          title: screen.title,
          note: screen.key ? `g ${screen.key}` : '',
          icon: screen.icon,
          run: () => onOpen(screen),
        }),
      ),
    docs,
  ].filter(({ title }) => has(title, search))
}

/** Agents are listed once something is typed. A reviewer and an operator see their page, an agent its own inbox. */
function agentEntries(identities: Identity[], search: string): Entry[] {
  if (search === '') return []
  return identities
    .filter((one) => has(`${one.agent_handle} ${one.display_name} ${one.mailbox_address}`, search))
    .slice(0, agentsMax)
    .map(({ agent_handle: handle, mailbox_address: address }) => ({
      id: `agent ${handle}`,
      title: handle,
      note: address,
      icon: 'identities',
      run: () => go(canReview.value ? addressOf(`/identities/${handle}`) : addressOf('/inbox', { mailbox: handle })),
    }))
}

/** Recent threads whose words begin so at once, and a moment after the last key those that the search of the server finds. */
function useThreads(identities: Identity[], search: string): Entry[] {
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(search), typingMs)
    return () => clearTimeout(timer)
  }, [search])
  const recent = useQuery('messages palette', () => listThreads({ limit: recentMax }))
  const found = useQuery(asked.length < searchedMin ? null : `messages palette ${asked}`, () =>
    listThreads({ q: asked, limit: threadsMax }),
  )
  if (search === '') return []
  const rows = [...(recent.data.value ?? []), ...(asked === search ? (found.data.value ?? []) : [])].map((thread) =>
    threadRow(identities, thread, false),
  )
  const isRecentWanted = (row: ListRow, index: number) =>
    index >= (recent.data.value?.length ?? 0) || has(`${row.subject} ${row.who}`, search)
  const wanted = new Map(rows.filter(isRecentWanted).map((row) => [row.id, row]))
  return [...wanted.values()].slice(0, threadsMax).map((row) => ({
    id: `thread ${row.id}`,
    title: row.subject || 'No subject',
    note: row.who,
    icon: 'mail',
    run: () => go(addressOf(`/inbox/${row.handle}/${row.id}`, { folder: 'all' })),
  }))
}

const listThreads = async (query: { q?: string; limit: number }): Promise<ListedThread[]> =>
  (await client.threads.listAll({ ...query, with_last_message: true })).data

const searchEntry = (search: string): Entry => ({
  id: 'search',
  title: `Search the inbox for "${search}"`,
  note: '',
  icon: 'search',
  run: () => go(addressOf('/inbox', { q: search })),
})
