// One message in quarantine. Links are not clickable and images are not loaded.
import type { Message } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { patchItems } from '../../cache/pages.ts'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge, Notice } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Id } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { addressOf } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import { client } from '../../session/client.ts'
import { canOperate } from '../../session/session.ts'
import { parseAddress } from './addresses.ts'
import { useBlockingRule } from './blocking-rules.ts'
import { FlagList } from './flag-list.tsx'
import { MailFrame } from './mail-frame.tsx'
import { MailText } from './mail-text.tsx'
import { deleteMessage } from './message-actions.ts'
import { AuthorBadge } from './status-badge.tsx'

type QuarantineReviewProps = { handle: string; id: string; onDecided: () => void; onClose: () => void }

export function QuarantineReview({ handle, id, onDecided, onClose }: QuarantineReviewProps) {
  const query = useQuery(`message ${id}`, () => client.messages.get(handle, id))
  const message = query.data.value
  if (!message) return query.error.value ? <Failure error={query.error.value} onRetry={() => void query.reload()} /> : <Loading />
  return <Review handle={handle} message={message} onDecided={onDecided} onClose={onClose} />
}

/** The step that decided, in words. */
const bases: Record<NonNullable<Message['guardrail']>['basis'], string> = {
  author: 'No single author',
  address_rule: 'Blocked address',
  domain_rule: 'Blocked domain',
  dmarc: 'Failed DMARC',
  hosted_domain: 'Forged address of this server',
  reply: 'Reply',
  mode: 'Not on the allowlist',
}

/** Adds a rule. An existing rule for the entry keeps its decision, and the server reports the conflict. */
const addRule = (handle: string, action: 'allow' | 'block', entry: string) =>
  client.mailRules.create(handle, { direction: 'inbound', action, entry, reason: 'Decided in quarantine' })

type ReviewProps = { handle: string; message: Message; onDecided: () => void; onClose: () => void }

/** The decisions about one message. Each leaves the queue when it succeeded. */
function useDecisions({ handle, message, onDecided }: Omit<ReviewProps, 'onClose'>) {
  const { address } = parseAddress(message.from)
  const domain = address.slice(address.lastIndexOf('@') + 1)
  const isHeld = message.status === 'quarantined'
  const canAddRules = canOperate.value && address.includes('@')
  const blocking = useBlockingRule(handle, message, [address, domain], canAddRules && isHeld)
  const leave = () => {
    patchItems('quarantine', message.id, () => null)
    invalidate('overview', 'messages', 'rules')
    onDecided()
  }
  const release = async () => {
    await client.messages.release(handle, message.id)
    invalidate(`message ${message.id}`)
  }
  const run = async (work: () => Promise<unknown>, done: string) => {
    if (isHeld && (await attempt(work, done))) leave()
  }
  return {
    domain,
    isHeld,
    blocking,
    // A second rule for the same address would contradict the first.
    canAllow: canAddRules && blocking !== undefined && blocking?.entry !== address,
    canBlock: canAddRules && blocking === null,
    release: () => void run(release, `Released to ${handle}`),
    releaseAndAllow: () =>
      void run(async () => {
        await addRule(handle, 'allow', address)
        await release()
      }, `Released, and ${address} is allowed`),
    block: () =>
      void run(async () => {
        await addRule(handle, 'block', domain)
        await client.messages.delete(handle, message.id)
      }, `Deleted, and ${domain} is blocked`),
    remove: async () => {
      if (await deleteMessage(handle, message)) leave()
    },
  }
}

function Review(props: ReviewProps) {
  const { handle, message, onClose } = props
  const [isDeleting, setDeleting] = useState(false)
  const decisions = useDecisions(props)
  useShortcuts('Message in quarantine', [
    { keys: 'e', label: 'Release', run: decisions.release },
    { keys: 'a', label: 'Release and allow the sender', run: () => decisions.canAllow && decisions.releaseAndAllow() },
    { keys: 'b', label: 'Block the domain and delete', run: () => decisions.canBlock && decisions.block() },
    { keys: '#', label: 'Delete', run: () => canOperate.value && setDeleting(true) },
  ])
  return (
    <article class="review" aria-label="Message in quarantine">
      <ReviewHead handle={handle} message={message} onClose={onClose} />
      <div class="review-body">
        <Notice tone="warn">
          <strong>{message.guardrail ? bases[message.guardrail.basis] : 'Held'}.</strong> {message.guardrail?.reason}
        </Notice>
        <FlagList flags={message.flags} />
        <Preview message={message} />
      </div>
      <Actions handle={handle} decisions={decisions} onDelete={() => setDeleting(true)} />
      {isDeleting && (
        <Confirm
          title="Delete this message?"
          text="The message is deleted permanently. The agent never sees it."
          action="Delete"
          isDanger
          onConfirm={() => void decisions.remove()}
          onClose={() => setDeleting(false)}
        />
      )}
    </article>
  )
}

type ActionsProps = { handle: string; decisions: ReturnType<typeof useDecisions>; onDelete: () => void }

function Actions({ handle, decisions, onDelete }: ActionsProps) {
  const { domain, isHeld, blocking, canAllow, canBlock } = decisions
  return (
    <footer class="review-actions">
      {isHeld ? (
        <Button icon="check" shortcut="e" onClick={decisions.release}>
          Release
        </Button>
      ) : (
        <span class="faint">This message is no longer in quarantine.</span>
      )}
      {isHeld && canAllow && (
        <Button shortcut="a" onClick={decisions.releaseAndAllow}>
          Release and allow sender
        </Button>
      )}
      {isHeld && canBlock && (
        <Button kind="danger" icon="block" shortcut="b" onClick={decisions.block}>
          Block {domain}
        </Button>
      )}
      {isHeld && blocking && (
        <>
          <span class="faint">A rule blocks {blocking.entry}.</span>
          <ButtonLink size="small" icon="rules" href={addressOf('/rules', { agent: handle })}>
            Show the rules
          </ButtonLink>
        </>
      )}
      {canOperate.value && <Button kind="danger" icon="trash" label="Delete" onClick={onDelete} />}
    </footer>
  )
}

function ReviewHead({ handle, message, onClose }: { handle: string; message: Message; onClose: () => void }) {
  return (
    <header class="thread-header">
      <span class="only-small">
        <Button kind="quiet" icon="back" label="Back to the list" onClick={onClose} />
      </span>
      <div class="grow">
        <h2 class="thread-subject">{message.subject || 'No subject'}</h2>
        <div class="row faint wrap">
          <span>
            {message.from || 'Unknown sender'} to {handle}, <Time at={message.created_at} form="exact" />
          </span>
          <AuthorBadge authentication={message.authentication} />
          {message.attachments.length > 0 && <Badge icon="attachment">{message.attachments.length}</Badge>}
          <Id id={message.id} name="message id" />
        </div>
      </div>
      <ButtonLink size="small" icon="search" href={addressOf(`/messages/${handle}/${message.id}`)}>
        Inspect
      </ButtonLink>
    </header>
  )
}

function Preview({ message }: { message: Message }) {
  const [isFormatted, setFormatted] = useState(false)
  return (
    <>
      {isFormatted ? <MailFrame message={message} areImagesOffered={false} /> : <MailText text={message.text} isLinked={false} />}
      {message.html !== '' && (
        <div>
          <Button size="small" kind="quiet" onClick={() => setFormatted(!isFormatted)}>
            {isFormatted ? 'Show as text' : 'Show formatted, without images'}
          </Button>
        </div>
      )}
    </>
  )
}
