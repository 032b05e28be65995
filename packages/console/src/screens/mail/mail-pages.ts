// The pages behind the list of the inbox, and its rows.
import type { Draft, Identity } from '@callsign/sdk'
import { useMemo } from 'preact/hooks'
import { type Cursor, type LoadPage, type Pages, usePages } from '../../cache/pages.ts'
import { client } from '../../session/client.ts'
import { type Folder, listKindOf, type MailFilter } from './filter.ts'
import { draftRow, type ListedMessage, type ListedThread, type ListRow, messageRows, threadRow } from './list-rows.ts'
import { messagePages } from './mailboxes.ts'

const pageSize = 50

type ThreadQuery = NonNullable<Parameters<typeof client.threads.listAll>[0]>

/** The folders of threads. The others list messages or drafts. */
const folderQueries: Partial<Record<Folder, ThreadQuery>> = {
  inbox: { folder: 'inbox' },
  unread: { folder: 'inbox', is_unread: true },
  scheduled: { folder: 'scheduled' },
  sent: { folder: 'sent' },
  archive: { folder: 'archive' },
  spam: { folder: 'spam' },
  trash: { folder: 'trash' },
}

const positionOf = (cursor: Cursor | undefined): { cursor?: string } => (typeof cursor === 'string' ? { cursor } : {})
const agentOf = ({ mailbox }: MailFilter): { agent?: string } => (mailbox ? { agent: mailbox } : {})

const threadPages =
  (filter: MailFilter): LoadPage<ListedThread> =>
  async (cursor) => {
    const page = await client.threads.listAll({
      ...folderQueries[filter.folder],
      ...agentOf(filter),
      ...(filter.label ? { label: filter.label } : {}),
      ...(filter.search ? { q: filter.search } : {}),
      with_last_message: true,
      limit: pageSize,
      ...positionOf(cursor),
    })
    return { items: page.data, next: page.next_cursor }
  }

const draftPages =
  (filter: MailFilter): LoadPage<Draft> =>
  async (cursor) => {
    const page = await client.drafts.listAll({ ...agentOf(filter), limit: pageSize, ...positionOf(cursor) })
    return { items: page.data, next: page.next_cursor }
  }

type Item = ListedThread | ListedMessage | Draft

export type MailPages = { pages: Pages<Item>; rows: ListRow[] }

/** Events make lists stale by the beginning of their keys. */
const keyPrefixes = { threads: 'messages threads', messages: 'messages', drafts: 'drafts list' } as const

export function useMailPages(filter: MailFilter, identities: Identity[]): MailPages {
  const kind = listKindOf(filter)
  const loads = {
    threads: () => threadPages(filter),
    messages: () => messagePages(filter, identities),
    drafts: () => draftPages(filter),
  }
  const load = loads[kind]() as LoadPage<Item>
  const pages = usePages<Item>(`${keyPrefixes[kind]} ${JSON.stringify(filter)} ${identities.length}`, load)
  const items = pages.items.value
  const rows = useMemo(() => {
    if (kind === 'threads') return (items as ListedThread[]).map((thread) => threadRow(identities, thread, filter.folder === 'sent'))
    if (kind === 'drafts') return (items as Draft[]).map((draft) => draftRow(identities, draft))
    return messageRows(identities, items as ListedMessage[])
  }, [items, identities])
  return { pages, rows }
}
