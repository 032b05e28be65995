// API keys with their scopes, last use and expiry.
import type { CreatedKey, Key } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { OnceDialog } from '../../elements/once-dialog.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { currentTime, Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { CreateKeyDialog } from './key-dialog.tsx'

const dayMs = 86_400_000
const soonMs = 14 * dayMs

export default function KeysScreen() {
  const keys = useQuery('keys', () => listAll((page) => client.keys.list(page)))
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<CreatedKey | null>(null)
  const [revoked, setRevoked] = useState<Key | null>(null)
  const revoke = async (key: Key) => {
    if (await attempt(() => client.keys.revoke(key.id), `${key.name} is revoked`)) invalidate('keys', 'overview')
  }
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New key
    </Button>
  )
  return (
    <Screen title="Keys" actions={create}>
      <Loaded query={keys}>{(all) => <KeyTable keys={all} onRevoke={setRevoked} />}</Loaded>
      {isCreating && <CreateKeyDialog onMade={setMade} onClose={() => setCreating(false)} />}
      {made && <OnceDialog title={made.name} name="key" value={made.key} onClose={() => setMade(null)} />}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}, which ends with ${revoked.last4}?`}
          text="The next request with this key is rejected. This cannot be undone."
          action="Revoke"
          isDanger
          onConfirm={() => void revoke(revoked)}
          onClose={() => setRevoked(null)}
        />
      )}
    </Screen>
  )
}

function KeyTable({ keys, onRevoke }: { keys: Key[]; onRevoke: (key: Key) => void }) {
  return (
    <Table
      name="Keys"
      items={keys}
      keyOf={(key) => key.id}
      columns={[
        { title: 'Name', cell: (key) => <KeyName value={key} /> },
        { title: 'For', cell: (key) => key.agent_handles.join(', ') || <Badge tone="accent">organization</Badge> },
        { title: 'Ends with', cell: (key) => <span class="mono">…{key.last4}</span> },
        { title: 'Created', cell: (key) => <Time at={key.created_at} form="date" /> },
        { title: 'Scopes', cell: (key) => key.scopes.join(' ') || 'default', isMinor: true },
        { title: 'Allowed from', cell: (key) => key.allowed_ips.join(' ') || 'any address', isMinor: true },
        { title: 'Last used', cell: (key) => <LastUse value={key} /> },
        { title: 'State', cell: (key) => <KeyState value={key} /> },
        {
          title: '',
          cell: (key) =>
            key.revoked_at === null && (
              <Button size="small" kind="danger" onClick={() => onRevoke(key)}>
                Revoke
              </Button>
            ),
        },
      ]}
    />
  )
}

/** A connected app is shown with the host that publishes it, because it chose its name. */
function KeyName({ value: { name, connected_app: app } }: { value: Key }) {
  if (!app) return name
  return (
    <>
      {name} <Badge tone="accent">connected app</Badge> <span class="faint">{app.host ?? 'not verified'}</span>
    </>
  )
}

function LastUse({ value: key }: { value: Key }) {
  if (!key.last_used_at) return <>never</>
  return (
    <span title={key.last_used_user_agent ?? ''}>
      <Time at={key.last_used_at} /> {key.last_used_ip}
    </span>
  )
}

function KeyState({ value: { revoked_at: revokedAt, expires_at: expiresAt } }: { value: Key }) {
  if (revokedAt) return <Badge>revoked</Badge>
  if (!expiresAt) return <Badge tone="good">valid</Badge>
  const left = Date.parse(expiresAt) - currentTime.value
  if (left <= 0) return <Badge tone="bad">expired</Badge>
  return (
    <Badge tone={left < soonMs ? 'warn' : 'good'}>
      until <Time at={expiresAt} form="exact" />
    </Badge>
  )
}
