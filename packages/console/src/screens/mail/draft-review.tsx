// One draft with its warnings, its changes and its thread, and the decision about it.
import { ApiError, type Draft, type Identity, type DraftReview as MessageReview } from '@callsign/sdk'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canWrite } from '../../session/session.ts'
import { ApprovalLinkButton } from './approval-link-dialog.tsx'
import { approve, isJustOpened, isPending, noteDecision, undoApproval } from './approving.ts'
import { Attachments, sizeText } from './attachments.tsx'
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

/** Asks for approval again, after a request that has expired. */
async function renew(handle: string, draft: Draft): Promise<void> {
  await attempt(() => client.drafts.requestApproval(handle, draft.id, { version: draft.version }), 'The draft waits again')
  invalidate(`draft ${draft.id}`, 'drafts')
}

type ActionsProps = {
  handle: string
  draft: Draft
  isSending: boolean
  isExpired: boolean
  canApprove: boolean
  onApprove: () => void
  onEdit: () => void
  onReject: () => void
}

function ReviewActions({ handle, draft, isSending, isExpired, canApprove, onApprove, onEdit, onReject }: ActionsProps) {
  return (
    <footer class="review-actions">
      {isExpired ? (
        <Button kind="primary" icon="refresh" shortcut="a" onClick={onApprove}>
          Renew the request
        </Button>
      ) : (
        <Button kind="primary" icon="check" shortcut="a" disabled={!canApprove} onClick={onApprove}>
          {isSending ? 'Sending' : 'Approve and send'}
        </Button>
      )}
      {isSending && (
        <Button icon="back" shortcut="u" onClick={() => undoApproval(draft)}>
          Undo
        </Button>
      )}
      {canWrite.value && !isSending && (
        <Button icon="edit" shortcut="e" onClick={onEdit}>
          Edit
        </Button>
      )}
      {!isSending && (
        <Button kind="danger" icon="close" shortcut="r" onClick={onReject}>
          Reject
        </Button>
      )}
      <span class="grow" />
      {draft.approval && !isExpired && <ApprovalLinkButton handle={handle} draftId={draft.id} />}
      <Copy
        value={location.href}
        text="Link to this page"
        name="link to this page"
        title="Copies the address of this page, which people open signed in"
      />
    </footer>
  )
}

/** A reference that is false once the component is gone. */
function useIsOpen() {
  const isOpen = useRef(true)
  useEffect(
    () => () => {
      isOpen.current = false
    },
    [],
  )
  return isOpen
}

function Review({ handle, draft, identities, onDecided, onClose }: ReviewProps) {
  const [isRejecting, setRejecting] = useState(false)
  const query = useQuery(`draft-review ${draft.id} ${draft.version}`, () => client.drafts.review(handle, draft.id))
  const review = query.data.value?.version === draft.version ? query.data.value : null
  const sending = useMemo(() => isPending(draft.id), [draft.id]).value
  const isOpen = useIsOpen()
  const isExpired = draft.approval?.status === 'expired'
  const canApprove = review !== null && !sending && draft.to.length + draft.cc.length + draft.bcc.length > 0
  const onApprove = () => {
    if (isJustOpened()) return
    if (isExpired) void renew(handle, draft)
    else if (canApprove) approve(handle, draft, () => isOpen.current && onDecided())
  }
  const edit = () => canWrite.value && !sending && openComposer({ kind: 'draft', mailbox: handle, draftId: draft.id })
  const reject = () => !isJustOpened() && !sending && setRejecting(true)
  useShortcuts('Draft', [
    { keys: 'a', label: 'Approve and send', run: onApprove },
    { keys: 'u', label: 'Undo the approval', run: () => undoApproval(draft) },
    { keys: 'e', label: 'Edit', run: edit },
    { keys: 'r', label: 'Reject', run: reject },
  ])
  const onRejected = () => {
    noteDecision()
    onDecided()
  }
  return (
    <article class="review" aria-label="Draft">
      <ReviewHeader handle={handle} draft={draft} onClose={onClose} />
      <div class="review-body">
        {review ? (
          <>
            <Warnings draft={draft} review={review} />
            <DraftContent handle={handle} draft={draft} review={review} />
          </>
        ) : query.error.value ? (
          <Failure error={query.error.value} onRetry={() => void query.reload()} />
        ) : (
          <Loading />
        )}
        <Answered handle={handle} draft={draft} identities={identities} />
      </div>
      <ReviewActions
        handle={handle}
        draft={draft}
        isSending={sending}
        isExpired={isExpired}
        canApprove={canApprove}
        onApprove={onApprove}
        onEdit={edit}
        onReject={reject}
      />
      {isRejecting && <RejectDialog handle={handle} draft={draft} onRejected={onRejected} onClose={() => setRejecting(false)} />}
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

function Warnings({ draft, review }: { draft: Draft; review: MessageReview }) {
  const isExpired = draft.approval?.status === 'expired'
  if (review.warnings.length === 0 && !isExpired && !draft.send_error) return null
  return (
    <ul class="stack" aria-label="Warnings">
      {review.warnings.map(({ code, text }) => (
        <li key={text}>
          <Notice tone={code === 'external' ? 'neutral' : 'warn'}>{text}</Notice>
        </li>
      ))}
      {isExpired && (
        <li>
          <Notice tone="bad">The request for approval has expired. Renew it to send the draft.</Notice>
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

function DraftContent({ handle, draft, review }: { handle: string; draft: Draft; review: MessageReview }) {
  const forwarded = review.attachments.filter((file) => file.is_forwarded)
  const rows: [string, string][] = [
    ...review.fields.map(({ name, values }): [string, string] => [name, values.join(', ')]),
    ...forwarded.map((file): [string, string] => [
      'Forwarded file',
      `${file.filename} (${file.content_type}, ${sizeText(file.size_bytes)})`,
    ]),
  ]
  return (
    <>
      <dl class="facts recipients">
        {rows.map(([title, text], index) => [<dt key={`${title} ${index} title`}>{title}</dt>, <dd key={`${title} ${index}`}>{text}</dd>])}
        {draft.send_at && [
          <dt key="at-title">Scheduled</dt>,
          <dd key="at">
            <Time at={draft.send_at} form="exact" />
          </dd>,
        ]}
      </dl>
      {draft.version > 1 && <DraftChanges handle={handle} draft={draft} />}
      {review.text ? <MailText text={review.text} /> : !review.html && <p class="faint">This draft has no text yet.</p>}
      {review.html && <MailFrame message={{ id: draft.id, html: review.html, attachments: draft.attachments }} />}
      <Attachments attachments={draft.attachments} readText={(id) => client.drafts.attachmentText(handle, draft.id, id)} />
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
