// A draft in its thread, or alone: its recipients, its text, and the ways to go on with it.
import type { Draft } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Badge } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf } from '../../navigation/place.ts'
import { client } from '../../session/client.ts'
import { canReview, canWrite } from '../../session/session.ts'
import { Attachments } from './attachments.tsx'
import { openComposer } from './composer-state.ts'
import { invalidateDrafts } from './draft-editor.ts'
import { MailText } from './mail-text.tsx'

export function DraftBadge({ draft }: { draft: Draft }) {
  if (draft.approval?.status === 'expired') return <Badge tone="bad">approval expired</Badge>
  if (draft.approval) return <Badge tone="warn">waits for approval</Badge>
  if (draft.send_error) return <Badge tone="bad">not sent</Badge>
  return draft.send_at ? <Badge tone="accent">scheduled</Badge> : <Badge>draft</Badge>
}

/** A draft that a person can continue. It is neither scheduled nor waiting for approval. */
export const isUnfinished = (draft: Draft): boolean => draft.approval === null && draft.send_at === null

export function DraftCard({ handle, draft }: { handle: string; draft: Draft }) {
  const [isDiscarding, setDiscarding] = useState(false)
  const discard = async () => {
    if (await attempt(() => client.drafts.delete(handle, draft.id), 'Draft discarded')) invalidateDrafts()
  }
  return (
    <article class="message-card draft-card" aria-label="Draft">
      <div class="message-card-body">
        <div class="row wrap">
          <DraftBadge draft={draft} />
          <span class="grow truncate">{draft.to.length > 0 ? `To ${draft.to.join(', ')}` : 'No recipient yet'}</span>
          <span class="faint">
            {draft.send_at ? (
              <>
                to be sent <Time at={draft.send_at} form="exact" />
              </>
            ) : (
              <>
                changed <Time at={draft.updated_at} />
              </>
            )}
          </span>
        </div>
        {draft.text ? <MailText text={draft.text} /> : <p class="faint">This draft has no text yet.</p>}
        <Attachments attachments={draft.attachments} readText={(id) => client.drafts.attachmentText(handle, draft.id, id)} />
        <DraftActions handle={handle} draft={draft} onDiscard={() => setDiscarding(true)} />
      </div>
      {isDiscarding && (
        <Confirm
          title="Discard this draft?"
          text="The draft and its files are deleted permanently."
          action="Discard"
          isDanger
          onConfirm={() => void discard()}
          onClose={() => setDiscarding(false)}
        />
      )}
    </article>
  )
}

type DraftActionsProps = { handle: string; draft: Draft; onDiscard: () => void }

function DraftActions({ handle, draft, onDiscard }: DraftActionsProps) {
  return (
    <div class="row">
      {canWrite.value && (
        <Button
          size="small"
          kind={isUnfinished(draft) ? 'primary' : 'default'}
          icon="edit"
          onClick={() => openComposer({ kind: 'draft', mailbox: handle, draftId: draft.id })}
        >
          {isUnfinished(draft) ? 'Continue writing' : 'Edit'}
        </Button>
      )}
      {draft.approval && canReview.value && (
        <ButtonLink size="small" icon="approvals" href={addressOf(`/approvals/${handle}/${draft.id}`)}>
          Review
        </ButtonLink>
      )}
      {canWrite.value && (
        <Button size="small" kind="quiet" icon="trash" onClick={onDiscard}>
          Discard
        </Button>
      )}
    </div>
  )
}
