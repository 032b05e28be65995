// Signed-in browsers, which can be signed out from here.
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { consoleCall } from '../../session/console-api.ts'
import { loadState, memberName } from '../../session/session.ts'

type Signed = {
  id: string
  created_at: string
  last_seen_at: string
  ip: string | null
  user_agent: string | null
  current: boolean
  method: string
  member: { name: string; email: string } | null
  key: { name: string } | null
}

export function Sessions() {
  const sessions = useQuery('sessions', async () => (await consoleCall<{ sessions: Signed[] }>('GET', 'sessions')).sessions)
  const end = async (path: string, done: string) => {
    if (await attempt(() => consoleCall('DELETE', path), done)) await Promise.all([loadState(), sessions.reload()])
  }
  return (
    <div class="stack">
      <div class="row">
        <Button kind="danger" onClick={() => void end('sessions', 'Signed out everywhere')}>
          Sign out everywhere
        </Button>
      </div>
      <Loaded query={sessions}>
        {(all) => (
          <Table
            name="Sessions"
            items={all}
            keyOf={(one) => one.id}
            columns={[
              { title: 'Who', cell: (one) => (one.member ? memberName(one.member) : (one.key?.name ?? 'A deleted key')) },
              { title: 'Browser', cell: (one) => browserOf(one.user_agent) },
              { title: 'Address', cell: (one) => one.ip, isMinor: true },
              { title: 'Last seen', cell: (one) => <Time at={one.last_seen_at} /> },
              {
                title: '',
                cell: (one) =>
                  one.current ? (
                    <Badge tone="accent">this one</Badge>
                  ) : (
                    <Button size="small" onClick={() => void end(`sessions/${one.id}`, 'Signed out')}>
                      Sign out
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </div>
  )
}

/** The name of the browser and of its system, as the user agent names them. */
function browserOf(userAgent: string | null): string {
  const name = /(Firefox|Edg|Chrome|Safari|curl)\//.exec(userAgent ?? '')?.[1] ?? 'Unknown'
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent ?? '')?.[1]
  return [name.replace('Edg', 'Edge'), system].filter(Boolean).join(', ')
}
