// One draft with its warnings, its changes and its thread, and the decision about it.
import { ApiError, type Draft, type Identity } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt, toast, toastError } from '../../elements/toasts.tsx'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import { ApprovalLinkButton } from './approval-link-dialog.tsx'
import { findFirstContacts, warningsOf } from './approval-queue.ts'
import { Attachments } from './attachments.tsx'
import { openComposer } from './composer-state.ts'
import { DraftChanges } from './draft-changes.tsx'
import { MailFrame } from './mail-frame.tsx'
import { MailText } from './mail-text.tsx'
import { MessageCard } from './message-card.tsx'
import { RejectDialog } from './reject-dialog.tsx'

type DraftReviewProps = {
  handle: string
  id: string
  identities: Identity[]
  /** True when the draft has left the queue while it was open. */
  isGone: boolean
  onDecided: () => void
  onClose: () => void
}

export function DraftReview({ handle, id, identities, isGone, onDecided, onClose }: DraftReviewProps) {
  const query = useQuery(`draft ${id}`, () => client.drafts.get(handle, id))
  const draft = query.data.value
  const error = query.error.value
  if (isGone || (error instanceof ApiError && error.status === 404)) {
    return (
      <div class="review">
        <Notice>This draft was sent, rejected or deleted.</Notice>
        <Button onClick={onClose}>Back to the queue</Button>
      </div>
    )
  }
  if (!draft) return error ? <Failure error={error} onRetry={() => void query.reload()} /> : <Loading />
  return <Review handle={handle} draft={draft} identities={identities} onDecided={onDecided} onClose={onClose} />
}

type ReviewProps = Omit<DraftReviewProps, 'id' | 'isGone'> & { draft: Draft }

/** Approves exactly the version that is shown. */
async function approve(handle: string, draft: Draft): Promise<boolean> {
  try {
    await client.drafts.send(handle, draft.id, { version: draft.version })
    toast({ text: `Approved and sent to ${draft.to.join(', ')}` })
    invalidate('drafts approvals', 'overview')
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'draft_version_conflict') {
      toast({ text: 'The draft was changed while you read it. Review the new version.', tone: 'bad' })
      invalidate(`draft ${draft.id}`, 'drafts')
    } else toastError(error)
    return false
  }
}

/** Asks for approval again, after a request that has expired. */
async function renew(handle: string, draft: Draft): Promise<void> {
  await attempt(() => client.drafts.requestApproval(handle, draft.id, { version: draft.version }), 'The draft waits again')
  invalidate(`draft ${draft.id}`, 'drafts')
}

function Review({ handle, draft, identities, onDecided, onClose }: ReviewProps) {
  const [isBusy, setBusy] = useState(false)
  const [isRejecting, setRejecting] = useState(false)
  const isExpired = draft.approval?.status === 'expired'
  const onApprove = async () => {
    if (isExpired) return renew(handle, draft)
    if (isBusy) return
    setBusy(true)
    const isDone = await approve(handle, draft)
    setBusy(false)
    if (isDone) onDecided()
  }
  const edit = () => canWrite.value && openComposer({ kind: 'draft', mailbox: handle, draftId: draft.id })
  useShortcuts('Draft', [
    { keys: 'a', label: 'Approve and send', run: () => void onApprove() },
    { keys: 'e', label: 'Edit', run: edit },
    { keys: 'r', label: 'Reject', run: () => setRejecting(true) },
  ])
  return (
    <article class="review" aria-label="Draft">
      <ReviewHeader handle={handle} draft={draft} onClose={onClose} />
      <div class="review-body">
        <Warnings handle={handle} draft={draft} identities={identities} />
        <DraftContent handle={handle} draft={draft} />
        <Answered handle={handle} draft={draft} identities={identities} />
      </div>
      <footer class="review-actions">
        {isExpired ? (
          <Button kind="primary" icon="refresh" shortcut="a" onClick={() => void renew(handle, draft)}>
            Renew the request
          </Button>
        ) : (
          <Button kind="primary" icon="check" shortcut="a" disabled={isBusy || draft.to.length === 0} onClick={() => void onApprove()}>
            Approve and send
          </Button>
        )}
        {canWrite.value && (
          <Button icon="edit" shortcut="e" onClick={edit}>
            Edit
          </Button>
        )}
        <Button kind="danger" icon="close" shortcut="r" onClick={() => setRejecting(true)}>
          Reject
        </Button>
        <span class="grow" />
        {draft.approval && !isExpired && <ApprovalLinkButton handle={handle} draftId={draft.id} />}
        <Copy value={location.href} text="Copy the link" name="link" />
      </footer>
      {isRejecting && <RejectDialog handle={handle} draft={draft} onRejected={onDecided} onClose={() => setRejecting(false)} />}
    </article>
  )
}

function ReviewHeader({ handle, draft, onClose }: Pick<ReviewProps, 'handle' | 'draft' | 'onClose'>) {
  return (
    <header class="thread-header">
      <span class="only-small">
        <Button kind="quiet" icon="back" label="Back to the queue" onClick={onClose} />
      </span>
      <div class="grow">
        <h2 class="thread-subject">{draft.subject || 'No subject'}</h2>
        <div class="row faint wrap">
          <span>
            from {handle}, waiting for <Time at={draft.approval?.requested_at ?? draft.created_at} form="age" />
          </span>
          {draft.approval && (
            <span>
              expires <Time at={draft.approval.expires_at} form="exact" />
            </span>
          )}
          <Badge>version {draft.version}</Badge>
          <Id id={draft.id} name="draft id" />
        </div>
      </div>
    </header>
  )
}

function Warnings({ handle, draft, identities }: { handle: string; draft: Draft; identities: Identity[] }) {
  const recipients = [...draft.to, ...draft.cc, ...draft.bcc].join()
  const contacts = useQuery(`first-contact ${draft.id} ${recipients}`, () => findFirstContacts(handle, draft))
  const first = contacts.data.value ?? []
  const isUnchecked = contacts.error.value !== null
  const warnings = warningsOf(draft, identities)
  const isNew = draft.approval?.status !== 'expired' && !draft.approval?.reasons.length
  if (isNew && warnings.length + first.length === 0 && !isUnchecked && !draft.send_error && draft.to.length > 0) return null
  return (
    <ul class="stack" aria-label="Warnings">
      {isUnchecked && (
        <li>
          <Notice tone="warn">Earlier mail with the recipients could not be searched.</Notice>
        </li>
      )}
      {first.length > 0 && (
        <li>
          <Notice tone="warn">First contact with {first.join(', ')}.</Notice>
        </li>
      )}
      {warnings.map((warning) => (
        <li key={warning.code}>
          <Notice tone={warning.code === 'external' ? 'neutral' : 'warn'}>{warning.text}</Notice>
        </li>
      ))}
      {draft.approval?.status === 'expired' && (
        <li>
          <Notice tone="bad">The request for approval has expired. Renew it to send the draft.</Notice>
        </li>
      )}
      {draft.approval?.reasons.map((reason) => (
        <li key={reason}>
          <Notice tone="warn">{reason}</Notice>
        </li>
      ))}
      {draft.to.length === 0 && (
        <li>
          <Notice tone="warn">This draft has no recipient yet, so it cannot be sent.</Notice>
        </li>
      )}
      {draft.send_error && (
        <li>
          <Notice tone="bad">{draft.send_error}</Notice>
        </li>
      )}
    </ul>
  )
}

function DraftContent({ handle, draft }: { handle: string; draft: Draft }) {
  const rows = [
    ['To', draft.to],
    ['Cc', draft.cc],
    ['Bcc', draft.bcc],
  ] as const
  const attachments = draft.attachments
  return (
    <>
      <dl class="facts recipients">
        {rows
          .filter(([, addresses]) => addresses.length > 0)
          .map(([title, addresses]) => [<dt key={`${title}-title`}>{title}</dt>, <dd key={title}>{addresses.join(', ')}</dd>])}
        {draft.send_at && [
          <dt key="at-title">Scheduled</dt>,
          <dd key="at">
            <Time at={draft.send_at} form="exact" />
          </dd>,
        ]}
      </dl>
      {draft.version > 1 && <DraftChanges handle={handle} draft={draft} />}
      {draft.text ? <MailText text={draft.text} /> : !draft.html && <p class="faint">This draft has no text yet.</p>}
      {draft.html && <MailFrame message={{ id: draft.id, html: draft.html, attachments }} />}
      <Attachments attachments={attachments} />
    </>
  )
}

/** The message that the draft answers. */
function Answered({ handle, draft, identities }: { handle: string; draft: Draft; identities: Identity[] }) {
  const [isUnfolded, setUnfolded] = useState(false)
  const id = draft.in_reply_to_message_id ?? draft.forward_of_message_id
  const message = useQuery(id ? `message ${id}` : null, () => client.messages.get(handle, id as string)).data.value
  if (!id || !message || message.id !== id) return null
  return (
    <section class="stack">
      <h3>{draft.forward_of_message_id ? 'Forwarded message' : 'In reply to'}</h3>
      <MessageCard
        handle={handle}
        message={message}
        identities={identities}
        isUnfolded={isUnfolded}
        onToggle={() => setUnfolded(!isUnfolded)}
      />
    </section>
  )
}
