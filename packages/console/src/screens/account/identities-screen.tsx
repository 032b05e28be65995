// The agents of the organization with their addresses and their limits.
import type { Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from '../mail/mailboxes.ts'
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
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
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

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [handle, setHandle] = useState('')
  const [name, setName] = useState('')
  const create = async () => {
    await client.identities.create({ agent_handle: handle.trim(), ...(name.trim() ? { display_name: name.trim() } : {}) })
    invalidate('identities')
    go(addressOf(`/identities/${handle.trim()}`))
  }
  return (
    <FormDialog title="New identity" action="Create" done="Created" isDisabled={handle.trim() === ''} onSubmit={create} onClose={onClose}>
      <TextField
        label="Handle"
        value={handle}
        onInput={setHandle}
        hint="2 to 32 of a-z, 0-9 and _. It cannot be changed later."
        required
        autoFocus
        isMono
      />
      <TextField label="Display name" value={name} onInput={setName} hint="Shown in the mail of the agent." />
    </FormDialog>
  )
}
