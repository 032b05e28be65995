// The one-time link that decides on a draft without signing in, for example on a phone.
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { WholeValue } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

export function ApprovalLinkButton({ handle, draftId }: { handle: string; draftId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        icon="phone"
        title="Makes a link that approves or rejects this version once, without signing in"
        onClick={() => setOpen(true)}
      >
        Link for one decision
      </Button>
      {isOpen && <ApprovalLinkDialog handle={handle} draftId={draftId} onClose={() => setOpen(false)} />}
    </>
  )
}

function ApprovalLinkDialog({ handle, draftId, onClose }: { handle: string; draftId: string; onClose: () => void }) {
  const link = useQuery(`approval-link ${draftId}`, () => client.approvals.createLink(handle, draftId))
  const revoke = async () => {
    if (!(await attempt(() => client.approvals.revokeLink(handle, draftId), 'The link is no longer valid'))) return
    invalidate(`draft ${draftId}`)
    onClose()
  }
  const footer = (
    <>
      <Button kind="danger" onClick={() => void revoke()}>
        Revoke
      </Button>
      <Button onClick={onClose}>Done</Button>
    </>
  )
  return (
    <Dialog title="Link for one decision" footer={footer} onClose={onClose}>
      <div class="stack">
        <Notice tone="warn">The holder of the link approves or rejects this version once, without signing in.</Notice>
        <Loaded query={link}>
          {({ url, expires_at: expiresAt }) => (
            <>
              <WholeValue value={url} name="link" />
              <p class="faint">
                Valid until <Time at={expiresAt} form="exact" />, and until the draft changes.
              </p>
            </>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}
