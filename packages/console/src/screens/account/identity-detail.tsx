// One identity with its channels, and the limits of its mail.
import type { Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { forget, invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Card } from '../../elements/card.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { changedLimits, LimitFields, limitTexts } from '../../elements/limit-fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canOperate, role } from '../../session/session.ts'
import { AddressesCard } from './addresses-card.tsx'

export function IdentityDetail({ handle }: { handle: string }) {
  const identity = useQuery(`identities ${handle}`, () => client.identities.get(handle))
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const remove = async () => {
    if (!(await attempt(() => client.identities.delete(handle), `${handle} is deleted`))) return
    forget(`identities ${handle}`)
    forget(`identities ${handle} addresses`)
    invalidate('identities')
    go(addressOf('/identities'))
  }
  const actions = (
    <>
      {canOperate.value && (
        <>
          <Button icon="edit" onClick={() => setOpen('edit')}>
            Edit
          </Button>
          <Button kind="danger" icon="trash" label="Delete" onClick={() => setOpen('delete')} />
        </>
      )}
    </>
  )
  return (
    <Screen title={handle} actions={actions} back={{ href: addressOf('/identities'), label: 'All identities' }}>
      <Loaded query={identity}>{(data) => <Channels identity={data} />}</Loaded>
      {open === 'edit' && identity.data.value && <EditDialog identity={identity.data.value} onClose={() => setOpen(null)} />}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${handle}?`}
          text="Its mailbox, messages, drafts, tunnel and keys are deleted permanently. The handle cannot be used again."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={() => setOpen(null)}
        />
      )}
    </Screen>
  )
}

function Channels({ identity }: { identity: Identity }) {
  const { agent_handle: handle } = identity
  return (
    <div class="overview">
      <div class="row wrap faint">
        <span>{identity.display_name}</span>
        <Id id={identity.id} />
        <span>
          since <Time at={identity.created_at} />
        </span>
        {identity.description && <span>{identity.description}</span>}
      </div>
      <div class="overview-columns">
        <MailCard identity={identity} />
        <AddressesCard identity={identity} />
        <Card title="Tunnel" actions={<a href={addressOf(`/tunnels/${handle}`)}>Inspect</a>}>
          <Facts items={[['Public URL', <Copy key="url" value={identity.tunnel.local_url ?? identity.tunnel.public_url} name="URL" />]]} />
        </Card>
        <PhoneCard handle={handle} />
        {role.value === 'owner' && <KeyCard handle={handle} />}
      </div>
    </div>
  )
}

function MailCard({ identity }: { identity: Identity }) {
  const { agent_handle: handle } = identity
  const links = (
    <span class="row">
      <a href={addressOf('/inbox', { mailbox: handle })}>Inbox</a>
      <a href={addressOf('/rules', { agent: handle })}>Rules</a>
    </span>
  )
  return (
    <Card title="Mail" actions={links}>
      <Facts
        items={[
          ['Address', <Copy key="address" value={identity.mailbox_address} name="address" />],
          [
            'Approval',
            identity.draft_approval === 'required' ? <Badge tone="accent">A person sends its drafts</Badge> : 'The agent sends by itself',
          ],
          ['Mail to it', identity.inbound_mode === 'allowlist' ? 'Only allowed senders' : 'All senders that no rule blocks'],
          ['Mail from it', identity.outbound_mode === 'allowlist' ? 'Only allowed recipients' : 'All recipients that no rule blocks'],
          ['Limits', limitTexts(identity.sending_limits).join(', ') || 'None'],
        ]}
      />
    </Card>
  )
}

function PhoneCard({ handle }: { handle: string }) {
  const numbers = useQuery('phone', () => listAll((page) => client.phone.list(page)))
  return (
    <Card title="Phone" actions={<a href={addressOf('/phone')}>Numbers</a>}>
      <Loaded query={numbers}>
        {(all) => {
          const own = all.filter((number) => number.agent_handle === handle)
          if (own.length === 0) return <p class="faint">No number.</p>
          return own.map((number) => (
            <span key={number.id} class="row">
              <a href={addressOf(`/phone/${number.id}`)}>{number.phone_number}</a>
              <Badge>{number.sms_status.replaceAll('_', ' ')}</Badge>
            </span>
          ))
        }}
      </Loaded>
    </Card>
  )
}

function KeyCard({ handle }: { handle: string }) {
  const keys = useQuery('keys', () => listAll((page) => client.keys.list(page)))
  return (
    <Card title="Keys" actions={<a href={addressOf('/keys')}>All keys</a>}>
      <Loaded query={keys}>
        {(all) => {
          const own = all.filter((key) => key.agent_handle === handle && key.revoked_at === null)
          if (own.length === 0) return <p class="faint">No key. The agent cannot call the API.</p>
          return own.map((key) => (
            <span key={key.id} class="row">
              <span class="grow truncate">{key.name}</span>
              <span class="faint">{key.last_used_at ? <Time at={key.last_used_at} /> : 'never used'}</span>
            </span>
          ))
        }}
      </Loaded>
    </Card>
  )
}

const modes = [
  { value: 'open', label: 'All addresses that no rule blocks' },
  { value: 'allowlist', label: 'Only addresses that a rule allows' },
] as const
const approvals = [
  { value: 'none', label: 'The agent sends by itself' },
  { value: 'required', label: 'A person sends its drafts' },
] as const

function EditDialog({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const [name, setName] = useState(identity.display_name)
  const [approval, setApproval] = useState(identity.draft_approval)
  const [inbound, setInbound] = useState(identity.inbound_mode)
  const [outbound, setOutbound] = useState(identity.outbound_mode)
  const [limits, setLimits] = useState(identity.sending_limits)
  const save = async () => {
    await client.identities.update(identity.agent_handle, {
      display_name: name,
      draft_approval: approval,
      inbound_mode: inbound,
      outbound_mode: outbound,
      ...changedLimits(identity.sending_limits, limits),
    })
    invalidate('identities')
  }
  return (
    <FormDialog title={`Edit ${identity.agent_handle}`} action="Save" done="Saved" onSubmit={save} onClose={onClose}>
      <TextField label="Display name" path="/display_name" value={name} onInput={setName} autoFocus />
      <Select label="Approval" path="/draft_approval" value={approval} options={approvals} onChange={setApproval} />
      <Select label="Mail to the agent" path="/inbound_mode" value={inbound} options={modes} onChange={setInbound} />
      <Select label="Mail from the agent" path="/outbound_mode" value={outbound} options={modes} onChange={setOutbound} />
      <h3>Limits</h3>
      <LimitFields path="/sending_limits" limits={limits} onChange={setLimits} />
    </FormDialog>
  )
}
