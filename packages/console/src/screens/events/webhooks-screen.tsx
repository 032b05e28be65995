// Webhooks with their state, and the form that creates one.
import type { CreatedWebhook } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { listAll } from '../../cache/list-all.ts'
import { useQuery } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf } from '../../navigation/place.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { WebhookDetail } from './webhook-detail.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { SecretDialog } from './webhook-secret.tsx'
import { eventTexts, WebhookState } from './webhook-state.tsx'

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
                { title: 'State', cell: (webhook) => <WebhookState webhook={webhook} /> },
                { title: 'Events', cell: (webhook) => eventTexts(webhook).join(', '), isMinor: true },
                { title: 'Agents', cell: (webhook) => webhook.agent_handles.join(', ') || 'all', isMinor: true },
                { title: 'Created', cell: (webhook) => <Time at={webhook.created_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Loaded>
      {isCreating && <WebhookDialog onMade={setMade} onClose={() => setCreating(false)} />}
      {made?.secret && <SecretDialog secret={made.secret} onClose={() => setMade(null)} />}
    </Screen>
  )
}
