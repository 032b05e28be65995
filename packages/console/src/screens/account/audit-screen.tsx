// Changes to the organization, with their author and time, by kind and author, and as a file.
import type { AuditEntry } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { type LoadPage, usePages } from '../../cache/pages.ts'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt, toast } from '../../elements/toasts.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { unnamed } from '../../session/session.ts'
import { type AuditFilter, auditKinds, isWanted, toCsv } from './audit-filter.ts'

const pageSize = 100
/** Pages that are read for one page of matches, and for an export. */
const filteredPagesMax = 10
const exportedPagesMax = 100

async function loadPage(cursor: string | undefined) {
  const page = await client.audit.list({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) })
  return { items: page.data, next: page.next_cursor }
}

/** Reads on until a page has matches, so that a list of rare ones does not end early. */
const loaderOf =
  (filter: AuditFilter): LoadPage<AuditEntry> =>
  async (cursor) => {
    const items: AuditEntry[] = []
    let next = typeof cursor === 'string' ? cursor : null
    for (let pages = 0; pages < filteredPagesMax && items.length < pageSize; pages++) {
      const page = await loadPage(next ?? undefined)
      items.push(...page.items.filter((entry) => isWanted(entry, filter)))
      next = page.next
      if (next === null) break
    }
    return { items, next }
  }

export default function AuditScreen() {
  const { query } = place.value
  const filter = { kind: query.get('kind') ?? '', text: query.get('q') ?? '' }
  const pages = usePages(`audit ${JSON.stringify(filter)}`, loaderOf(filter))
  const entries = pages.items.value
  const isFiltered = filter.kind !== '' || filter.text !== ''
  return (
    <Screen title="Audit log" actions={<ExportButton filter={filter} />}>
      <div class="stack">
        <div class="row wrap">
          <Select
            label="Kind"
            isLabelHidden
            value={filter.kind}
            options={[{ value: '', label: 'All changes' }, ...auditKinds]}
            onChange={(kind) => setQuery({ kind })}
          />
          <TextField
            label="Search"
            isLabelHidden
            type="search"
            placeholder="Action, name or detail"
            value={filter.text}
            onInput={(text) => setQuery({ q: text })}
          />
        </div>
        {pages.error.value && <Failure error={pages.error.value} onRetry={() => void pages.refresh()} />}
        {!pages.isLoaded.value && !pages.error.value && <Loading />}
        {pages.isLoaded.value && entries.length === 0 && (
          <Empty
            icon="audit"
            title={isFiltered ? 'No changes found' : 'Nothing has changed yet'}
            action={isFiltered && <Button onClick={() => setQuery({ kind: undefined, q: undefined })}>Show all changes</Button>}
          />
        )}
        {entries.length > 0 && <AuditTable entries={entries} />}
        {pages.isLoaded.value && pages.hasMore.value && (
          <Button disabled={pages.isLoading.value} onClick={() => void pages.loadMore()}>
            Show older entries
          </Button>
        )}
      </div>
    </Screen>
  )
}

function ExportButton({ filter }: { filter: AuditFilter }) {
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    await attempt(() => saveEntries(filter))
    setBusy(false)
  }
  return (
    <Button icon="download" disabled={isBusy} onClick={() => void run()}>
      {isBusy ? 'Exporting' : 'Export CSV'}
    </Button>
  )
}

/** Saves the entries that the filter shows, up to 10,000 read ones. */
async function saveEntries(filter: AuditFilter): Promise<void> {
  const entries: AuditEntry[] = []
  let next: string | null = null
  for (let pages = 0; pages < exportedPagesMax; pages++) {
    const page = await loadPage(next ?? undefined)
    entries.push(...page.items.filter((entry) => isWanted(entry, filter)))
    next = page.next
    if (next === null) break
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([toCsv(entries)], { type: 'text/csv' }))
  link.download = 'audit-log.csv'
  link.click()
  URL.revokeObjectURL(link.href)
  const count = entries.length === 1 ? '1 entry' : `${entries.length.toLocaleString()} entries`
  toast({ text: next === null ? `Exported ${count}` : `Exported the newest ${count}. Read older ones with the API.` })
}

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table
      name="Audit log"
      items={entries}
      keyOf={(entry) => entry.id}
      columns={[
        { title: 'Time', cell: (entry) => <Time at={entry.created_at} form="exact" /> },
        { title: 'Action', cell: (entry) => <span class="mono">{entry.action}</span> },
        { title: 'By', cell: (entry) => <Author entry={entry} /> },
        { title: 'Object', cell: (entry) => entry.target_id && <Id id={entry.target_id} name="object id" /> },
        { title: 'Details', cell: (entry) => <span class="mono anywhere">{detailsOf(entry.details)}</span>, isMinor: true },
      ]}
    />
  )
}

const authors: Record<AuditEntry['actor_type'], string> = {
  key: 'Deleted key',
  member: unnamed,
  host: 'Server',
  anonymous: 'Not signed in',
  link: 'One-time link',
}

function Author({ entry: { actor_type: type, actor_id: id, actor_name: name } }: { entry: AuditEntry }) {
  return (
    <span class="row">
      <span title={id ?? undefined}>{name ?? authors[type]}</span>
      {type === 'key' && <span class="faint">key</span>}
    </span>
  )
}

const detailsOf = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
