// Texts of one number as conversations: the senders, and the bubbles of the opened one.
import type { SmsMessage } from '@callsign/sdk'
import { useEffect, useRef } from 'preact/hooks'
import { Bubble } from '../../elements/bubble.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Time } from '../../elements/time.tsx'
import { addressOf, go } from '../../navigation/place.ts'
import { useShortcuts } from '../../navigation/shortcuts.ts'

type TextConversationsProps = { numberId: string; messages: SmsMessage[]; openSender: string | undefined }

/** `messages` are the newest first. */
export function TextConversations({ numberId, messages, openSender }: TextConversationsProps) {
  const senders = [...new Set(messages.map((message) => message.from_number))]
  const linkTo = (sender: string) => addressOf(`/phone/${numberId}/${encodeURIComponent(sender)}`)
  const at = senders.indexOf(openSender ?? '')
  const open = (index: number) => {
    const next = senders[index]
    if (next) go(linkTo(next), { replace: openSender !== undefined })
  }
  const close = () => go(addressOf(`/phone/${numberId}`))
  useShortcuts('Texts', [
    { keys: 'j', label: 'Next sender', run: () => open(at + 1) },
    { keys: 'k', label: 'Previous sender', run: () => open(Math.max(0, at - 1)) },
    { keys: 'Escape', label: 'Close the conversation', run: close },
  ])
  const textsOf = (sender: string) => messages.filter((message) => message.from_number === sender)
  return (
    <div class={`split${openSender ? ' has-open' : ''}`}>
      <ul class="split-list" aria-label="Senders">
        {senders.map((sender) => (
          <SenderRow key={sender} sender={sender} newest={textsOf(sender)[0]} href={linkTo(sender)} isOpen={sender === openSender} />
        ))}
      </ul>
      <div class="split-open">
        {openSender ? (
          <Conversation key={openSender} sender={openSender} messages={textsOf(openSender)} onClose={close} />
        ) : (
          <p class="mail-hint faint">Choose a sender, or press j.</p>
        )}
      </div>
    </div>
  )
}

type SenderRowProps = { sender: string; newest: SmsMessage | undefined; href: string; isOpen: boolean }

const SenderRow = ({ sender, newest, href, isOpen }: SenderRowProps) => (
  <li>
    <a class="split-row short" href={href} aria-current={isOpen ? 'true' : undefined}>
      <span class="row">
        <strong class="grow truncate">{sender}</strong>
        <span class="faint">{newest && <Time at={newest.created_at} />}</span>
      </span>
      <span class="truncate faint">{newest?.text || 'A picture or file'}</span>
    </a>
  </li>
)

type ConversationProps = { sender: string; messages: SmsMessage[]; onClose: () => void }

function Conversation({ sender, messages, onClose }: ConversationProps) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [messages.length])
  return (
    <article class="review" aria-label={`Texts from ${sender}`}>
      <header class="thread-header">
        <span class="only-small">
          <Button kind="quiet" icon="back" label="Back to the senders" onClick={onClose} />
        </span>
        <h2 class="grow">{sender}</h2>
      </header>
      <div class="review-body">
        {messages.toReversed().map((message) => (
          <TextBubble key={message.id} message={message} />
        ))}
        <div ref={end} />
      </div>
    </article>
  )
}

function TextBubble({ message }: { message: SmsMessage }) {
  return (
    <Bubble side="left" at={message.created_at}>
      <span>{message.text}</span>
      {message.media.map((file, index) =>
        file.url ? (
          <a key={index} href={file.url} rel="noreferrer" target="_blank">
            {file.content_type}, {file.size_bytes} bytes
          </a>
        ) : (
          <span key={index} class="faint">
            {file.content_type}, not available
          </span>
        ),
      )}
      {message.codes.map((code) => (
        <Copy key={code.value} value={code.value} name="code" isChip />
      ))}
    </Bubble>
  )
}
