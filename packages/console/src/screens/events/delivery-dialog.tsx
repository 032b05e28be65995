// One delivery with its attempts and its event.
import type { DeliveryDetail } from '@callsign/sdk'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'

export function DeliveryDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const delivery = useQuery(`delivery ${id}`, () => client.webhooks.delivery(id))
  const replay = async () => {
    if (await attempt(() => client.webhooks.replay(id), 'Queued again')) invalidate('deliver')
  }
  const footer = canOperate.value && (
    <Button kind="primary" icon="refresh" onClick={() => void replay()}>
      Replay
    </Button>
  )
  return (
    <Dialog title="Delivery" isWide footer={footer} onClose={onClose}>
      <Loaded query={delivery}>{(data) => <Attempts delivery={data} />}</Loaded>
    </Dialog>
  )
}

function Attempts({ delivery }: { delivery: DeliveryDetail }) {
  return (
    <div class="stack">
      <Table
        name="Attempts"
        items={delivery.attempts}
        keyOf={(one) => String(one.attempt)}
        columns={[
          { title: 'No.', cell: (one) => one.attempt, isNumber: true },
          { title: 'Time', cell: (one) => <Time at={one.started_at} form="exact" /> },
          { title: 'Answer', cell: (one) => <Badge tone={one.error_code ? 'bad' : 'good'}>{one.status_code ?? one.error_code}</Badge> },
          { title: 'Duration', cell: (one) => `${one.duration_ms} ms`, isNumber: true, isMinor: true },
          { title: 'Problem', cell: (one) => one.error ?? one.response_snippet, isMinor: true },
        ]}
      />
      <pre class="pre">{JSON.stringify(delivery.event, null, 2)}</pre>
    </div>
  )
}
