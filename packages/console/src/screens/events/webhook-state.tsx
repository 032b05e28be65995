// The state of a webhook, with a mark while its deliveries fail.
import type { Webhook } from '@callsign/sdk'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Time } from '../../elements/time.tsx'

const tones: Record<Webhook['status'], Tone> = { active: 'good', paused: 'warn', disabled: 'bad' }

/** The types of events, with all of them as a word. */
export const eventTexts = ({ events }: Webhook): string[] => events.map((event) => (event === '*' ? 'all' : event))

export function WebhookState({ webhook: { status, failing_since: failingSince } }: { webhook: Webhook }) {
  return (
    <span class="row wrap">
      <Badge tone={tones[status]}>{status}</Badge>
      {failingSince && (
        <Badge tone="bad" icon="alert">
          failing for <Time at={failingSince} form="age" />
        </Badge>
      )}
    </span>
  )
}
