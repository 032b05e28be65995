// Webhooks with their state, and the form that creates one.
import { eventTypes } from '@callsign/contract/event-types'
import type { CreatedWebhook } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { WebhookDetail } from './webhook-detail.tsx'
import { SecretDialog, webhookTones } from './webhook-secret.tsx'

const samples = samplesOf({
  method: 'POST',
  path: '/webhooks',
  body: { url: 'https://agent.example.com/hooks', events: ['email.received'] },
  sdk: "const { secret } = await callsign.webhooks.create({ url: 'https://agent.example.com/hooks', events: ['email.received'] })",
  cli: 'callsign webhooks add https://agent.example.com/hooks --events email.received',
})

export default function WebhooksScreen({ parts: [id] }: ScreenProps) {
  const webhooks = useQuery('webhooks', () => listAll((page) => client.webhooks.list(page)))
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<CreatedWebhook | null>(null)
  if (id) return <WebhookDetail id={id} />
  const create = canOperate.value && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New webhook
    </Button>
  )
  return (
    <Screen title="Webhooks" actions={create}>
      <Loaded query={webhooks}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="webhooks" title="No webhooks yet" samples={samples} action={create}>
              A webhook sends events to a URL of yours.
            </Empty>
          ) : (
            <Table
              name="Webhooks"
              items={all}
              keyOf={(webhook) => webhook.id}
              columns={[
                { title: 'URL', cell: (webhook) => <a href={addressOf(`/webhooks/${webhook.id}`)}>{webhook.url}</a> },
                { title: 'State', cell: (webhook) => <Badge tone={webhookTones[webhook.status]}>{webhook.status}</Badge> },
                { title: 'Events', cell: (webhook) => webhook.events.join(', '), isMinor: true },
                { title: 'Agent', cell: (webhook) => webhook.agent_handle ?? 'all', isMinor: true },
                { title: 'Created', cell: (webhook) => <Time at={webhook.created_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Loaded>
      {isCreating && <CreateDialog onMade={setMade} onClose={() => setCreating(false)} />}
      {made?.secret && <SecretDialog secret={made.secret} onClose={() => setMade(null)} />}
    </Screen>
  )
}

const kinds = [{ value: '*', label: 'All events' }, ...eventTypes.map((type) => ({ value: type as string, label: type }))]

function CreateDialog({ onMade, onClose }: { onMade: (made: CreatedWebhook) => void; onClose: () => void }) {
  const identities = useIdentities().data.value ?? []
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('*')
  const [agent, setAgent] = useState('')
  const create = async () => {
    onMade(await client.webhooks.create({ url: url.trim(), events: [events], ...(agent ? { agent_handle: agent } : {}) }))
    invalidate('webhooks')
  }
  return (
    <FormDialog title="New webhook" action="Create" isDisabled={url.trim() === ''} onSubmit={create} onClose={onClose}>
      <TextField label="URL" value={url} onInput={setUrl} placeholder="https://agent.example.com/hooks" required autoFocus isMono />
      <Select label="Events" value={events} options={kinds} onChange={setEvents} />
      <Select
        label="Agent"
        value={agent}
        options={[{ value: '', label: 'All agents' }, ...identities.map(({ agent_handle: handle }) => ({ value: handle, label: handle }))]}
        onChange={setAgent}
      />
    </FormDialog>
  )
}
