// The tunnels of the agents, and the inspector of one.
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { ButtonLink } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canReview } from '../../session/session.ts'
import { TunnelInspector } from './tunnel-inspector.tsx'

const samples = samplesOf({
  method: 'GET',
  path: '/tunnels',
  sdk: "await callsign.tunnels.listen('sales', 3000)",
  cli: 'callsign tunnel 3000 --agent sales',
})

export default function TunnelsScreen({ parts: [handle, openId] }: ScreenProps) {
  const tunnels = useQuery('tunnels', async () => {
    const found: Awaited<ReturnType<typeof client.tunnels.list>>['data'] = []
    for (;;) {
      const last = found.at(-1)
      const page = await client.tunnels.list({ limit: 100, ...(last ? { cursor: last.id } : {}) })
      found.push(...page.data)
      if (!page.has_more || page.data.length === 0) return found
    }
  })
  if (handle) return <TunnelInspector handle={handle} openId={openId} />
  return (
    <Screen title="Tunnels">
      <Loaded query={tunnels}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              icon="tunnels"
              title="No tunnels yet"
              samples={samples}
              action={canReview.value && <ButtonLink href={addressOf('/identities')}>New identity</ButtonLink>}
            >
              Each identity has a tunnel.
            </Empty>
          ) : (
            <Table
              name="Tunnels"
              items={all}
              keyOf={(tunnel) => tunnel.id}
              columns={[
                { title: 'Agent', cell: (tunnel) => <a href={addressOf(`/tunnels/${tunnel.agent_handle}`)}>{tunnel.agent_handle}</a> },
                { title: 'URL', cell: (tunnel) => <Copy value={tunnel.local_url ?? tunnel.public_url} name="URL" /> },
                {
                  title: 'State',
                  cell: (tunnel) =>
                    tunnel.status === 'active' ? (
                      <Badge tone={tunnel.is_connected ? 'good' : 'neutral'}>{tunnel.is_connected ? 'connected' : 'not connected'}</Badge>
                    ) : (
                      <Badge tone="warn">{tunnel.status}</Badge>
                    ),
                },
                { title: 'Last request', cell: (tunnel) => tunnel.last_request_at && <Time at={tunnel.last_request_at} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Screen>
  )
}
