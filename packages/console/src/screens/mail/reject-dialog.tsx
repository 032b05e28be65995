// Rejects a draft with a reason that the agent receives.
import type { Draft } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { TextArea } from '../../elements/fields.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

type RejectDialogProps = { handle: string; draft: Draft; onRejected: () => void; onClose: () => void }

export function RejectDialog({ handle, draft, onRejected, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const reject = async (event: Event) => {
    event.preventDefault()
    const body = { version: draft.version, ...(reason.trim() ? { reason: reason.trim() } : {}) }
    const isDone = await attempt(() => client.drafts.reject(handle, draft.id, body), 'Rejected')
    onClose()
    if (isDone) onRejected()
    invalidate('drafts', 'overview')
  }
  return (
    <Dialog title="Reject this draft" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void reject(event)}>
        <TextArea
          label="Reason"
          hint="The agent receives it with the event draft.rejected. The draft is deleted."
          rows={4}
          value={reason}
          onInput={setReason}
          autoFocus
        />
        <div class="row">
          <span class="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit">
            Reject
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
