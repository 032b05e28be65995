// The requests of one tunnel beside the opened one, as they arrive.
import type { Tunnel, TunnelRequest } from '@callsign/sdk'
import { useEffect } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf, go, place, setQuery } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { answerOf, matches, statusClasses, toneOf } from './request-facts.ts'
import { RequestView } from './request-view.tsx'

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

export function TunnelInspector({ handle, openId }: { handle: string; openId: string | undefined }) {
  const tunnel = useQuery(`tunnels ${handle}`, () => client.tunnels.get(handle))
  const requests = useQuery(`tunnel-requests ${handle}`, () => client.tunnels.requests(handle, { limit: 100 }))
  useEffect(() => {
    const timer = setInterval(() => document.hidden || void requests.reload(), refreshMs)
    return () => clearInterval(timer)
  }, [handle])
  return (
    <Screen title={`Tunnel of ${handle}`} back={{ href: addressOf('/tunnels'), label: 'All tunnels' }} isFlush>
      <div class="inspector-panes">
        <Loaded query={tunnel}>
          {(data) => (
            <>
              <Controls tunnel={data} />
              <Loaded query={requests}>{(page) => <Requests tunnel={data} all={page.data} openId={openId} />}</Loaded>
            </>
          )}
        </Loaded>
      </div>
    </Screen>
  )
}

const keptNotes: Record<Tunnel['capture'], string> = {
  off: 'The first line of the latest 200 requests is kept for a day. They cannot be replayed.',
  headers: 'Headers of the latest 200 requests are kept for a day, with secrets masked. Requests with a body cannot be replayed.',
  bodies: 'Headers and the first 64 KB of bodies of the latest 200 requests are kept for a day, encrypted and with secrets masked.',
}

/** The address that works. */
const urlOf = (tunnel: Tunnel): string => tunnel.local_url ?? tunnel.public_url

function Controls({ tunnel }: { tunnel: Tunnel }) {
  const change = async (body: { capture: Tunnel['capture'] } | { status: Tunnel['status'] }) => {
    if (await attempt(() => client.tunnels.update(tunnel.agent_handle, body), 'Saved')) invalidate('tunnels')
  }
  return (
    <div class="row wrap toolbar">
      <Copy value={urlOf(tunnel)} name="URL" />
      <Badge tone={tunnel.is_connected ? 'good' : 'neutral'}>{tunnel.is_connected ? 'connected' : 'not connected'}</Badge>
      <span class="grow" />
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
      <span class="faint kept-note">{keptNotes[tunnel.capture]}</span>
    </div>
  )
}

type RequestsProps = { tunnel: Tunnel; all: TunnelRequest[]; openId: string | undefined }

function Requests({ tunnel, all, openId }: RequestsProps) {
  const { query } = place.value
  const text = query.get('q') ?? ''
  const statusClass = statusClasses.find(({ value }) => value === query.get('status'))?.value ?? ''
  const shown = all.filter((request) => matches(request, text, statusClass))
  const at = shown.findIndex((request) => request.id === openId)
  const handle = tunnel.agent_handle
  const linkTo = (id: string) => addressOf(`/tunnels/${handle}/${id}`, Object.fromEntries(query))
  const close = () => go(addressOf(`/tunnels/${handle}`, Object.fromEntries(query)))
  const open = (index: number) => {
    const next = shown[index]
    if (next) go(linkTo(next.id), { replace: openId !== undefined })
  }
  useShortcuts('Requests', [
    { keys: 'j', label: 'Next request', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous request', run: () => open(Math.max(0, at - 1)) },
    { keys: '/', label: 'Filter', run: () => document.querySelector<HTMLInputElement>('.request-filter input')?.focus() },
    { keys: 'Escape', label: 'Close the request', run: close },
  ])
  const request = all.find((one) => one.id === openId)
  if (all.length === 0) return <NoRequests handle={handle} />
  return (
    <div class={`split${openId ? ' has-open' : ''}`}>
      <div class="split-list">
        <div class="row request-filter">
          <div class="grow">
            <TextField
              label="Filter by method or path"
              isLabelHidden
              placeholder="Method or path"
              value={text}
              onInput={(value) => setQuery({ q: value || undefined })}
            />
          </div>
          <Select
            label="Answer"
            isLabelHidden
            value={statusClass}
            options={statusClasses}
            onChange={(value) => setQuery({ status: value || undefined })}
          />
        </div>
        <RequestList requests={shown} openId={openId} linkTo={linkTo} />
      </div>
      <div class="split-open">
        {request ? (
          <RequestView key={request.id} tunnel={tunnel} publicUrl={urlOf(tunnel)} request={request} onClose={close} />
        ) : (
          <p class="mail-hint faint">{openId ? 'This request is not among the latest 100.' : 'Choose a request, or press j.'}</p>
        )}
      </div>
    </div>
  )
}

function NoRequests({ handle }: { handle: string }) {
  return (
    <Empty icon="tunnels" title="No requests yet">
      Requests to the public URL appear here. Connect a local port with <code>callsign tunnel 3000 --agent {handle}</code>.
    </Empty>
  )
}

type RequestListProps = { requests: TunnelRequest[]; openId: string | undefined; linkTo: (id: string) => string }

function RequestList({ requests, openId, linkTo }: RequestListProps) {
  const slowest = Math.max(1, ...requests.map((request) => request.duration_ms))
  if (requests.length === 0) return <p class="mail-hint faint">No request matches the filter.</p>
  return (
    <ul aria-label="Requests">
      {requests.map((request) => (
        <li key={request.id}>
          <a class="request-row" href={linkTo(request.id)} aria-current={request.id === openId ? 'true' : undefined}>
            <Badge tone={toneOf(request.status)}>{answerOf(request)}</Badge>
            <span class="mono truncate grow">
              <b>{request.method}</b> {request.path}
            </span>
            <span class="faint">
              <Time at={request.created_at} />
            </span>
            <span class="request-duration faint">
              <span class="bar" style={{ width: `${Math.max(2, (request.duration_ms / slowest) * 100)}%` }} />
              {request.duration_ms} ms
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
