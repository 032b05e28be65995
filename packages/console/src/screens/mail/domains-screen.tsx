// Custom domains with their state, and the form that adds one.
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
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
import { DomainDetail } from './domain-detail.tsx'
import { DefaultBadge, domainTones, isLocalName } from './domain-state.tsx'

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
                { title: 'State', cell: (domain) => <Badge tone={domainTones[domain.status]}>{domain.status}</Badge> },
                { title: 'Default', cell: (domain) => <DefaultBadge domain={domain} /> },
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
    <FormDialog title="Add a domain" conflictPath="/domain" action="Add" isDisabled={name.trim() === ''} onSubmit={add} onClose={onClose}>
      <TextField
        label="Domain"
        path="/domain"
        value={name}
        onInput={setName}
        placeholder="mail.example.com"
        hint="Use a subdomain if people have mailboxes on the domain."
        required
        autoFocus
        isMono
      />
      {isLocalName(name.trim().toLowerCase()) && (
        <Notice tone="warn">
          This is a local name. Other mail servers cannot find it, so it cannot be verified. Agents have addresses at the mail domain of
          this server already.
        </Notice>
      )}
    </FormDialog>
  )
}
