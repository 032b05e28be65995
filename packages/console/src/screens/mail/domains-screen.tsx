// Custom domains with their DNS records, as published and as wanted.
import type { DnsRecord, Domain } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { forget, invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice, type Tone } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt, toast } from '../../elements/toasts.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'

const tones: Record<string, Tone> = { verified: 'good', valid: 'good', pending: 'warn', failed: 'bad' }
const samples = samplesOf({
  method: 'POST',
  path: '/domains',
  body: { domain: 'mail.example.com' },
  sdk: "await callsign.domains.create({ domain: 'mail.example.com' })",
  cli: 'callsign domains add mail.example.com',
})

export default function DomainsScreen({ parts: [id] }: ScreenProps) {
  const domains = useQuery('domains', () => client.domains.list().then(({ data }) => data))
  const [isAdding, setAdding] = useState(false)
  if (id) return <DomainDetail id={id} />
  const add = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      Add domain
    </Button>
  )
  return (
    <Screen title="Domains" actions={add}>
      <Loaded query={domains}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="domains" title="No domains yet" samples={samples} action={add}>
              With a domain of your own, agents have addresses there.
            </Empty>
          ) : (
            <Table
              name="Domains"
              items={all}
              keyOf={(domain) => domain.id}
              columns={[
                { title: 'Domain', cell: (domain) => <a href={addressOf(`/domains/${domain.id}`)}>{domain.domain}</a> },
                { title: 'State', cell: (domain) => <Badge tone={tones[domain.status] ?? 'neutral'}>{domain.status}</Badge> },
                { title: 'Default', cell: (domain) => domain.is_default && <Badge tone="accent">default</Badge> },
                { title: 'Mailboxes', cell: (domain) => domain.mailboxes_count, isNumber: true },
                { title: 'Created', cell: (domain) => <Time at={domain.created_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </Screen>
  )
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const add = async () => {
    const domain = await client.domains.create({ domain: name.trim().toLowerCase() })
    invalidate('domains', 'overview')
    go(addressOf(`/domains/${domain.id}`))
  }
  return (
    <FormDialog title="Add a domain" action="Add" isDisabled={name.trim() === ''} onSubmit={add} onClose={onClose}>
      <TextField
        label="Domain"
        value={name}
        onInput={setName}
        placeholder="mail.example.com"
        hint="Use a subdomain if people have mailboxes on the domain."
        required
        autoFocus
        isMono
      />
    </FormDialog>
  )
}

function DomainDetail({ id }: { id: string }) {
  const domain = useQuery(`domains ${id}`, () => client.domains.get(id))
  const [isDeleting, setDeleting] = useState(false)
  const changed = () => invalidate('domains', 'overview')
  const verify = async () => {
    await attempt(async () => toast({ text: (await client.domains.verify(id)).message }))
    changed()
  }
  const makeDefault = async () => {
    if (await attempt(() => client.domains.setDefault(id), 'New identities are on this domain')) changed()
  }
  const remove = async () => {
    if (!(await attempt(() => client.domains.delete(id, { force: true }), 'Deleted'))) return
    forget(`domains ${id}`)
    changed()
    go(addressOf('/domains'))
  }
  const actions = (
    <>
      {canOperate.value && (
        <>
          <Button kind="primary" icon="refresh" onClick={() => void verify()}>
            Check now
          </Button>
          <Button icon="download" onClick={() => void downloadZone(id)}>
            Zone file
          </Button>
          <Button onClick={() => void makeDefault()}>Make default</Button>
          <Button kind="danger" icon="trash" label="Delete" onClick={() => setDeleting(true)} />
        </>
      )}
    </>
  )
  return (
    <Screen title={domain.data.value?.domain ?? 'Domain'} actions={actions} back={{ href: addressOf('/domains'), label: 'All domains' }}>
      <Loaded query={domain}>{(data) => <Records domain={data} />}</Loaded>
      {isDeleting && (
        <Confirm
          title="Delete this domain?"
          text="Its mailboxes move to the mail domain of the server. Mail to their old addresses is refused."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        />
      )}
    </Screen>
  )
}

async function downloadZone(id: string): Promise<void> {
  await attempt(async () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([await client.domains.zoneFile(id)], { type: 'text/plain' }))
    link.download = 'domain.zone'
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

function Records({ domain }: { domain: Domain }) {
  return (
    <div class="stack">
      <div class="row wrap">
        <Badge tone={tones[domain.status] ?? 'neutral'}>{domain.status}</Badge>
        {domain.is_default && <Badge tone="accent">default</Badge>}
      </div>
      {domain.failing_since && (
        <Notice tone="bad">
          The records have been wrong since <Time at={domain.failing_since} form="exact" />.
        </Notice>
      )}
      <p>Publish these records at your DNS host. Changes can take minutes to arrive.</p>
      <Table
        name="DNS records"
        items={domain.dns_records}
        keyOf={(record) => `${record.type} ${record.name} ${record.value}`}
        columns={[
          { title: 'State', cell: (record) => <Badge tone={tones[record.status] ?? 'neutral'}>{record.status}</Badge> },
          { title: 'Type', cell: (record) => (record.priority === undefined ? record.type : `${record.type} ${record.priority}`) },
          { title: 'Name', cell: (record) => <Copy value={record.name} name="name" /> },
          { title: 'Value', cell: (record) => <Copy value={record.value} name="value" /> },
          {
            title: 'For',
            cell: (record: DnsRecord) => (record.required ? record.purpose : `${record.purpose}, recommended`),
            isMinor: true,
          },
        ]}
      />
    </div>
  )
}
