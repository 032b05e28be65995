// The delivery status of a message, and the results of its sender checks.
import type { Message, MessageItem } from '@callsign/sdk'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { isMailSimulated } from '../../waiting.ts'

/** The host in the delivery log of simulated mail. */
const simulatorHost = 'simulator'

const tones: Record<MessageItem['status'], Tone> = {
  received: 'neutral',
  quarantined: 'warn',
  queued: 'neutral',
  sent: 'neutral',
  delivered: 'good',
  bounced: 'bad',
  failed: 'bad',
}

type StatusBadgeProps = {
  status: MessageItem['status']
  /** The delivery of the whole message, if it is known. It names the simulator as the host. */
  delivery?: Message['delivery']
}

export function StatusBadge({ status, delivery }: StatusBadgeProps) {
  const isSimulated = delivery ? delivery.recipients.some(({ log }) => log.at(-1)?.host === simulatorHost) : isMailSimulated.value
  if (status === 'sent' && isSimulated) {
    return (
      <Badge tone="warn" title="The simulator recorded this message. It was not sent to another server.">
        simulated
      </Badge>
    )
  }
  return <Badge tone={tones[status]}>{status}</Badge>
}

/** One badge for the author of an inbound message, for example internal or DMARC pass. */
export function AuthorBadge({ authentication }: { authentication: Message['authentication'] }) {
  const { source, dmarc } = authentication
  if (source === 'hosted') {
    return (
      <Badge tone="accent" icon="check" title="Sent by an agent on this server.">
        internal
      </Badge>
    )
  }
  if (!dmarc) return null
  const title = dmarc.reason ?? `DMARC ${dmarc.result} for ${dmarc.domain ?? 'an unknown domain'}.`
  if (dmarc.result === 'pass') {
    return (
      <Badge tone="good" icon="check" title={title}>
        DMARC pass
      </Badge>
    )
  }
  if (dmarc.result === 'none') {
    return (
      <Badge tone="neutral" icon="info" title={title}>
        no DMARC policy
      </Badge>
    )
  }
  return (
    <Badge tone={dmarc.result === 'temperror' ? 'warn' : 'bad'} icon="alert" title={title}>
      DMARC {dmarc.result === 'temperror' ? 'not checked' : dmarc.result}
    </Badge>
  )
}
