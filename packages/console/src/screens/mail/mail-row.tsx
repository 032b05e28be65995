// One row of the mail list. Its parts stand beside each other and shorten, so that none covers another.
import { Badge } from '../../elements/badge.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Icon } from '../../elements/icon.tsx'
import { Time } from '../../elements/time.tsx'
import { canWrite } from '../../session/session.ts'
import { DraftBadge } from './draft-card.tsx'
import { Highlight } from './highlight.tsx'
import type { ListRow } from './list-rows.ts'
import { changeMessage } from './message-actions.ts'
import { StatusBadge } from './status-badge.tsx'

type MailRowProps = {
  row: ListRow
  href: string
  isOpen: boolean
  isSelected: boolean
  isMailboxShown: boolean
  /** null for rows that cannot be selected. */
  onSelect: ((isSelected: boolean) => void) | null
}

export function MailRow({ row, href, isOpen, isSelected, isMailboxShown, onSelect }: MailRowProps) {
  const { message, draft } = row
  const classes = ['mail-row', isOpen ? 'open' : '', row.isUnread ? 'unread' : '', isSelected ? 'selected' : '']
  const subject = row.subject || 'No subject'
  return (
    <div class={classes.filter(Boolean).join(' ')}>
      <div class="mail-row-check">
        {onSelect && (
          <input
            type="checkbox"
            aria-label={`Select "${row.subject}"`}
            checked={isSelected}
            onChange={(event) => onSelect(event.currentTarget.checked)}
          />
        )}
      </div>
      <div class="mail-row-body">
        <div class="mail-row-line">
          <a class="mail-row-link truncate" href={href} aria-label={`${row.who}: ${subject}`} aria-current={isOpen ? 'true' : undefined}>
            {row.who}
          </a>
          {row.count > 1 && (
            <span class="mail-row-count" title={`${row.count} messages`}>
              {row.count}
              <span class="visually-hidden"> messages</span>
            </span>
          )}
          <Marks row={row} />
          <span class="mail-row-time">
            <Time at={row.at} />
          </span>
        </div>
        <div class="mail-row-line">
          <span class="mail-row-subject truncate">
            <Highlight html={message?.highlights?.subject}>{subject}</Highlight>
          </span>
          {message && canWrite.value && <Star row={row} message={message} />}
        </div>
        <div class="mail-row-line">
          <span class="mail-row-snippet truncate">
            <Highlight html={message?.highlights?.text}>{row.snippet}</Highlight>
          </span>
          <Tags row={row} isMailboxShown={isMailboxShown} />
          {draft && <DraftBadge draft={draft} />}
        </div>
      </div>
    </div>
  )
}

/** Warnings and attachments of the latest message. */
function Marks({ row: { message, draft } }: { row: ListRow }) {
  // Unverified senders are common, so they are marked in the message and not in the list.
  const warnings = message?.flags.filter((flag) => flag.type !== 'unverified_sender') ?? []
  const hasFiles = (message ?? draft)?.attachments.length
  return (
    <>
      {warnings.length > 0 && (
        <span class="mail-row-flag" title={warnings.map((flag) => flag.reason).join(' ')}>
          <Icon name="alert" />
          <span class="visually-hidden">Has warnings</span>
        </span>
      )}
      {hasFiles ? <Icon name="attachment" /> : null}
    </>
  )
}

function Tags({ row, isMailboxShown }: { row: ListRow; isMailboxShown: boolean }) {
  const code = row.message?.codes.find((one) => one.kind === 'one_time_code')
  return (
    <>
      {code && <Copy value={code.value} name="code" isChip />}
      {row.message?.direction === 'outbound' && <StatusBadge status={row.message.status} />}
      {row.labels.slice(0, 1).map((label) => (
        <Badge key={label} tone="accent">
          {label}
        </Badge>
      ))}
      {isMailboxShown && <Badge>{row.handle}</Badge>}
    </>
  )
}

function Star({ row, message }: { row: ListRow; message: NonNullable<ListRow['message']> }) {
  return (
    <button
      type="button"
      class={`star${message.is_starred ? ' on' : ''}`}
      aria-pressed={message.is_starred}
      aria-label="Star"
      onClick={() => void changeMessage(row.handle, message, { is_starred: !message.is_starred })}
    >
      <Icon name="star" filled={message.is_starred} />
    </button>
  )
}
