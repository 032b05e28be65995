// Folders and mailboxes beside the message list.
import type { Identity } from '@callsign/sdk'
import { useEffect, useRef } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Icon, type IconName } from '../../elements/icon.tsx'
import { addressOf } from '../../navigation/place.ts'
import { consoleCall } from '../../session/console-api.ts'
import { type Folder, folders, type MailFilter } from './filter.ts'

export const folderNames: Record<Folder, { title: string; icon: IconName }> = {
  inbox: { title: 'Inbox', icon: 'inbox' },
  unread: { title: 'Unread', icon: 'mail' },
  starred: { title: 'Starred', icon: 'star' },
  drafts: { title: 'Drafts', icon: 'edit' },
  sent: { title: 'Sent', icon: 'sent' },
  all: { title: 'All mail', icon: 'log' },
  scheduled: { title: 'Scheduled', icon: 'clock' },
  archive: { title: 'Archive', icon: 'archive' },
  spam: { title: 'Spam', icon: 'block' },
  trash: { title: 'Trash', icon: 'trash' },
}

/** Unread threads, or all drafts. Counts stop at 1000. */
type FolderCounts = { inbox: number; spam: number; drafts: number; scheduled: number }

function Count({ folder, counts }: { folder: Folder; counts: FolderCounts | undefined }) {
  const count = counts?.[(folder === 'unread' ? 'inbox' : folder) as keyof FolderCounts] ?? 0
  if (count === 0) return null
  const isUnread = folder !== 'drafts' && folder !== 'scheduled'
  return (
    <span class="folder-count">
      {count > 999 ? '999+' : count}
      {isUnread && <span class="visually-hidden"> unread</span>}
    </span>
  )
}

/** Keeps the filter and changes one part of it. The default folder is left out of the address. */
function linkTo(filter: MailFilter, change: Partial<MailFilter>): string {
  const { folder, mailbox, label, search } = { ...filter, ...change }
  return addressOf('/inbox', { folder: folder === 'inbox' ? undefined : folder, mailbox, label, q: search })
}

export function FolderPane({ filter, identities = [] }: { filter: MailFilter; identities: Identity[] | undefined }) {
  const path = filter.mailbox ? `folders?mailbox=${encodeURIComponent(filter.mailbox)}` : 'folders'
  const counts = useQuery(`folders ${filter.mailbox}`, () => consoleCall<FolderCounts>('GET', path)).data.value
  const list = useRef<HTMLDivElement>(null)
  // On a phone the folders are one row that scrolls.
  useEffect(() => {
    const row = list.current
    const current = row?.querySelector<HTMLElement>('[aria-current]')
    if (row && current) row.scrollLeft = current.offsetLeft - row.offsetLeft - 16
  }, [filter.folder, filter.label])
  return (
    <div ref={list} class="mail-folders">
      <nav aria-label="Folders">
        {folders.map((folder) => (
          <a
            key={folder}
            class="nav-link"
            href={linkTo(filter, { folder, label: '' })}
            aria-current={filter.folder === folder && !filter.label ? 'page' : undefined}
          >
            <Icon name={folderNames[folder].icon} />
            <span class="truncate">{folderNames[folder].title}</span>
            <Count folder={folder} counts={counts} />
          </a>
        ))}
        {filter.label && (
          <a class="nav-link" href={linkTo(filter, { label: '' })} aria-current="page">
            <Icon name="rules" />
            <span class="truncate">{filter.label}</span>
            <Icon name="close" />
          </a>
        )}
      </nav>
      {identities.length > 1 && (
        <nav class="nav-group" aria-label="Mailboxes">
          <h2>Mailboxes</h2>
          <a class="nav-link" href={linkTo(filter, { mailbox: '' })} aria-current={filter.mailbox === '' ? 'page' : undefined}>
            All identities
          </a>
          {identities.map((identity) => (
            <a
              key={identity.id}
              class="nav-link"
              href={linkTo(filter, { mailbox: identity.agent_handle })}
              aria-current={filter.mailbox === identity.agent_handle ? 'page' : undefined}
              title={identity.mailbox_address}
            >
              <span class="truncate">{identity.agent_handle}</span>
            </a>
          ))}
        </nav>
      )}
    </div>
  )
}
