// One request through a tunnel, with replay and the same request as curl.
import type { TunnelRequest } from '@callsign/sdk'
import { invalidate } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'
import { bodyText, curlOf } from './request-text.ts'

type RequestDialogProps = { handle: string; request: TunnelRequest; onClose: () => void }

export function RequestDialog({ handle, request, onClose }: RequestDialogProps) {
  const replay = async () => {
    if (await attempt(() => client.tunnels.replay(handle, request.id), 'Sent again')) invalidate('tunnel-requests')
  }
  const footer = (
    <>
      <Copy value={curlOf(location.protocol, request)} text="Copy as curl" name="curl command" />
      <Button kind="primary" icon="refresh" onClick={() => void replay()}>
        Replay
      </Button>
    </>
  )
  return (
    <Dialog title={`${request.method} ${request.path}`} isWide footer={footer} onClose={onClose}>
      <div class="stack">
        <Facts
          items={[
            ['Answer', String(request.status ?? request.error)],
            ['Time', <Time key="time" at={request.created_at} form="exact" />],
            ['Duration', `${request.duration_ms} ms`],
            ['From', request.remote_address],
            ['Bytes', `${request.request_bytes} in, ${request.response_bytes} out`],
          ]}
        />
        <Part title="Request" headers={request.request_headers} body={request.request_body} isCut={request.request_body_truncated} />
        <Part title="Response" headers={request.response_headers} body={request.response_body} isCut={request.response_body_truncated} />
      </div>
    </Dialog>
  )
}

type PartProps = { title: string; headers: [string, string][] | null; body: string | null; isCut: boolean }

function Part({ title, headers, body, isCut }: PartProps) {
  const type = headers?.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return (
    <section class="stack">
      <h3>{title}</h3>
      {headers ? (
        <pre class="pre">{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      ) : (
        <p class="faint">The capture mode keeps no headers.</p>
      )}
      {body !== null && <pre class="pre">{bodyText(body, type)}</pre>}
      {isCut && <p class="faint">The body is cut.</p>}
    </section>
  )
}
