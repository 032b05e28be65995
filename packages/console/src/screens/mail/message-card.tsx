// One message of a thread, folded to a line or whole with its warnings, codes and attachments.
import type { Identity, Message, MessageItem } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Time } from '../../elements/time.tsx'
import { client } from '../../session/client.ts'
import { initialsOf, nameOf, parseAddress } from './addresses.ts'
import { Attachments } from './attachments.tsx'
import { CodeChips } from './code-chips.tsx'
import { FlagList } from './flag-list.tsx'
import { MailFrame } from './mail-frame.tsx'
import { MailText } from './mail-text.tsx'
import { choiceOf, keepChoice } from './sender-choices.ts'
import { AuthorBadge, StatusBadge } from './status-badge.tsx'

type MessageCardProps = {
  handle: string
  message: MessageItem
  identities: Identity[]
  isUnfolded: boolean
  onToggle: () => void
}

export function MessageCard({ handle, message, identities, isUnfolded, onToggle }: MessageCardProps) {
  const { name, address } = parseAddress(message.from)
  const isAgent = identities.some((identity) => identity.mailbox_address.toLowerCase() === address.toLowerCase())
  return (
    <article
      id={`message-${message.id}`}
      class={`message-card${isUnfolded ? ' unfolded' : ''}`}
      aria-label={`Message from ${nameOf(message.from)}`}
    >
      <button type="button" class="message-card-head" aria-expanded={isUnfolded} onClick={onToggle}>
        <span class={`avatar${isAgent ? ' agent' : ''}`} aria-hidden="true">
          {initialsOf(message.from)}
        </span>
        <span class="grow message-card-who">
          <span class="truncate">
            <strong>{name || address || 'Unknown sender'}</strong> {name && <span class="faint">{address}</span>}
          </span>
          <span class="truncate faint">{isUnfolded ? `to ${message.to.map(nameOf).join(', ')}` : message.snippet}</span>
        </span>
        <span class="faint">
          <Time at={message.created_at} />
        </span>
      </button>
      {isUnfolded && <UnfoldedMessage handle={handle} message={message} />}
    </article>
  )
}

function UnfoldedMessage({ handle, message }: { handle: string; message: MessageItem }) {
  const whole = useQuery(`message ${message.id}`, () => client.messages.get(handle, message.id))
  const authentication = whole.data.value?.authentication
  return (
    <div class="message-card-body">
      <div class="row wrap">
        {authentication && message.direction === 'inbound' && <AuthorBadge authentication={authentication} />}
        {message.direction === 'outbound' && <StatusBadge status={message.status} delivery={whole.data.value?.delivery ?? null} />}
        {message.released_at && <Badge tone="warn">released from quarantine</Badge>}
        {message.labels.map((label) => (
          <Badge key={label} tone="accent">
            {label}
          </Badge>
        ))}
        <Id id={message.id} name="message id" />
      </div>
      <Recipients message={message} />
      <FlagList flags={message.flags} />
      <CodeChips codes={message.codes} />
      <Body message={message} isProven={isProven(authentication)} />
      <Attachments attachments={message.attachments} readText={(id) => client.messages.attachmentText(handle, message.id, id)} />
    </div>
  )
}

function Recipients({ message }: { message: MessageItem }) {
  const rows = [
    ['To', message.to],
    ['Cc', message.cc],
    ['Bcc', message.bcc],
    ['Reply to', message.reply_to],
  ] as const
  return (
    <dl class="facts recipients">
      {rows
        .filter(([, addresses]) => addresses.length > 0)
        .map(([title, addresses]) => [
          <dt key={`${title}-title`}>{title}</dt>,
          <dd key={title}>
            {addresses.map((address) => (
              <Copy key={address} value={address} name="address" />
            ))}
          </dd>,
        ])}
    </dl>
  )
}

/** True when the address of the sender cannot be forged: an agent on this server, or a passed DMARC check. */
const isProven = (authentication: Message['authentication'] | undefined): boolean =>
  authentication?.source === 'hosted' || authentication?.dmarc?.result === 'pass'

/** Formatted first, as the sender wrote it. The other view is one click away and is remembered for the sender. */
function Body({ message, isProven }: { message: MessageItem; isProven: boolean }) {
  const { address } = parseAddress(message.from)
  const [isFormatted, setFormatted] = useState(message.html !== '' && (message.text === '' || choiceOf(address).isText !== true))
  const showFormatted = (isWanted: boolean) => {
    setFormatted(isWanted)
    keepChoice(address, { isText: !isWanted })
  }
  const [isQuoteShown, setQuoteShown] = useState(false)
  const isFolded = message.extracted_text !== '' && message.extracted_text.trim() !== message.text.trim()
  return (
    <>
      {isFormatted ? (
        <MailFrame message={message} sender={isProven ? address : null} />
      ) : (
        <MailText text={isFolded && !isQuoteShown ? message.extracted_text : message.text} />
      )}
      <div class="row">
        {isFolded && !isFormatted && (
          <Button size="small" kind="quiet" onClick={() => setQuoteShown(!isQuoteShown)}>
            {isQuoteShown ? 'Hide quoted text' : 'Show quoted text'}
          </Button>
        )}
        {message.html !== '' && message.text !== '' && (
          <Button size="small" kind="quiet" onClick={() => showFormatted(!isFormatted)}>
            {isFormatted ? 'Show as text' : 'Show formatted'}
          </Button>
        )}
      </div>
    </>
  )
}
