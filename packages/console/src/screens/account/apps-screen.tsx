// Apps that a person connected over OAuth, with the agents and tools that each may use.
import type { Key } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { CodeSamples, Empty } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { connectNames, connectSamples } from './mcp-guide.tsx'

type App = Key & { connected_app: NonNullable<Key['connected_app']> }

const isApp = (key: Key): key is App => key.connected_app !== null

const approvals: Record<App['connected_app']['mail_approval'], string> = {
  agent: 'as each agent is set',
  always: 'a person sends its mail',
  ask: 'the app asks',
}

export default function AppsScreen() {
  const keys = useQuery('keys', () => listAll((page) => client.keys.list(page)))
  const [ended, setEnded] = useState<App | null>(null)
  const disconnect = async (app: App) => {
    if (await attempt(() => client.keys.revoke(app.id), `${app.name} is disconnected`)) invalidate('keys', 'overview')
  }
  return (
    <Screen title="Connected apps">
      <Loaded query={keys}>
        {(all) => {
          const apps = all.filter(isApp).filter((app) => app.revoked_at === null)
          return apps.length === 0 ? <NoApps /> : <AppTable apps={apps} onEnd={setEnded} />
        }}
      </Loaded>
      {ended && (
        <Confirm
          title={`Disconnect ${ended.name}?`}
          text="Its next request is rejected. The app can ask for access again."
          action="Disconnect"
          isDanger
          onConfirm={() => void disconnect(ended)}
          onClose={() => setEnded(null)}
        />
      )}
    </Screen>
  )
}

const NoApps = () => (
  <>
    <Empty icon="link" title="No connected apps">
      An MCP client that you add with the URL of this server asks you here which agents and tools it may use.
    </Empty>
    <CodeSamples samples={connectSamples} names={connectNames} />
  </>
)

function AppTable({ apps, onEnd }: { apps: App[]; onEnd: (app: App) => void }) {
  return (
    <Table
      name="Connected apps"
      items={apps}
      keyOf={(app) => app.id}
      columns={[
        { title: 'App', cell: (app) => <AppName app={app} /> },
        { title: 'Agents', cell: (app) => app.agent_handles.join(', ') },
        {
          title: 'Tools',
          cell: ({ connected_app: app }) => (
            <span class="row wrap">
              {app.toolsets.join(', ')}
              {app.is_read_only && <Badge>read only</Badge>}
            </span>
          ),
          isMinor: true,
        },
        { title: 'Sending', cell: (app) => approvals[app.connected_app.mail_approval], isMinor: true },
        { title: 'Last used', cell: (app) => (app.last_used_at ? <Time at={app.last_used_at} /> : 'never') },
        { title: 'Since', cell: (app) => <Time at={app.created_at} />, isMinor: true },
        {
          title: '',
          cell: (app) => (
            <Button size="small" kind="danger" onClick={() => onEnd(app)}>
              Disconnect
            </Button>
          ),
        },
      ]}
    />
  )
}

/** The app chose its name. The host that publishes it was checked. */
function AppName({ app: { name, connected_app: app } }: { app: App }) {
  return (
    <span class="row wrap">
      <strong>{name}</strong>
      {app.host ? <span class="faint">{app.host}</span> : <Badge tone="warn">not verified</Badge>}
    </span>
  )
}
