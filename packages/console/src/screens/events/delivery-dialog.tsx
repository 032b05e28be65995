// One delivery: its next attempt, what the endpoint answered to each attempt, and its event.
import type { DeliveryDetail } from '@callsign/sdk'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { answerText } from './delivery-words.ts'

export const deliveryTones: Record<DeliveryDetail['status'], Tone> = { delivered: 'good', pending: 'warn', failed: 'bad' }

export function DeliveryDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const delivery = useQuery(`delivery ${id}`, () => client.webhooks.delivery(id))
  const replay = async () => {
    if (await attempt(() => client.webhooks.replay(id), 'Queued again')) invalidate('deliver')
  }
  const footer = canOperate.value && (
    <Button kind="primary" icon="refresh" onClick={() => void replay()}>
      Deliver again
    </Button>
  )
  return (
    <Dialog title="Delivery" isWide footer={footer} onClose={onClose}>
      <Loaded query={delivery}>{(data) => <Delivery delivery={data} />}</Loaded>
    </Dialog>
  )
}

function Delivery({ delivery }: { delivery: DeliveryDetail }) {
  const { status, next_attempt_at: nextAt, attempts } = delivery
  return (
    <div class="stack">
      <Facts
        items={[
          [
            'State',
            <Badge key="state" tone={deliveryTones[status]}>
              {status}
            </Badge>,
          ],
          [
            'Next attempt',
            nextAt ? <NextAttempt key="next" at={nextAt} /> : status === 'failed' ? 'None. The retries have ended.' : 'None',
          ],
        ]}
      />
      <h3>Attempts</h3>
      {attempts.length === 0 && <p class="faint">The first attempt has not ended yet.</p>}
      <ol class="attempts" aria-label="Attempts">
        {attempts.toReversed().map((one) => (
          <Attempt key={one.attempt} attempt={one} />
        ))}
      </ol>
      <h3>Event</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long event scrolls, so it needs the keyboard */}
      <pre class="pre event-json" tabIndex={0}>
        {JSON.stringify(delivery.event, null, 2)}
      </pre>
    </div>
  )
}

const NextAttempt = ({ at }: { at: string }) => (
  <>
    <Time at={at} form="left" /> <span class="faint">({<Time at={at} form="exact" />})</span>
  </>
)

function Attempt({ attempt: one }: { attempt: DeliveryDetail['attempts'][number] }) {
  return (
    <li class="stack">
      <span class="row wrap">
        <strong>{one.attempt}</strong>
        <Badge tone={one.error_code ? 'bad' : 'good'}>{answerText(one)}</Badge>
        <span class="grow faint">
          <Time at={one.started_at} form="exact" />
        </span>
        <span class="faint">{one.duration_ms.toLocaleString()} ms</span>
      </span>
      {one.error && <p class="anywhere">{one.error}</p>}
      {one.response_snippet && (
        <>
          <span class="faint">The endpoint answered:</span>
          <pre class="pre">{one.response_snippet}</pre>
        </>
      )}
    </li>
  )
}
