// One webhook with its deliveries, each with its attempts.
import type { Delivery, Webhook } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { forget, invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Select } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { currentTime, duration, Time } from '../../elements/time.tsx'
import { attempt, toast } from '../../elements/toasts.tsx'
import { addressOf, go, place, setQuery } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { DeliveryDialog, deliveryTones } from './delivery-dialog.tsx'
import { answerText } from './delivery-words.ts'
import { WebhookDialog } from './webhook-dialog.tsx'
import { SecretDialog } from './webhook-secret.tsx'
import { eventTexts, WebhookState } from './webhook-state.tsx'

type Open = { kind: 'delete' | 'edit' | 'replay' | 'rotate' } | { kind: 'secret'; secret: string } | { kind: 'delivery'; id: string }

export function WebhookDetail({ id }: { id: string }) {
  const webhook = useQuery(`webhooks ${id}`, () => client.webhooks.get(id))
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const remove = async () => {
    if (!(await attempt(() => client.webhooks.delete(id), 'Deleted'))) return
    forget(`webhooks ${id}`)
    invalidate('webhooks', 'overview')
    go(addressOf('/webhooks'))
  }
  return (
    <Screen
      title={webhook.data.value ? titleOf(webhook.data.value) : 'Webhook'}
      actions={<Actions webhook={webhook.data.value} id={id} onOpen={setOpen} />}
      back={{ href: addressOf('/webhooks'), label: 'All webhooks' }}
    >
      <Loaded query={webhook}>
        {(data) => <Detail webhook={data} onDelivery={(delivery) => setOpen({ kind: 'delivery', id: delivery })} />}
      </Loaded>
      {open?.kind === 'secret' && <SecretDialog secret={open.secret} onClose={close} />}
      {open?.kind === 'delivery' && <DeliveryDialog id={open.id} onClose={close} />}
      {open?.kind === 'edit' && webhook.data.value && <WebhookDialog webhook={webhook.data.value} onClose={close} />}
      {open?.kind === 'replay' && <ReplayDialog id={id} onClose={close} />}
      {open?.kind === 'rotate' && <RotateConfirm id={id} onSecret={(secret) => setOpen({ kind: 'secret', secret })} onClose={close} />}
      {open?.kind === 'delete' && (
        <Confirm
          title="Delete this webhook?"
          text="Nothing more is delivered to it."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={close}
        />
      )}
    </Screen>
  )
}

function Actions({ webhook, id, onOpen }: { webhook: Webhook | undefined; id: string; onOpen: (open: Open) => void }) {
  const test = async () => {
    await attempt(async () => {
      const { success, status_code: status, latency_ms: ms, error } = await client.webhooks.test(id)
      toast({ text: success ? `Answered ${status} in ${ms} ms` : (error ?? `Answered ${status}`), tone: success ? 'good' : 'bad' })
    })
    invalidate(`deliveries ${id}`)
  }
  const setStatus = async (status: 'active' | 'paused') => {
    if (await attempt(() => client.webhooks.update(id, { status }), status === 'active' ? 'Delivering' : 'Paused'))
      invalidate('webhooks', 'overview')
  }
  const isActive = webhook?.status === 'active'
  return (
    <>
      {canOperate.value && webhook && (
        <>
          <Button kind="primary" onClick={() => void test()}>
            Test
          </Button>
          <Button icon={isActive ? 'pause' : 'play'} onClick={() => void setStatus(isActive ? 'paused' : 'active')}>
            {isActive ? 'Pause' : 'Resume'}
          </Button>
          <Button icon="refresh" onClick={() => onOpen({ kind: 'replay' })}>
            Replay
          </Button>
          <Button icon="edit" onClick={() => onOpen({ kind: 'edit' })}>
            Edit
          </Button>
          <Button onClick={() => onOpen({ kind: 'rotate' })}>New secret</Button>
          <Button kind="danger" icon="trash" label="Delete" onClick={() => onOpen({ kind: 'delete' })} />
        </>
      )}
    </>
  )
}

const statuses = [
  { value: '', label: 'All deliveries' },
  { value: 'failed', label: 'Failed' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
] as const

function Detail({ webhook, onDelivery }: { webhook: Webhook; onDelivery: (id: string) => void }) {
  const status = (statuses.find(({ value }) => value === place.value.query.get('status'))?.value ?? '') as Delivery['status'] | ''
  const deliveries = useQuery(`deliveries ${webhook.id} ${status}`, () =>
    client.webhooks.deliveries(webhook.id, { limit: 100, ...(status ? { status } : {}) }),
  )
  return (
    <div class="stack">
      <Facts
        items={[
          ['URL', webhook.url],
          ['State', <WebhookState key="state" webhook={webhook} />],
          ['Events', eventTexts(webhook).join(', ')],
          ['Agents', webhook.agent_handles.join(', ') || 'all'],
          ...(webhook.header_names.length > 0 ? [['Headers', webhook.header_names.join(', ')] as [string, string]] : []),
          ['Format', webhook.format],
          ...(webhook.description ? [['Description', webhook.description] as [string, string]] : []),
          ['Id', <Id key="id" id={webhook.id} />],
        ]}
      />
      {webhook.old_secret_expires_at && <OldSecret until={webhook.old_secret_expires_at} />}
      {webhook.disabled_reason && <Notice tone="bad">{webhook.disabled_reason}</Notice>}
      <Select
        label="Deliveries"
        isLabelHidden
        value={status}
        options={statuses}
        onChange={(value) => setQuery({ status: value || undefined })}
      />
      <Loaded query={deliveries}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="webhooks" title="No deliveries">
              {status ? 'No delivery has this state.' : 'Test the webhook above, or wait for its next event.'}
            </Empty>
          ) : (
            <DeliveryTable deliveries={data} onOpen={onDelivery} />
          )
        }
      </Loaded>
    </div>
  )
}

/** Without the scheme, so that the host is seen first. */
const titleOf = ({ url }: Webhook): string => url.replace(/^https?:\/\//, '')

function RotateConfirm({ id, onSecret, onClose }: { id: string; onSecret: (secret: string) => void; onClose: () => void }) {
  const rotate = async () => {
    await attempt(async () => onSecret((await client.webhooks.rotateSecret(id)).secret))
    invalidate('webhooks')
  }
  return (
    <Confirm
      title="Make a new secret?"
      text="Deliveries are signed with both secrets for 24 hours, and with the new one alone from then on. An endpoint that still checks the old secret refuses every event after that."
      action="Make a new secret"
      isDanger
      onConfirm={() => void rotate()}
      onClose={onClose}
    />
  )
}

/** Counts down to the end of the old secret after a rotation. */
function OldSecret({ until }: { until: string }) {
  const left = Date.parse(until) - currentTime.value
  if (left <= 0) return null
  return (
    <Notice tone="warn">
      Deliveries are signed with the old secret too for another {duration(left)}, until <Time at={until} form="exact" />.
    </Notice>
  )
}

function DeliveryTable({ deliveries, onOpen }: { deliveries: Delivery[]; onOpen: (id: string) => void }) {
  return (
    <Table
      name="Deliveries"
      items={deliveries}
      keyOf={(delivery) => delivery.id}
      columns={[
        { title: 'Event', cell: (delivery) => <span class="mono">{delivery.event_type}</span> },
        { title: 'State', cell: (delivery) => <Badge tone={deliveryTones[delivery.status]}>{delivery.status}</Badge> },
        {
          title: 'Answer',
          cell: ({ last_status_code: status_code, last_error_code: error_code }) => answerText({ status_code, error_code }),
        },
        { title: 'Attempts', cell: (delivery) => delivery.attempt_count, isNumber: true, isMinor: true },
        { title: 'Next attempt', cell: (delivery) => delivery.next_attempt_at && <Time at={delivery.next_attempt_at} form="left" /> },
        { title: 'Time', cell: (delivery) => <Time at={delivery.created_at} /> },
        {
          title: '',
          cell: (delivery) => (
            <Button size="small" onClick={() => onOpen(delivery.id)}>
              Details<span class="visually-hidden"> of {delivery.event_type}</span>
            </Button>
          ),
        },
      ]}
    />
  )
}

const ranges = [
  { value: '3600000', label: 'The last hour' },
  { value: '86400000', label: 'The last day' },
  { value: '604800000', label: 'The last 7 days' },
] as const
const wanted = [
  { value: 'failed', label: 'Failed deliveries' },
  { value: 'missed', label: 'Events without a delivery' },
  { value: 'delivered', label: 'Delivered events again' },
] as const

function ReplayDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [range, setRange] = useState<(typeof ranges)[number]['value']>('86400000')
  const [status, setStatus] = useState<(typeof wanted)[number]['value']>('failed')
  const replay = async () => {
    const { replayed, has_more: hasMore } = await client.webhooks.replayRange(id, {
      since: new Date(Date.now() - Number(range)).toISOString(),
      status,
    })
    toast({ text: hasMore ? `${replayed} deliveries are queued. There are more: replay again.` : `${replayed} deliveries are queued` })
    invalidate(`deliveries ${id}`)
  }
  return (
    <FormDialog title="Replay events" action="Replay" onSubmit={replay} onClose={onClose}>
      <Select label="Time" value={range} options={ranges} onChange={setRange} />
      <Select label="Events" value={status} options={wanted} onChange={setStatus} />
    </FormDialog>
  )
}
