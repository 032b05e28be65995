// One row of the message list.
import { Badge } from '../../elements/badge.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Icon } from '../../elements/icon.tsx'
import { Time } from '../../elements/time.tsx'
import { canWrite } from '../../session/session.ts'
import { nameOf } from './addresses.ts'
import { Highlight } from './highlight.tsx'
import type { ListedMessage } from './mailboxes.ts'
import { changeMessage } from './message-actions.ts'
import { StatusBadge } from './status-badge.tsx'

type MessageRowProps = {
  message: ListedMessage
  handle: string
  href: string
  isOpen: boolean
  isSelected: boolean
  isMailboxShown: boolean
  onSelect: (isSelected: boolean) => void
}

export function MessageRow({ message, handle, href, isOpen, isSelected, isMailboxShown, onSelect }: MessageRowProps) {
  const isOutbound = message.direction === 'outbound'
  const who = isOutbound ? `To ${message.to.map(nameOf).join(', ') || 'nobody yet'}` : nameOf(message.from)
  // Unverified senders are common, so they are marked in the message and not in the list.
  const warnings = message.flags.filter((flag) => flag.type !== 'unverified_sender')
  const code = message.codes.find((one) => one.kind === 'one_time_code')
  const classes = ['mail-row', isOpen ? 'open' : '', !message.is_read && !isOutbound ? 'unread' : '', isSelected ? 'selected' : '']
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      <input
        type="checkbox"
        disabled={!canWrite.value}
        aria-label={`Select "${message.subject}"`}
        checked={isSelected}
        onChange={(event) => onSelect(event.currentTarget.checked)}
      />
      <a class="mail-row-link" href={href} aria-current={isOpen ? 'true' : undefined}>
        <span class="mail-row-top">
          <span class="mail-row-from truncate">{who}</span>
          {warnings.length > 0 && (
            <span class="mail-row-flag" title={warnings.map((flag) => flag.reason).join(' ')}>
              <Icon name="alert" />
              <span class="visually-hidden">Has warnings</span>
            </span>
          )}
          {message.attachments.length > 0 && <Icon name="attachment" />}
          <span class="mail-row-time">
            <Time at={message.created_at} />
          </span>
        </span>
        <span class="mail-row-subject truncate">
          <Highlight html={message.highlights?.subject}>{message.subject || 'No subject'}</Highlight>
        </span>
        <span class="mail-row-snippet truncate">
          <Highlight html={message.highlights?.text}>{message.snippet}</Highlight>
        </span>
      </a>
      <div class="mail-row-side">
        {isMailboxShown && <Badge>{handle}</Badge>}
        {isOutbound && <StatusBadge status={message.status} />}
        {message.labels.slice(0, 1).map((label) => (
          <Badge key={label} tone="accent">
            {label}
          </Badge>
        ))}
        {code && <Copy value={code.value} name="code" isChip />}
        <button
          type="button"
          class={`star${message.is_starred ? ' on' : ''}`}
          disabled={!canWrite.value}
          aria-pressed={message.is_starred}
          aria-label="Star"
          onClick={() => void changeMessage(handle, message, { is_starred: !message.is_starred })}
        >
          <Icon name="star" filled={message.is_starred} />
        </button>
      </div>
    </div>
  )
}
