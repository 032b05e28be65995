// Texts grouped by their sender, as bubbles.
import type { SmsMessage } from '@callsign/sdk'
import { Bubble } from '../../elements/bubble.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Empty } from '../../elements/empty.tsx'

export function Texts({ messages }: { messages: SmsMessage[] }) {
  if (messages.length === 0) return <Empty icon="phone" title="No texts yet" />
  const senders = [...new Set(messages.map((message) => message.from_number))]
  return (
    <>
      {senders.map((sender) => (
        <section key={sender} class="stack" aria-label={`Texts from ${sender}`}>
          <h2>{sender}</h2>
          {messages
            .filter((message) => message.from_number === sender)
            .toReversed()
            .map((message) => (
              <Bubble key={message.id} side="left" at={message.created_at}>
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
            ))}
        </section>
      ))}
    </>
  )
}
