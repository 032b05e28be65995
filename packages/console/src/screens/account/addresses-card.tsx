// The addresses of one identity: aliases, the primary address and catch-all addresses.
import type { Address, Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Card } from '../../elements/card.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Checkbox, Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Table } from '../../elements/table.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'

/** The local part that stands for every address of a domain that does not exist. */
const catchAll = '*'

export function AddressesCard({ identity: { agent_handle: handle } }: { identity: Identity }) {
  const addresses = useQuery(`identities ${handle} addresses`, () => listAll((page) => client.addresses.list(handle, page)))
  const [isAdding, setAdding] = useState(false)
  const [deleted, setDeleted] = useState<Address | null>(null)
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await attempt(work, done)) invalidate('identities')
  }
  const add = canOperate.value && (
    <Button size="small" icon="plus" onClick={() => setAdding(true)}>
      Add an address
    </Button>
  )
  return (
    <Card title="Addresses" actions={add}>
      <Loaded query={addresses}>
        {(all) => (
          <AddressTable
            addresses={all}
            onPrimary={({ email_address: address }) =>
              void change(() => client.addresses.setPrimary(handle, address), `Mail is sent from ${address}`)
            }
            onDelete={setDeleted}
          />
        )}
      </Loaded>
      {isAdding && <AddDialog handle={handle} known={addresses.data.value ?? []} onClose={() => setAdding(false)} />}
      {deleted && (
        <Confirm
          title={`Delete ${deleted.email_address}?`}
          text="Mail to it is refused. Only this organization can create the address again."
          action="Delete"
          isDanger
          onConfirm={() => void change(() => client.addresses.delete(handle, deleted.email_address), `${deleted.email_address} is deleted`)}
          onClose={() => setDeleted(null)}
        />
      )}
    </Card>
  )
}

type AddressTableProps = { addresses: Address[]; onPrimary: (address: Address) => void; onDelete: (address: Address) => void }

function AddressTable({ addresses, onPrimary, onDelete }: AddressTableProps) {
  return (
    <Table
      name="Addresses"
      items={addresses}
      keyOf={(address) => address.id}
      columns={[
        { title: 'Address', cell: (address) => <Copy value={address.email_address} name="address" /> },
        { title: 'Kind', cell: (address) => <Kind address={address} /> },
        {
          title: '',
          cell: (address) =>
            canOperate.value &&
            !address.is_primary && (
              <span class="row">
                {!address.is_catch_all && (
                  <Button size="small" onClick={() => onPrimary(address)}>
                    Make primary
                  </Button>
                )}
                <Button
                  size="small"
                  kind="danger"
                  icon="trash"
                  label={`Delete ${address.email_address}`}
                  onClick={() => onDelete(address)}
                />
              </span>
            ),
        },
      ]}
    />
  )
}

function Kind({ address }: { address: Address }) {
  if (address.is_primary) return <Badge tone="accent">primary</Badge>
  return address.is_catch_all ? <Badge tone="warn">catch-all</Badge> : <Badge>alias</Badge>
}

function AddDialog({ handle, known, onClose }: { handle: string; known: Address[]; onClose: () => void }) {
  const domains = useQuery('domains', () => client.domains.list().then(({ data }) => data)).data.value ?? []
  const [localPart, setLocalPart] = useState('')
  const [domain, setDomain] = useState('')
  const [isCatchAll, setCatchAll] = useState(false)
  const [isPrimary, setPrimary] = useState(false)
  const own = domains.filter(({ status }) => status === 'verified').map((one) => one.domain)
  const mailDomain = known.find((address) => address.custom_domain_id === null)?.domain
  const names = [...own, ...(mailDomain ? [mailDomain] : [])]
  const part = isCatchAll ? catchAll : localPart.trim().toLowerCase()
  const add = async () => {
    await client.addresses.create(handle, {
      ...(part ? { local_part: part } : {}),
      ...(domain ? { domain } : {}),
      ...(isPrimary && !isCatchAll ? { is_primary: true } : {}),
    })
    invalidate('identities')
  }
  return (
    <FormDialog title={`Add an address to ${handle}`} action="Add" done="Added" onSubmit={add} onClose={onClose}>
      {!isCatchAll && (
        <TextField
          label="Before the @"
          path="/local_part"
          value={localPart}
          onInput={setLocalPart}
          hint="Empty for a generated one."
          autoFocus
          isMono
        />
      )}
      <Select
        label="Domain"
        path="/domain"
        value={domain}
        options={[{ value: '', label: 'The default domain' }, ...names.map((name) => ({ value: name, label: name }))]}
        onChange={setDomain}
      />
      {own.includes(domain) && (
        <Checkbox label="Every address of this domain that does not exist (catch-all)" checked={isCatchAll} onChange={setCatchAll} />
      )}
      {!isCatchAll && <Checkbox label="Send from it by default" checked={isPrimary} onChange={setPrimary} />}
    </FormDialog>
  )
}
