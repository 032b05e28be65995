// Drafts that wait for a person, with the queue beside the opened draft.
import type { Identity } from '@callsign/sdk'
import { useRef } from 'preact/hooks'
import { ButtonLink } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { currentTime, duration, Time } from '../../elements/time.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { nameOf } from './addresses.ts'
import { useApprovalQueue, type Waiting } from './approval-queue.ts'
import { DraftReview } from './draft-review.tsx'
import { useIdentities } from './mailboxes.ts'

/** Opens `/approvals/{handle}/{draft_id}`, which is also the link to send to a phone. */
export default function ApprovalsScreen({ parts: [openHandle, openId] }: ScreenProps) {
  const identities = useIdentities()
  const queue = useApprovalQueue()
  const waiting = queue.data.value
  const error = identities.error.value ?? queue.error.value
  if (!waiting || !identities.data.value) {
    const retry = () => void Promise.all([identities.reload(), queue.reload()])
    return <Screen title="Approvals">{error ? <Failure error={error} onRetry={retry} /> : <Loading />}</Screen>
  }
  if (waiting.length === 0 && !openId) return <NothingWaits />
  return (
    <Screen title="Approvals" note={`${waiting.length} waiting`} isFlush>
      <Queue waiting={waiting} identities={identities.data.value} openHandle={openHandle} openId={openId} />
    </Screen>
  )
}

const linkTo = ({ handle, draft }: Waiting): string => addressOf(`/approvals/${handle}/${draft.id}`)

type QueueProps = { waiting: Waiting[]; identities: Identity[]; openHandle: string | undefined; openId: string | undefined }

function Queue({ waiting, identities, openHandle, openId }: QueueProps) {
  const at = waiting.findIndex((one) => one.draft.id === openId)
  const open = (index: number) => {
    const next = waiting[index]
    if (next) go(linkTo(next), { replace: openId !== undefined })
  }
  const close = () => go(addressOf('/approvals'))
  const seen = useRef('')
  if (at >= 0 && openId) seen.current = openId
  useShortcuts('Approvals', [
    { keys: 'j', label: 'Next draft', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous draft', run: () => open(Math.max(0, at - 1)) },
    { keys: 'Escape', label: 'Close the draft', run: close },
  ])
  /** The draft after the decided one, or the one before at the end of the queue. */
  const onDecided = () => {
    const next = waiting[at + 1] ?? waiting[at - 1]
    go(next ? linkTo(next) : addressOf('/approvals'), { replace: true })
  }
  return (
    <div class={`split${openId ? ' has-open' : ''}`}>
      <ul class="split-list" aria-label="Waiting drafts">
        {waiting.map((one) => (
          <li key={one.draft.id}>
            <a class="split-row" href={linkTo(one)} aria-current={one.draft.id === openId ? 'true' : undefined}>
              <span class="row">
                <strong class="grow truncate">{one.draft.to.map(nameOf).join(', ') || 'No recipient yet'}</strong>
                <span class="faint">
                  <Time at={one.draft.approval?.requested_at ?? one.draft.created_at} form="age" />
                </span>
              </span>
              <span class="truncate">{one.draft.subject || 'No subject'}</span>
              <span class="truncate faint">
                {one.handle}, version {one.draft.version}
                {one.draft.approval && `, expires in ${duration(Date.parse(one.draft.approval.expires_at) - currentTime.value)}`}
              </span>
            </a>
          </li>
        ))}
      </ul>
      <div class="split-open">
        {openHandle && openId ? (
          <DraftReview
            key={openId}
            handle={openHandle}
            id={openId}
            identities={identities}
            isGone={at < 0 && seen.current === openId}
            onDecided={onDecided}
            onClose={close}
          />
        ) : (
          <p class="mail-hint faint">Choose a draft, or press j.</p>
        )}
      </div>
    </div>
  )
}

function NothingWaits() {
  const samples = samplesOf({
    method: 'PATCH',
    path: '/identities/sales',
    body: { draft_approval: 'required' },
    sdk: "await callsign.identities.update('sales', { draft_approval: 'required' })",
    cli: 'callsign identities update sales --draft-approval required',
  })
  return (
    <Screen title="Approvals">
      <Empty
        icon="approvals"
        title="Nothing waits for you"
        samples={samples}
        action={
          <ButtonLink icon="identities" href={addressOf('/identities')}>
            Choose an identity
          </ButtonLink>
        }
      >
        With draft approval, an agent writes drafts and a person sends them. Turn it on for an identity. Its drafts then appear here.
      </Empty>
    </Screen>
  )
}
