// The dialog that creates an API key: its agents, scopes, addresses and expiry.
import { agentScopes, type Scope, scopeMeanings, scopes } from '@callsign/contract/scopes'
import type { CreatedKey } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Choices, Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { client } from '../../session/client.ts'
import { useIdentities } from '../mail/mailboxes.ts'

const dayMs = 86_400_000

const types = [
  { value: 'agent', label: 'Some agents' },
  { value: 'organization', label: 'The whole organization' },
] as const

const accesses = [
  { value: 'default', label: 'The default of this type' },
  { value: 'read_only', label: 'Read only' },
  { value: 'listed', label: 'Chosen scopes' },
] as const

type Access = (typeof accesses)[number]['value']

export function CreateKeyDialog({ onMade, onClose }: { onMade: (made: CreatedKey) => void; onClose: () => void }) {
  const handles = (useIdentities().data.value ?? []).map((identity) => identity.agent_handle)
  const [name, setName] = useState('')
  const [type, setType] = useState<'agent' | 'organization'>('agent')
  const [agents, setAgents] = useState<string[]>([])
  const [access, setAccess] = useState<Access>('default')
  const [listed, setListed] = useState<Scope[]>([])
  const [addresses, setAddresses] = useState('')
  const [days, setDays] = useState('')
  const chosen = possibleScopes(type).filter((scope) => listed.includes(scope))
  const isReady = name.trim() !== '' && (type === 'organization' || agents.length > 0) && (access !== 'listed' || chosen.length > 0)
  const create = async () => {
    const ranges = addresses.split(/[\s,]+/).filter(Boolean)
    const made = await client.keys.create({
      name,
      type,
      ...(type === 'agent' ? { agent_handles: agents } : {}),
      ...(access === 'read_only' ? { preset: 'read_only' as const } : {}),
      ...(access === 'listed' ? { preset: 'none' as const, scopes: chosen } : {}),
      ...(ranges.length > 0 ? { allowed_ips: ranges } : {}),
      ...(days.trim() === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
    })
    onMade(made)
    invalidate('keys')
  }
  return (
    <FormDialog title="New key" action="Create" isDisabled={!isReady} onSubmit={create} onClose={onClose}>
      <TextField label="Name" path="/name" value={name} onInput={setName} hint="Where the key is used." required autoFocus />
      <Select label="For" path="/type" value={type} options={types} onChange={setType} />
      {type === 'agent' && (
        <Choices title="Agents" path="/agent_handles" all={handles} chosen={agents} labelOf={(handle) => handle} onChange={setAgents} />
      )}
      <AccessFields type={type} access={access} chosen={chosen} onAccess={setAccess} onListed={setListed} />
      <TextField
        label="Allowed addresses"
        path="/allowed_ips"
        value={addresses}
        onInput={setAddresses}
        hint="Addresses or CIDR ranges, separated by commas. Empty for any address."
        isMono
      />
      <TextField
        label="Days until it expires"
        path="/expires_at"
        type="number"
        value={days}
        onInput={setDays}
        hint="Empty for a key without an end."
      />
    </FormDialog>
  )
}

type KeyType = (typeof types)[number]['value']

const possibleScopes = (type: KeyType): readonly Scope[] => (type === 'agent' ? agentScopes : scopes)

type AccessProps = {
  type: KeyType
  access: Access
  chosen: Scope[]
  onAccess: (access: Access) => void
  onListed: (listed: Scope[]) => void
}

function AccessFields({ type, access, chosen, onAccess, onListed }: AccessProps) {
  return (
    <>
      <Select label="Access" path="/preset" value={access} options={accesses} onChange={onAccess} />
      {access === 'listed' && (
        <Choices
          title="Scopes"
          path="/scopes"
          note={type === 'agent' ? 'vault:read and quarantine:read alone add to the default.' : undefined}
          all={possibleScopes(type)}
          chosen={chosen}
          labelOf={(scope) => `${scope}: ${scopeMeanings[scope]}`}
          onChange={onListed}
        />
      )}
    </>
  )
}
