// The requests of one tunnel, with headers, bodies and timing.
import type { Tunnel, TunnelRequest } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { RequestDialog } from './request-dialog.tsx'

/** Requests are not events, so the list is asked for while it is visible. */
const refreshMs = 2000

const captures = [
  { value: 'off', label: 'Keep the first line' },
  { value: 'headers', label: 'Keep headers' },
  { value: 'bodies', label: 'Keep headers and bodies' },
] as const
const statuses = [
  { value: 'active', label: 'Active' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'disabled', label: 'Disabled' },
] as const

export function TunnelInspector({ handle }: { handle: string }) {
  const tunnel = useQuery(`tunnels ${handle}`, () => client.tunnels.get(handle))
  const requests = useQuery(`tunnel-requests ${handle}`, () => client.tunnels.requests(handle, { limit: 100 }))
  const [open, setOpen] = useState<TunnelRequest | null>(null)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || void requests.reload(), refreshMs)
    return () => clearInterval(timer)
  }, [handle])
  const actions = (
    <ButtonLink icon="back" href={addressOf('/tunnels')}>
      All
    </ButtonLink>
  )
  return (
    <Screen title={`Tunnel of ${handle}`} actions={actions}>
      <div class="stack">
        <Loaded query={tunnel}>{(data) => <Controls tunnel={data} />}</Loaded>
        <Loaded query={requests}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon="tunnels" title="No requests yet">
                Requests to the public URL appear here.
              </Empty>
            ) : (
              <RequestTable requests={data} onOpen={setOpen} />
            )
          }
        </Loaded>
      </div>
      {open && <RequestDialog handle={handle} request={open} onClose={() => setOpen(null)} />}
    </Screen>
  )
}

function Controls({ tunnel }: { tunnel: Tunnel }) {
  const change = async (body: { capture: Tunnel['capture'] } | { status: Tunnel['status'] }) => {
    if (await attempt(() => client.tunnels.update(tunnel.agent_handle, body), 'Saved')) invalidate('tunnels')
  }
  return (
    <div class="row wrap">
      <Copy value={tunnel.public_url} name="URL" />
      <Badge tone={tunnel.is_connected ? 'good' : 'neutral'}>{tunnel.is_connected ? 'connected' : 'not connected'}</Badge>
      {canOperate.value && (
        <>
          <Select
            label="Capture"
            isLabelHidden
            value={tunnel.capture}
            options={captures}
            onChange={(capture) => void change({ capture })}
          />
          <Select label="Status" isLabelHidden value={tunnel.status} options={statuses} onChange={(status) => void change({ status })} />
        </>
      )}
    </div>
  )
}

const toneOf = (status: number | null): Tone => (status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

function RequestTable({ requests, onOpen }: { requests: TunnelRequest[]; onOpen: (request: TunnelRequest) => void }) {
  return (
    <Table
      name="Requests"
      items={requests}
      keyOf={(request) => request.id}
      columns={[
        { title: 'Time', cell: (request) => <Time at={request.created_at} form="exact" />, isMinor: true },
        { title: 'Answer', cell: (request) => <Badge tone={toneOf(request.status)}>{request.status ?? request.error}</Badge> },
        { title: 'Request', cell: (request) => <span class="mono">{`${request.method} ${request.path}`}</span> },
        { title: 'Duration', cell: (request) => `${request.duration_ms} ms`, isNumber: true },
        { title: 'Size', cell: (request) => `${request.response_bytes} B`, isNumber: true, isMinor: true },
        {
          title: '',
          cell: (request) => (
            <Button size="small" onClick={() => onOpen(request)}>
              Inspect
            </Button>
          ),
        },
      ]}
    />
  )
}
