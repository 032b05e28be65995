// The bytes of stored mail with their quotas: the organization first, then each agent.
import type { StorageUse as Use } from '@callsign/sdk'
import { listAll } from '../../cache/list-all.ts'
import { useQuery } from '../../cache/query.ts'
import { Loaded } from '../../elements/loaded.tsx'
import { Table } from '../../elements/table.tsx'
import { client } from '../../session/client.ts'

const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** A number of bytes with a unit of powers of 1,000. */
function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}

const shareText = ({ used_bytes, quota_bytes }: Use): string =>
  quota_bytes === null ? '' : `${Math.floor((100 * used_bytes) / quota_bytes)} %`

export function StorageUse() {
  const use = useQuery('usage storage', async () => {
    const { data } = await client.usage.listStorage()
    return [...data, ...(await listAll((page) => client.usage.listStorage({ ...page, by: 'agent' })))]
  })
  return (
    <Loaded query={use}>
      {(items) => (
        <div class="stack">
          <Table
            name="Stored mail"
            items={items}
            keyOf={(item) => item.agent_handle ?? ''}
            columns={[
              { title: 'For', cell: (item) => item.agent_handle ?? 'The organization' },
              { title: 'Used', cell: (item) => bytesText(item.used_bytes), isNumber: true },
              { title: 'Quota', cell: (item) => (item.quota_bytes === null ? 'none' : bytesText(item.quota_bytes)), isNumber: true },
              { title: 'Share', cell: shareText, isNumber: true },
            ]}
          />
          <p class="faint">All messages with their files, also in the trash and in quarantine, and the attachments of drafts.</p>
        </div>
      )}
    </Loaded>
  )
}
