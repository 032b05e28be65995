// The pause of all sending: its notice above every screen, and the dialog that starts it.
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from './cache/query.ts'
import { Notice } from './elements/badge.tsx'
import { Button } from './elements/button.tsx'
import { TextField } from './elements/fields.tsx'
import { FormDialog } from './elements/form-dialog.tsx'
import { Time } from './elements/time.tsx'
import { attempt } from './elements/toasts.tsx'
import { client } from './session/client.ts'
import { canOperate, canReview } from './session/session.ts'

/** The organization with its limits and its pause. Agents cannot read it. */
export const useOrganization = () => useQuery(canReview.value ? 'organization' : null, () => client.organization.get())

export function PauseNotice() {
  const organization = useOrganization().data.value
  if (!organization?.paused_at) return null
  const resume = () => attempt(() => client.organization.resume(), 'Held messages are being sent').then(() => invalidate('organization'))
  return (
    <div class="pause-notice">
      <Notice tone="bad">
        <span class="row wrap">
          <span class="grow">
            All sending is paused since <Time at={organization.paused_at} form="exact" />
            {organization.pause_reason && <>: {organization.pause_reason}</>}
          </span>
          {canOperate.value && (
            <Button size="small" icon="play" onClick={() => void resume()}>
              Resume
            </Button>
          )}
        </span>
      </Notice>
    </div>
  )
}

/** Offers the pause to operators while nothing is paused. */
export function PauseButton() {
  const organization = useOrganization().data.value
  const [isAsking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  const pause = async () => {
    await client.organization.pause(reason.trim() ? { reason: reason.trim() } : {})
    setReason('')
    invalidate('organization')
  }
  if (!canOperate.value || !organization || organization.paused_at) return null
  return (
    <>
      <Button kind="danger" icon="pause" onClick={() => setAsking(true)}>
        Pause sending
      </Button>
      {isAsking && (
        <FormDialog title="Pause all sending?" action="Pause sending" done="Paused" onSubmit={pause} onClose={() => setAsking(false)}>
          <p>Mail and iMessages of every agent are held from now on, and sent when you resume. Received messages still arrive.</p>
          <TextField
            label="Reason"
            path="/reason"
            value={reason}
            onInput={setReason}
            hint="Shown above every screen and in the audit log."
            autoFocus
          />
        </FormDialog>
      )}
    </>
  )
}
