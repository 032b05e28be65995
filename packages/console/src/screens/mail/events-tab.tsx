// The events that a message caused, and the webhook deliveries of each.
import type { CallsignEvent, Delivery, Message } from '@callsign/sdk'
import { useQuery } from '../../cache/query.ts'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Id } from '../../elements/copy.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Time } from '../../elements/time.tsx'
import { client } from '../../session/client.ts'
import { role } from '../../session/session.ts'

const eventTypes = [
  'email.received',
  'email.quarantined',
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.failed',
  'email.complained',
  'email.labels_changed',
]
const pagesMax = 10
/** Deliveries looked through per webhook, newest first. */
const deliveriesMax = 100

type Caused = { event: CallsignEvent; deliveries: Delivery[] }

/** Reads the events of the mailbox since the message was stored, up to `pagesMax` pages. */
async function findEvents(handle: string, message: Message): Promise<CallsignEvent[]> {
  const found: CallsignEvent[] = []
  let cursor: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const from = cursor ? { cursor } : { since: message.created_at }
    const { data, has_more } = await client.events.list({ agent: handle, types: eventTypes.join(','), limit: 100, ...from })
    found.push(...data.filter((event) => event.data.id === message.id))
    cursor = data.at(-1)?.id
    if (!has_more || !cursor) break
  }
  return found
}

async function findCaused(handle: string, message: Message): Promise<Caused[]> {
  const events = await findEvents(handle, message)
  const webhooks = role.peek() === 'agent' ? [] : (await client.webhooks.list({ limit: 100 })).data
  const types = [...new Set(events.map((event) => event.type))]
  const logs = await Promise.all(
    webhooks.flatMap((webhook) =>
      types.map((type) => client.webhooks.deliveries(webhook.id, { event_type: type as 'email.received', limit: deliveriesMax })),
    ),
  )
  const deliveries = logs.flatMap((log) => log.data)
  return events.map((event) => ({ event, deliveries: deliveries.filter((delivery) => delivery.event_id === event.id) }))
}

const tones: Record<Delivery['status'], Tone> = { pending: 'warn', delivered: 'good', failed: 'bad' }

export function EventsTab({ handle, message }: { handle: string; message: Message }) {
  const query = useQuery(`message-events ${message.id}`, () => findCaused(handle, message))
  const caused = query.data.value
  if (!caused) return query.error.value ? <Failure error={query.error.value} onRetry={() => void query.reload()} /> : <Loading />
  if (caused.length === 0) {
    const samples = samplesOf({
      method: 'GET',
      path: `/events/stream?agent=${handle}`,
      sdk: `for await (const event of callsign.events.follow({ agent: '${handle}' })) console.log(event.type)`,
      cli: `callsign listen --agent ${handle} --forward-to http${'://'}localhost:3000/hook`,
    })
    return (
      <Empty icon="events" title="No events" samples={samples}>
        This message has not caused an event since it was stored, or its events are no longer kept.
      </Empty>
    )
  }
  return (
    <ol class="timeline">
      {caused.map(({ event, deliveries }) => (
        <li key={event.id}>
          <div class="row wrap">
            <Badge tone="accent">{event.type}</Badge>
            <Time at={event.timestamp} form="exact" />
            <Id id={event.id} name="event id" />
          </div>
          {deliveries.map((delivery) => (
            <div key={delivery.id} class="row wrap muted">
              <Badge tone={tones[delivery.status]}>{delivery.status}</Badge>
              <Id id={delivery.webhook_id} name="webhook id" />
              <span>
                {delivery.attempt_count} {delivery.attempt_count === 1 ? 'attempt' : 'attempts'}
                {delivery.last_status_code ? `, HTTP ${delivery.last_status_code}` : ''}
                {delivery.last_error_code ? `, ${delivery.last_error_code}` : ''}
              </span>
            </div>
          ))}
          {deliveries.length === 0 && <p class="faint">No webhook received this event.</p>}
        </li>
      ))}
    </ol>
  )
}
