// The delivery log of each recipient.
import type { Message } from '@callsign/sdk'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Empty } from '../../elements/empty.tsx'
import { Time } from '../../elements/time.tsx'
import { StatusBadge } from './status-badge.tsx'

type Recipient = NonNullable<Message['delivery']>['recipients'][number]

const results: Record<Recipient['log'][number]['result'], { text: string; tone: Tone }> = {
  taken: { text: 'accepted', tone: 'good' },
  deferred: { text: 'deferred', tone: 'warn' },
  refused: { text: 'refused', tone: 'bad' },
  held: { text: 'held', tone: 'warn' },
  report: { text: 'report', tone: 'neutral' },
}

export function DeliveryTab({ message }: { message: Message }) {
  const recipients = message.delivery?.recipients ?? []
  if (recipients.length === 0) {
    return (
      <Empty icon="clock" title="No attempt yet">
        The message is in the queue. Each attempt appears here with the answer of the other server.
      </Empty>
    )
  }
  return (
    <div class="stack">
      {recipients.map((recipient) => (
        <div class="card" key={recipient.address}>
          <header>
            <h2 class="grow truncate">{recipient.address}</h2>
            {recipient.next_attempt_at && (
              <span class="faint">
                next attempt <Time at={recipient.next_attempt_at} form="exact" />
              </span>
            )}
            <StatusBadge status={recipient.status} delivery={{ recipients: [recipient] }} />
          </header>
          <div class="body">
            <ol class="timeline">
              {recipient.log.map((attempt) => (
                <li key={`${attempt.at} ${attempt.answer}`}>
                  <div class="row wrap">
                    <Badge tone={results[attempt.result].tone}>{results[attempt.result].text}</Badge>
                    <Time at={attempt.at} form="exact" />
                    {attempt.host && <span class="mono">{attempt.host}</span>}
                    <span class="faint">{attempt.tls ?? (attempt.host ? 'without TLS' : '')}</span>
                  </div>
                  <p class="mono muted">
                    {attempt.enhanced_status} {attempt.answer}
                  </p>
                </li>
              ))}
              {recipient.log.length === 0 && <li class="faint">{recipient.last_answer ?? 'Waiting for the first attempt.'}</li>}
            </ol>
          </div>
        </div>
      ))}
    </div>
  )
}
