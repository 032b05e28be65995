// The messages sent to simulated phones.
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { client } from '../../session/client.ts'

const samples = samplesOf({
  method: 'GET',
  path: '/simulator/outbox',
  sdk: 'const page = await callsign.simulator.outbox()',
  cli: 'callsign sim outbox',
})

export function Outbox() {
  const outbox = useQuery('outbox', () => client.simulator.outbox({ limit: 100 }))
  return (
    <Loaded query={outbox}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon="simulator" title="Nothing sent yet" samples={samples}>
            Messages to simulated phones appear here.
          </Empty>
        ) : (
          <Table
            name="Outbox"
            items={data}
            keyOf={(item) => item.id}
            columns={[
              { title: 'Time', cell: (item) => <Time at={item.created_at} form="exact" />, isMinor: true },
              { title: 'Channel', cell: (item) => <Badge>{item.channel}</Badge> },
              { title: 'To', cell: (item) => item.to },
              { title: 'Text', cell: (item) => item.text },
            ]}
          />
        )
      }
    </Loaded>
  )
}
