// Rejects a draft with a reason that the agent receives.
import type { Draft } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { TextArea } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { client } from '../../session/client.ts'

type RejectDialogProps = { handle: string; draft: Draft; onRejected: () => void; onClose: () => void }

export function RejectDialog({ handle, draft, onRejected, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const reject = async () => {
    try {
      await client.drafts.reject(handle, draft.id, { version: draft.version, ...(reason.trim() ? { reason: reason.trim() } : {}) })
    } finally {
      invalidate('drafts', 'overview')
    }
    onClose()
    onRejected()
  }
  return (
    <Dialog title="Reject this draft" onClose={onClose}>
      <Form done="Rejected" onSubmit={reject}>
        <TextArea
          label="Reason"
          path="/reason"
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
      </Form>
    </Dialog>
  )
}
