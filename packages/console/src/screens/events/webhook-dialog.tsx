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
  const known = webhook?.events.filter((event) => event !== all) ?? []
  const [events, setEvents] = useState<string[] | null>(known.length > 0 ? known : null)
  const knownAgents = webhook?.agent_handles ?? []
  const [agents, setAgents] = useState<string[] | null>(knownAgents.length > 0 ? knownAgents : null)
  const [headers, setHeaders] = useState('')
  const [format, setFormat] = useState<Webhook['format']>('callsign')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const isIncomplete = events?.length === 0 || agents?.length === 0
  const save = async () => {
    const fields = {
      url: url.trim(),
      events: events ?? [all],
      agent_handles: agents,
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
      <TextField
        label="URL"
        path="/url"
        value={url}
        onInput={setUrl}
        placeholder="https://agent.example.com/hooks"
        required
        autoFocus
        isMono
      />
      <AllOrListed label="Events" title="Event types" path="/events" all={eventTypes} chosen={events} onChange={setEvents} />
      <AllOrListed
        label="Agents"
        title="Only events of"
        path="/agent_handles"
        all={[...new Set([...handles, ...knownAgents])]}
        chosen={agents}
        onChange={setAgents}
      />
      <TextArea label="Custom headers" path="/headers" value={headers} onInput={setHeaders} rows={2} isMono hint={headerHint(webhook)} />
      {!webhook && <Select label="Format of the bodies" path="/format" value={format} options={formats} onChange={setFormat} />}
      <TextField label="Description" path="/description" value={description} onInput={setDescription} />
    </FormDialog>
  )
}

type AllOrListedProps = {
  label: string
  /** Name of the list. */
  title: string
  path: string
  all: readonly string[]
  /** null for all of them. */
  chosen: string[] | null
  onChange: (chosen: string[] | null) => void
}

function AllOrListed({ label, title, path, all: possible, chosen, onChange }: AllOrListedProps) {
  const extent: Extent = chosen === null ? 'all' : 'listed'
  return (
    <>
      <Select
        label={label}
        path={path}
        value={extent}
        options={extents}
        onChange={(wanted) => onChange(wanted === 'all' ? null : (chosen ?? []))}
      />
      {chosen && <Choices title={title} all={possible} chosen={chosen} labelOf={(one) => one} onChange={onChange} />}
    </>
  )
}

function headerHint(webhook: Webhook | undefined): string {
  const names = webhook?.header_names ?? []
  const rule = 'One per line, such as Authorization: Bearer abc. Values are stored encrypted and never shown.'
  return names.length > 0 ? `${rule} Empty keeps ${names.join(', ')}.` : rule
}
