// The agents of the organization with their addresses and their limits.
import type { Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { CreateIdentityDialog } from './create-identity.tsx'
import { IdentityDetail } from './identity-detail.tsx'

const samples = samplesOf({
  method: 'POST',
  path: '/identities',
  body: { agent_handle: 'sales', display_name: 'Sales Agent' },
  sdk: "await callsign.identities.create({ agent_handle: 'sales', display_name: 'Sales Agent' })",
  cli: 'callsign identities create sales --name "Sales Agent"',
})

export default function IdentitiesScreen({ parts: [handle] }: ScreenProps) {
  const identities = useIdentities()
  const [isCreating, setCreating] = useState(false)
  if (handle) return <IdentityDetail handle={handle} />
  const create = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New identity
    </Button>
  )
  return (
    <Screen title="Identities" note={identities.data.value ? `${identities.data.value.length}` : ''} actions={create}>
      <Loaded query={identities}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="identities" title="No identities yet" samples={samples} action={create}>
              An identity gives an agent a mailbox and a public URL.
            </Empty>
          ) : (
            <IdentityTable identities={all} />
          )
        }
      </Loaded>
      {isCreating && (
        <CreateIdentityDialog onCreated={(created) => go(addressOf(`/identities/${created}`))} onClose={() => setCreating(false)} />
      )}
    </Screen>
  )
}

function IdentityTable({ identities }: { identities: Identity[] }) {
  return (
    <Table
      name="Identities"
      items={identities}
      keyOf={(identity) => identity.id}
      columns={[
        { title: 'Agent', cell: (identity) => <a href={addressOf(`/identities/${identity.agent_handle}`)}>{identity.agent_handle}</a> },
        { title: 'Name', cell: (identity) => identity.display_name, isMinor: true },
        { title: 'Address', cell: (identity) => <Copy value={identity.mailbox_address} name="address" /> },
        { title: 'Limits', cell: (identity) => <Limits identity={identity} /> },
        { title: 'Created', cell: (identity) => <Time at={identity.created_at} />, isMinor: true },
      ]}
    />
  )
}

/** The limits that differ from those of a new identity. */
export function Limits({ identity }: { identity: Identity }) {
  return (
    <span class="row wrap">
      {identity.draft_approval === 'required' && <Badge tone="accent">approval</Badge>}
      {identity.inbound_mode === 'allowlist' && <Badge>inbound allowlist</Badge>}
      {identity.outbound_mode === 'allowlist' && <Badge>outbound allowlist</Badge>}
    </span>
  )
}
