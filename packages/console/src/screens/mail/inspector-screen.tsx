// Everything about one message, in tabs.
import type { Message } from '@callsign/sdk'
import type { ComponentChildren } from 'preact'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { ButtonLink } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Screen } from '../../elements/screen.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf, place, setQuery } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'
import type { ScreenProps } from '../../screen-entry.ts'
import { client } from '../../session/client.ts'
import { Attachments, sizeText } from './attachments.tsx'
import { AuthenticationTab } from './authentication-tab.tsx'
import { CodeChips } from './code-chips.tsx'
import { DeliveryTab } from './delivery-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { FlagList } from './flag-list.tsx'
import { MailFrame } from './mail-frame.tsx'
import { MailText } from './mail-text.tsx'
import { HeadersTab, RawTab } from './raw-tabs.tsx'
import { AuthorBadge, StatusBadge } from './status-badge.tsx'

const tabIds = ['formatted', 'text', 'headers', 'raw', 'authentication', 'delivery', 'events', 'json'] as const
type TabId = (typeof tabIds)[number]
const tabTitles: Record<TabId, string> = {
  formatted: 'Formatted',
  text: 'Text',
  headers: 'Headers',
  raw: 'Raw',
  authentication: 'Authentication',
  delivery: 'Delivery',
  events: 'Events',
  json: 'JSON',
}

/** The tabs that have content for this message. */
function tabsOf(message: Message): TabId[] {
  return tabIds.filter((id) => {
    if (id === 'formatted') return message.html !== ''
    if (id === 'authentication') return message.direction === 'inbound'
    return id === 'delivery' ? message.direction === 'outbound' : true
  })
}

/** Opens `/messages/{handle}/{message_id}`. The tab is in the query. */
export default function InspectorScreen({ parts: [handle = '', id = ''] }: ScreenProps) {
  const query = useQuery(`message ${id}`, () => client.messages.get(handle, id))
  const message = query.data.value
  if (!message) {
    const error = query.error.value
    return <Screen title="Message">{error ? <Failure error={error} onRetry={() => void query.reload()} /> : <Loading />}</Screen>
  }
  const back = { href: addressOf(`/inbox/${handle}/${id}`), label: 'Back to the inbox' }
  const actions = (
    <ButtonLink href={addressOf(`/inbox/${handle}/${id}`)} icon="inbox">
      Open in the inbox
    </ButtonLink>
  )
  return (
    <Screen title={message.subject || 'No subject'} note={handle} actions={actions} back={back}>
      <div class="inspector">
        <Summary message={message} />
        <div>
          <InspectorTabs handle={handle} message={message} />
        </div>
      </div>
    </Screen>
  )
}

function InspectorTabs({ handle, message }: { handle: string; message: Message }) {
  const available = tabsOf(message)
  const wanted = place.value.query.get('tab') as TabId | null
  const selected = wanted && available.includes(wanted) ? wanted : (available[0] as TabId)
  const step = (by: number) => setQuery({ tab: available[(available.indexOf(selected) + by + available.length) % available.length] })
  useShortcuts('Message inspector', [
    { keys: 'j', label: 'Next tab', run: () => step(1) },
    { keys: 'k', label: 'Previous tab', run: () => step(-1) },
  ])
  const contents: Record<TabId, () => ComponentChildren> = {
    formatted: () => <MailFrame message={message} areImagesOffered={message.status !== 'quarantined'} />,
    text: () => <TextTab message={message} />,
    headers: () => <HeadersTab handle={handle} id={message.id} />,
    raw: () => <RawTab handle={handle} id={message.id} />,
    authentication: () => <AuthenticationTab authentication={message.authentication} />,
    delivery: () => <DeliveryTab message={message} />,
    events: () => <EventsTab handle={handle} message={message} />,
    json: () => <JsonTab message={message} />,
  }
  const tabs = available.map((id) => ({ id, label: tabTitles[id] }))
  return (
    <Tabs tabs={tabs} selected={selected} name="Parts of the message" onSelect={(tab) => setQuery({ tab })}>
      {contents[selected]()}
    </Tabs>
  )
}

function Summary({ message }: { message: Message }) {
  const addresses = [
    ['From', [message.from]],
    ['To', message.to],
    ['Cc', message.cc],
    ['Bcc', message.bcc],
    ['Reply to', message.reply_to],
  ] as const
  return (
    <div class="stack">
      <div class="row wrap">
        <StatusBadge status={message.status} />
        {message.direction === 'inbound' && <AuthorBadge authentication={message.authentication} />}
        {message.released_at && <Badge tone="warn">released from quarantine</Badge>}
        <Id id={message.id} name="message id" />
        <Id id={message.thread_id} name="thread id" />
        <span class="faint">
          <Time at={message.created_at} form="exact" />, {sizeText(message.size_bytes)}
        </span>
      </div>
      <dl class="facts">
        {addresses
          .filter(([, values]) => values.some(Boolean))
          .map(([title, values]) => [<dt key={`${title}-title`}>{title}</dt>, <dd key={title}>{values.join(', ')}</dd>])}
        {message.guardrail && [<dt key="guardrail-title">Guardrail</dt>, <dd key="guardrail">{message.guardrail.reason}</dd>]}
        {message.message_id && [
          <dt key="id-title">Message-ID</dt>,
          <dd key="id">
            <Copy value={message.message_id} name="Message-ID" />
          </dd>,
        ]}
      </dl>
      <FlagList flags={message.flags} />
      <CodeChips codes={message.codes} />
      <Attachments
        attachments={message.attachments}
        readText={(id) => client.messages.attachmentText(message.mailbox_id, message.id, id)}
      />
    </div>
  )
}

function TextTab({ message }: { message: Message }) {
  if (message.text.trim() === '') return <Empty icon="mail" title="This message has no text" />
  const isReply = message.extracted_text !== '' && message.extracted_text.trim() !== message.text.trim()
  return (
    <div class="stack">
      {isReply && (
        <>
          <h2>New text, as agents get it</h2>
          <MailText text={message.extracted_text} isLinked={message.status !== 'quarantined'} />
          <h2>Whole text</h2>
        </>
      )}
      <MailText text={message.text} isLinked={message.status !== 'quarantined'} />
    </div>
  )
}

function JsonTab({ message }: { message: Message }) {
  const text = JSON.stringify(message, null, 2)
  return (
    <div class="stack">
      <div>
        <Copy value={text} text="Copy the JSON" name="JSON" />
      </div>
      <pre class="pre">{text}</pre>
    </div>
  )
}
