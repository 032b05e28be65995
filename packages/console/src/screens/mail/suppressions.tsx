// Addresses to which the organization no longer sends.
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'

const samples = samplesOf({
  method: 'POST',
  path: '/suppressions',
  body: { email_address: 'ada@example.com' },
  sdk: "await callsign.suppressions.create({ email_address: 'ada@example.com' })",
  cli: 'callsign suppressions add ada@example.com',
})

export function Suppressions() {
  const suppressions = useQuery('suppressions', () => listAll((page) => client.suppressions.list(page)))
  const [isAdding, setAdding] = useState(false)
  const remove = async (address: string) => {
    if (await attempt(() => client.suppressions.delete(address), `${address} can be written to again`)) invalidate('suppressions')
  }
  const add = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      Add address
    </Button>
  )
  return (
    <div class="stack">
      {(suppressions.data.value?.length ?? 0) > 0 && <div class="row">{add}</div>}
      <Loaded query={suppressions}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="block" title="No suppressed addresses" samples={samples} action={add}>
              Hard bounces and complaints add addresses by themselves.
            </Empty>
          ) : (
            <Table
              name="Suppressions"
              items={all}
              keyOf={(one) => one.id}
              columns={[
                { title: 'Address', cell: (one) => <span class="mono">{one.email_address}</span> },
                { title: 'Because of', cell: (one) => <Badge tone={one.source === 'manual' ? 'neutral' : 'warn'}>{one.source}</Badge> },
                { title: 'Reason', cell: (one) => one.reason, isMinor: true },
                { title: 'Since', cell: (one) => <Time at={one.created_at} /> },
                {
                  title: '',
                  cell: (one) =>
                    canOperate.value && (
                      <Button size="small" onClick={() => void remove(one.email_address)}>
                        Remove
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </div>
  )
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const [address, setAddress] = useState('')
  const [reason, setReason] = useState('')
  const add = async () => {
    await client.suppressions.create({ email_address: address.trim(), ...(reason ? { reason } : {}) })
    invalidate('suppressions')
  }
  return (
    <FormDialog
      title="Suppress an address"
      conflictPath="/email_address"
      action="Add"
      done="Added"
      isDisabled={address.trim() === ''}
      onSubmit={add}
      onClose={onClose}
    >
      <TextField label="Address" path="/email_address" type="email" value={address} onInput={setAddress} required autoFocus />
      <TextField label="Reason" path="/reason" value={reason} onInput={setReason} />
    </FormDialog>
  )
}
