// Changes to the organization, with their author and time.
import type { AuditEntry } from '@callsign/sdk'
import { type LoadPage, usePages } from '../../cache/pages.ts'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { client } from '../../session/client.ts'

const load: LoadPage<AuditEntry> = async (cursor) => {
  const page = await client.audit.list({ limit: 100, ...(typeof cursor === 'string' ? { cursor } : {}) })
  return { items: page.data, next: page.next_cursor }
}

export default function AuditScreen() {
  const pages = usePages('audit', load)
  const entries = pages.items.value
  return (
    <Screen title="Audit log">
      {pages.error.value && <Failure error={pages.error.value} onRetry={() => void pages.refresh()} />}
      {!pages.isLoaded.value && !pages.error.value && <Loading />}
      {pages.isLoaded.value && entries.length === 0 && <Empty icon="audit" title="Nothing has changed yet" />}
      {entries.length > 0 && <AuditTable entries={entries} />}
      {pages.isLoaded.value && pages.hasMore.value && (
        <Button disabled={pages.isLoading.value} onClick={() => void pages.loadMore()}>
          Show older entries
        </Button>
      )}
    </Screen>
  )
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
        { title: 'By', cell: (entry) => (entry.actor_id ? <Id id={entry.actor_id} name="actor id" /> : entry.actor_type) },
        { title: 'Object', cell: (entry) => entry.target_id && <Id id={entry.target_id} name="object id" />, isMinor: true },
        { title: 'Details', cell: (entry) => <span class="mono anywhere">{detailsOf(entry.details)}</span>, isMinor: true },
      ]}
    />
  )
}

const detailsOf = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
