// One request through a tunnel: facts, request, response, and ways to send it again.
import type { Tunnel, TunnelRequest } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf, go, place, setQuery } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { answerOf, bytes, toneOf } from './request-facts.ts'
import { curlOf, headerOf, readBody, textOf } from './request-text.ts'

const tabs = [
  { id: 'request', label: 'Request' },
  { id: 'response', label: 'Response' },
] as const

type RequestViewProps = { tunnel: Tunnel; publicUrl: string; request: TunnelRequest; onClose: () => void }

export function RequestView({ tunnel, publicUrl, request, onClose }: RequestViewProps) {
  const handle = tunnel.agent_handle
  const refusal = tunnel.status === 'active' ? request.replay_refusal : `This tunnel is ${tunnel.status}. Nothing goes through it.`
  const [isEditing, setEditing] = useState(false)
  const tab = place.value.query.get('tab') === 'response' ? 'response' : 'request'
  const open = (sent: TunnelRequest) => {
    invalidate('tunnel-requests')
    go(addressOf(`/tunnels/${handle}/${sent.id}`, Object.fromEntries(place.peek().query)))
  }
  const replay = () => void attempt(async () => open(await client.tunnels.replay(handle, request.id)), 'Sent again')
  useShortcuts(
    'Request',
    canWrite.value
      ? [
          { keys: 'r', label: 'Replay', run: () => refusal === null && replay() },
          { keys: 'e', label: 'Edit and replay', run: () => setEditing(true) },
        ]
      : [],
  )
  return (
    <article class="review" aria-label="Request">
      <RequestHeader handle={handle} request={request} onClose={onClose} />
      <div class="row wrap request-actions">
        {canWrite.value && (
          <>
            <Button kind="primary" icon="refresh" shortcut="r" disabled={refusal !== null} onClick={replay}>
              Replay
            </Button>
            <Button icon="edit" shortcut="e" onClick={() => setEditing(true)}>
              Edit and replay
            </Button>
          </>
        )}
        <Copy value={curlOf(publicUrl, request)} text="Copy as curl" name="curl command" />
        {canWrite.value && refusal !== null && <p class="faint replay-note">{refusal}</p>}
      </div>
      <div class="review-body">
        <Tabs tabs={tabs} selected={tab} name="Part" onSelect={(id) => setQuery({ tab: id === 'request' ? undefined : id })}>
          <Part key={`${request.id} ${tab}`} part={partOf(request, tab)} />
        </Tabs>
      </div>
      {isEditing && <ReplayDialog handle={handle} request={request} onSent={open} onClose={() => setEditing(false)} />}
    </article>
  )
}

function RequestHeader({ handle, request, onClose }: Pick<RequestViewProps, 'request' | 'onClose'> & { handle: string }) {
  return (
    <header class="thread-header">
      <span class="only-small">
        <Button kind="quiet" icon="back" label="Back to the requests" onClick={onClose} />
      </span>
      <div class="grow">
        <h2 class="request-title mono">
          {request.method} {request.path}
        </h2>
        <div class="row faint wrap">
          <Badge tone={toneOf(request.status)}>{answerOf(request)}</Badge>
          <span>{request.duration_ms} ms</span>
          <Time at={request.created_at} form="exact" />
          <span>from {request.remote_address}</span>
          <span>
            {bytes(request.request_bytes)} in, {bytes(request.response_bytes)} out
          </span>
          <Id id={request.id} name="request id" />
          {request.replay_of && <a href={addressOf(`/tunnels/${handle}/${request.replay_of}`)}>replay of another</a>}
        </div>
      </div>
    </header>
  )
}

type Part = { headers: [string, string][] | null; body: string | null; isCut: boolean; name: string }

const partOf = (request: TunnelRequest, tab: 'request' | 'response'): Part =>
  tab === 'request'
    ? { headers: request.request_headers, body: request.request_body, isCut: request.request_body_truncated, name: 'Request' }
    : { headers: request.response_headers, body: request.response_body, isCut: request.response_body_truncated, name: 'Response' }

function Part({ part: { headers, body, isCut, name } }: { part: Part }) {
  if (!headers) return <p class="faint">{name} headers were not captured. Choose to keep headers above, and send the request again.</p>
  return (
    <div class="stack">
      <dl class="facts header-fields mono">
        {headers.map(([field, value], index) => [
          <dt key={`${index} name`}>{field}</dt>,
          <dd key={index} class={value.includes('(masked)') ? 'faint' : undefined}>
            {value}
          </dd>,
        ])}
      </dl>
      {body === null ? (
        <p class="faint">No body was captured.</p>
      ) : (
        <BodyView body={body} type={headerOf(headers, 'content-type')} isCut={isCut} />
      )}
      {isCut && <p class="faint">The body is longer. Its first 64 KB were captured.</p>}
    </div>
  )
}

function BodyView({ body, type, isCut }: { body: string; type: string; isCut: boolean }) {
  const [isRaw, setRaw] = useState(false)
  const read = readBody(body, type, isCut)
  const raw = textOf(body, isCut)
  if (read.kind === 'bytes') return <p class="faint">{`${bytes(read.size)} of ${type || 'unknown type'}`}</p>
  return (
    <section class="stack" aria-label="Body">
      <div class="row">
        <span class="faint grow">{type || 'Body'}</span>
        {read.kind !== 'text' && (
          <Button size="small" isPressed={isRaw} onClick={() => setRaw(!isRaw)}>
            Raw
          </Button>
        )}
        <Copy value={raw ?? ''} text="Copy" name="body" />
      </div>
      {read.kind === 'form' && !isRaw ? (
        <dl class="facts mono">
          {read.fields.map(([field, value], index) => [<dt key={`${index} name`}>{field}</dt>, <dd key={index}>{value}</dd>])}
        </dl>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long body scrolls, so it needs the keyboard
        <pre class="pre" tabIndex={0}>
          {isRaw || read.kind === 'form' ? raw : read.text}
        </pre>
      )}
    </section>
  )
}
