// The counts of mail per day, for the organization, per agent or per domain.
import type { UsageSubject } from '@callsign/contract/usage'
import type { UsageDay } from '@callsign/sdk'
import { listAll } from '../../cache/list-all.ts'
import { useQuery } from '../../cache/query.ts'
import { Empty } from '../../elements/empty.tsx'
import { Select } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { place, setQuery } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { StorageUse } from './storage-use.tsx'
import { UsageChart } from './usage-chart.tsx'
import { addUp, daysOf, isMinorCount, type UsageCount, type UsageSum, usageCounts } from './usage-sums.ts'

const subjects = [
  { id: 'organization', label: 'Per day' },
  { id: 'agent', label: 'Per agent' },
  { id: 'domain', label: 'Per domain' },
  { id: 'storage', label: 'Storage' },
] as const

const periods = [
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
  { value: '90', label: 'The last 90 days' },
] as const

const samples = samplesOf({
  method: 'GET',
  path: '/usage?by=agent',
  sdk: "const { data } = await callsign.usage.list({ by: 'agent' })",
  cli: 'callsign usage list --by agent',
})

export default function UsageScreen() {
  const { query } = place.value
  const tab = subjects.find(({ id }) => id === query.get('by'))?.id ?? 'organization'
  const period = periods.find(({ value }) => value === query.get('days'))?.value ?? '30'
  const select = (
    <Select
      label="Period"
      isLabelHidden
      value={period}
      options={periods}
      onChange={(value) => setQuery({ days: value === '30' ? undefined : value })}
    />
  )
  return (
    <Screen title="Usage" note="days in UTC" actions={tab === 'storage' ? undefined : select}>
      <Tabs tabs={subjects} selected={tab} name="Usage" onSelect={(id) => setQuery({ by: id === 'organization' ? undefined : id })}>
        {tab === 'storage' ? <StorageUse /> : <CountedMail key={tab} by={tab} period={period} />}
      </Tabs>
    </Screen>
  )
}

function CountedMail({ by, period }: { by: UsageSubject; period: string }) {
  const days = daysOf(Number(period), Date.now())
  const usage = useQuery(`usage ${by} ${period}`, () =>
    listAll((page) => client.usage.list({ ...page, by, start_date: days[0] as string, end_date: days.at(-1) as string })),
  )
  return (
    <Loaded query={usage}>
      {(all) =>
        all.length === 0 ? (
          <Empty icon="usage" title="No mail in this period" samples={samples}>
            Each message counts on the day on which it arrives or is sent, delivered or rejected.
          </Empty>
        ) : (
          <Counts by={by} days={days} usage={all} />
        )
      }
    </Loaded>
  )
}

const subjectTitles: Record<UsageSubject, string> = { organization: 'Day', agent: 'Agent', domain: 'Domain' }

function Counts({ by, days, usage }: { by: UsageSubject; days: string[]; usage: UsageDay[] }) {
  const nameOf = (day: UsageDay) => (by === 'agent' ? day.agent_handle : by === 'domain' ? day.domain : day.date) ?? ''
  const sums = addUp(usage, nameOf)
  if (by === 'organization') sums.sort((one, other) => other.name.localeCompare(one.name))
  return (
    <div class="stack">
      <UsageChart days={days} sums={addUp(usage, (day) => day.date)} />
      <Table
        name="Usage"
        items={sums}
        keyOf={(sum) => sum.name}
        columns={[{ title: subjectTitles[by], cell: (sum) => sum.name }, ...usageCounts.map((count) => columnOf(count))]}
      />
    </div>
  )
}

const columnOf = (count: UsageCount) => ({
  title: count[0]?.toUpperCase() + count.slice(1),
  cell: ({ messages }: UsageSum) => (messages[count] === 0 ? <span class="faint">0</span> : messages[count].toLocaleString()),
  isNumber: true,
  isMinor: isMinorCount(count),
})
