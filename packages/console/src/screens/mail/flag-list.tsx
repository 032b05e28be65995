// Indicators of deception and of secrets with their evidence. The evidence is the sender's text and is shown as plain text.
import type { MessageItem } from '@callsign/sdk'
import { Icon } from '../../elements/icon.tsx'

const titles: Record<MessageItem['flags'][number]['type'], string> = {
  hidden_text: 'Hidden text',
  model_instructions: 'Instructions to a model',
  display_name_spoofing: 'Misleading sender name',
  reply_to_mismatch: 'Replies go elsewhere',
  link_mismatch: 'Misleading link',
  lookalike_domain: 'Lookalike domain',
  several_senders: 'Several senders',
  failed_authentication: 'Failed sender check',
  unverified_sender: 'Unverified sender',
  private_key: 'Private key',
  api_key: 'API key',
  card_number: 'Card number',
  callsign_key: 'Callsign key',
  custom_pattern: 'Your own pattern',
  not_scanned: 'Not scanned',
}

export function FlagList({ flags }: { flags: MessageItem['flags'] }) {
  if (flags.length === 0) return null
  return (
    <ul class="flag-list" aria-label="Warnings">
      {flags.map((flag) => (
        <li key={`${flag.type} ${flag.evidence}`}>
          <Icon name="alert" />
          <div class="grow">
            <strong>{titles[flag.type]}</strong> {flag.reason}
            {flag.evidence && <p class="evidence">{flag.evidence}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}
