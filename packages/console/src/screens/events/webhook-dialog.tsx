// The dialog that creates or changes a webhook: its events, agents, custom headers and format.
import { eventTypes } from '@callsign/contract/event-types'
import type { CreatedWebhook, Webhook } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Choices, Select, TextArea, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { client } from '../../session/client.ts'
import { useIdentities } from '../mail/mailboxes.ts'
import { parseHeaders } from './webhook-headers.ts'

const all = '*'
const extents = [
  { value: 'all', label: 'All' },
  { value: 'listed', label: 'Chosen ones' },
] as const
type Extent = (typeof extents)[number]['value']

const formats = [
  { value: 'callsign', label: 'Callsign' },
  { value: 'resend', label: 'Resend, for a receiver that reads its webhooks' },
] as const

type WebhookDialogProps = { webhook?: Webhook; onMade?: (made: CreatedWebhook) => void; onClose: () => void }

export function WebhookDialog({ webhook, onMade, onClose }: WebhookDialogProps) {
  const handles = (useIdentities().data.value ?? []).map((identity) => identity.agent_handle)
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState((webhook?.events ?? [all]).filter((event) => event !== all))
  const [eventExtent, setEventExtent] = useState<Extent>(events.length > 0 ? 'listed' : 'all')
  const [agents, setAgents] = useState(webhook?.agent_handles ?? [])
  const [agentExtent, setAgentExtent] = useState<Extent>(agents.length > 0 ? 'listed' : 'all')
  const [headers, setHeaders] = useState('')
  const [format, setFormat] = useState<Webhook['format']>('callsign')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const isIncomplete = (eventExtent === 'listed' && events.length === 0) || (agentExtent === 'listed' && agents.length === 0)
  const save = async () => {
    const fields = {
      url: url.trim(),
      events: eventExtent === 'all' ? [all] : events,
      agent_handles: agentExtent === 'all' ? null : agents,
      description: description.trim() || null,
      ...(headers.trim() ? { headers: parseHeaders(headers) } : {}),
    }
    if (webhook) await client.webhooks.update(webhook.id, fields)
    else onMade?.(await client.webhooks.create({ ...fields, format }))
    invalidate('webhooks')
  }
  return (
    <FormDialog
      title={webhook ? 'Edit the webhook' : 'New webhook'}
      action={webhook ? 'Save' : 'Create'}
      isDisabled={url.trim() === '' || isIncomplete}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField label="URL" value={url} onInput={setUrl} placeholder="https://agent.example.com/hooks" required autoFocus isMono />
      <Select label="Events" value={eventExtent} options={extents} onChange={setEventExtent} />
      {eventExtent === 'listed' && (
        <Choices title="Event types" all={eventTypes as readonly string[]} chosen={events} labelOf={(type) => type} onChange={setEvents} />
      )}
      <Select label="Agents" value={agentExtent} options={extents} onChange={setAgentExtent} />
      {agentExtent === 'listed' && (
        <Choices
          title="Only events of"
          all={[...new Set([...handles, ...agents])]}
          chosen={agents}
          labelOf={(handle) => handle}
          onChange={setAgents}
        />
      )}
      <TextArea label="Custom headers" value={headers} onInput={setHeaders} rows={2} isMono hint={headerHint(webhook)} />
      {!webhook && <Select label="Format of the bodies" value={format} options={formats} onChange={setFormat} />}
      <TextField label="Description" value={description} onInput={setDescription} />
    </FormDialog>
  )
}

function headerHint(webhook: Webhook | undefined): string {
  const names = webhook?.header_names ?? []
  const rule = 'One per line, such as Authorization: Bearer abc. Values are stored encrypted and never shown.'
  return names.length > 0 ? `${rule} Empty keeps ${names.join(', ')}.` : rule
}
