// Changes a captured request and sends it through the tunnel.
import type { TunnelRequest } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { TextArea, TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { client } from '../../session/client.ts'
import { readHeaderLines, textOf, toBase64, toHeaderLines } from './request-text.ts'

type ReplayDialogProps = { handle: string; request: TunnelRequest; onSent: (sent: TunnelRequest) => void; onClose: () => void }

export function ReplayDialog({ handle, request, onSent, onClose }: ReplayDialogProps) {
  const captured = {
    headers: toHeaderLines(request.request_headers),
    body: request.request_body === null ? '' : textOf(request.request_body, request.request_body_truncated),
  }
  const [method, setMethod] = useState(request.method)
  const [path, setPath] = useState(request.path)
  const [headers, setHeaders] = useState(captured.headers)
  const [body, setBody] = useState(captured.body)
  const send = async () => {
    // Parts that are unchanged and whole stay with the server, which has them in every detail.
    const hasNewHeaders = headers !== captured.headers || request.request_headers === null
    const hasNewBody = body !== null && (body !== captured.body || request.request_body_truncated || request.request_body === null)
    onSent(
      await client.tunnels.replay(handle, request.id, {
        method: method.trim().toUpperCase(),
        path: path.trim(),
        ...(hasNewHeaders ? { headers: readHeaderLines(headers) } : {}),
        ...(hasNewBody ? { body: toBase64(body) } : {}),
      }),
    )
  }
  return (
    <FormDialog title="Edit and replay" action="Send" isWide isDisabled={!method.trim() || !path.trim()} onSubmit={send} onClose={onClose}>
      <div class="request-line">
        <TextField label="Method" path="/method" value={method} onInput={setMethod} required isMono />
        <TextField label="Path" path="/path" value={path} onInput={setPath} required isMono autoFocus />
      </div>
      <TextArea
        label="Headers"
        path="/headers"
        hint="One per line. Masked values are left out."
        value={headers}
        onInput={setHeaders}
        rows={6}
        isMono
      />
      {body === null ? (
        <p class="faint">The body is not text. It is sent unchanged.</p>
      ) : (
        <TextArea
          label="Body"
          path="/body"
          hint={request.request_body_truncated ? 'The captured body was cut. Complete it before you send it.' : undefined}
          value={body}
          onInput={setBody}
          rows={8}
          isMono
        />
      )}
    </FormDialog>
  )
}
