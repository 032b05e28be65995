// Mail held by a rule, with its reason, a safe preview and the decision about it.
import type { Identity, MessageSummary } from '@callsign/sdk'
import { type LoadPage, type Pages, usePages } from '../../cache/pages.ts'
import { Badge } from '../../elements/badge.tsx'
import { ButtonLink } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { samplesOf } from '../../elements/samples.ts'
import { Screen } from '../../elements/screen.tsx'
import { Time } from '../../elements/time.tsx'
import { VirtualList } from '../../elements/virtual-list.tsx'
import { addressOf, go, place } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { nameOf } from './addresses.ts'
import { identityOf, useIdentities } from './mailboxes.ts'
import { mergePages } from './merged-pages.ts'
import { QuarantineReview } from './quarantine-review.tsx'

const rowHeight = 76
const pageSize = 50

const pagesOf = (handle: string): LoadPage<MessageSummary> => {
  return async (cursor) => {
    const from = typeof cursor === 'string' ? { cursor } : {}
    const page = await client.messages.list(handle, { status: 'quarantined', view: 'summary', limit: pageSize, ...from })
    return { items: page.data, next: page.next_cursor }
  }
}

/** Opens `/quarantine/{handle}/{message_id}`. The mailbox filter is in the query. */
export default function QuarantineScreen({ parts: [openHandle, openId] }: ScreenProps) {
  const identities = useIdentities()
  const known = identities.data.value
  if (!known) {
    const error = identities.error.value
    return <Screen title="Quarantine">{error ? <Failure error={error} onRetry={() => void identities.reload()} /> : <Loading />}</Screen>
  }
  return <Held identities={known} openHandle={openHandle} openId={openId} />
}

type HeldProps = { identities: Identity[]; openHandle: string | undefined; openId: string | undefined }

function Held({ identities, openHandle, openId }: HeldProps) {
  const mailbox = place.value.query.get('mailbox') ?? ''
  const shown = mailbox ? identities.filter((identity) => identity.agent_handle === mailbox) : identities
  const pages = usePages(
    `quarantine ${shown.map((one) => one.agent_handle).join()}`,
    mergePages(shown.map((one) => pagesOf(one.agent_handle))),
  )
  const items = pages.items.value
  const at = items.findIndex((message) => message.id === openId)
  const linkTo = (message: MessageSummary) =>
    addressOf(`/quarantine/${identityOf(identities, message.mailbox_id)?.agent_handle ?? ''}/${message.id}`, { mailbox })
  const open = (index: number) => {
    const next = items[index]
    if (next) go(linkTo(next), { replace: openId !== undefined })
  }
  const close = () => go(addressOf('/quarantine', { mailbox }))
  useShortcuts('Quarantine', [
    { keys: 'j', label: 'Next message', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous message', run: () => open(Math.max(0, at - 1)) },
    { keys: 'Escape', label: 'Close the message', run: close },
  ])
  const onDecided = () => {
    const next = items[at + 1] ?? items[at - 1]
    go(next ? linkTo(next) : addressOf('/quarantine', { mailbox }), { replace: true })
  }
  if (items.length === 0 && !openId) return <NothingHeld pages={pages} handle={shown[0]?.agent_handle ?? 'sales'} />
  return (
    <Screen title="Quarantine" note={pages.hasMore.value ? `${items.length} and more` : `${items.length} held`} isFlush>
      <div class={`split${openId ? ' has-open' : ''}`}>
        <div class="split-list">
          <VirtualList
            name="Messages in quarantine"
            count={items.length}
            rowHeight={rowHeight}
            selected={at}
            keyOf={(index) => items[index]?.id ?? String(index)}
            onEndReached={() => void pages.loadMore()}
            row={(index) => {
              const message = items[index]
              return message && <HeldRow message={message} identities={identities} href={linkTo(message)} isOpen={message.id === openId} />
            }}
          />
        </div>
        <div class="split-open">
          {openHandle && openId ? (
            <QuarantineReview key={openId} handle={openHandle} id={openId} onDecided={onDecided} onClose={close} />
          ) : (
            <p class="mail-hint faint">Choose a message, or press j.</p>
          )}
        </div>
      </div>
    </Screen>
  )
}

function HeldRow({
  message,
  identities,
  href,
  isOpen,
}: {
  message: MessageSummary
  identities: Identity[]
  href: string
  isOpen: boolean
}) {
  return (
    <a class="split-row" href={href} aria-current={isOpen ? 'true' : undefined}>
      <span class="row">
        <strong class="grow truncate">{nameOf(message.from)}</strong>
        <span class="faint">
          <Time at={message.created_at} />
        </span>
      </span>
      <span class="truncate">{message.subject || 'No subject'}</span>
      <span class="row">
        <Badge>{identityOf(identities, message.mailbox_id)?.agent_handle ?? ''}</Badge>
        <span class="truncate faint">{message.guardrail?.reason}</span>
      </span>
    </a>
  )
}

function NothingHeld({ pages, handle }: { pages: Pages<MessageSummary>; handle: string }) {
  const error = pages.error.value
  if (error || !pages.isLoaded.value) {
    return <Screen title="Quarantine">{error ? <Failure error={error} onRetry={() => void pages.refresh()} /> : <Loading />}</Screen>
  }
  const samples = samplesOf({
    method: 'POST',
    path: `/identities/${handle}/mail-rules`,
    body: { direction: 'inbound', action: 'block', entry: 'example.com' },
    sdk: `await callsign.mailRules.create('${handle}', { direction, action, entry })`,
    cli: `callsign rules add ${handle} --block example.com --inbound`,
  })
  return (
    <Screen title="Quarantine">
      <Empty
        icon="quarantine"
        title="Nothing in quarantine"
        samples={samples}
        action={
          <ButtonLink icon="rules" href={addressOf('/rules')}>
            Show the rules
          </ButtonLink>
        }
      >
        Blocked senders, failed sender checks and unknown senders under an allowlist end here. Agents do not see these messages.
      </Empty>
    </Screen>
  )
}
