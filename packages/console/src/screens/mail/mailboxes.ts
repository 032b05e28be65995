// The identities of the organization with their mailboxes, and the page loader of a filtered message list.
import type { Identity } from '@callsign/sdk'
import { listAll } from '../../cache/list-all.ts'
import type { Cursor, LoadPage, Page } from '../../cache/pages.ts'
import { type Query, useQuery } from '../../cache/query.ts'
import { client } from '../../session/client.ts'
import { listQueryOf, type MailFilter, matches, parseSearch } from './filter.ts'
import type { ListedMessage } from './list-rows.ts'
import { mergePages } from './merged-pages.ts'

const pageSize = 50
/** Pages read for one page of results when the page itself filters. */
const filteredPagesMax = 8
/** Mailboxes whose inboxes are merged. The one list of an organization with more does not know folders, and is faster. */
const mergedInboxesMax = 50

/** Every identity, by name. */
export function useIdentities(): Query<Identity[]> {
  return useQuery('identities', async () => {
    const all = await listAll((page) => client.identities.list(page))
    return all.toSorted((one, other) => one.agent_handle.localeCompare(other.agent_handle))
  })
}

/** Returns the identity that owns a mailbox. Its handle names the mailbox in the API. */
export const identityOf = (identities: Identity[] | undefined, mailboxId: string): Identity | undefined =>
  identities?.find((identity) => identity.mailbox.id === mailboxId)

const text = (cursor: Cursor | undefined): { cursor?: string } => (typeof cursor === 'string' ? { cursor } : {})

/** The messages of one mailbox that pass the filter. */
function loadMailbox(handle: string, filter: MailFilter): LoadPage<ListedMessage> {
  const search = parseSearch(filter.search)
  const query = listQueryOf(filter, search)
  const isFilteredHere = search.text !== '' || search.hasCode || search.hasAttachment
  const load = async (cursor: Cursor | undefined): Promise<Page<ListedMessage>> => {
    const page = search.text
      ? await client.messages.search(handle, { q: search.text, limit: pageSize, ...text(cursor) })
      : await client.messages.list(handle, { ...(query as object), view: 'summary', limit: pageSize, ...text(cursor) })
    return { items: page.data, next: page.next_cursor }
  }
  return isFilteredHere ? filterPages(load, (message) => matches(message, query, search)) : load
}

/** Reads on until a page has items, so that a list of rare matches does not end early. */
function filterPages<T>(load: LoadPage<T>, isWanted: (item: T) => boolean): LoadPage<T> {
  return async (cursor) => {
    const items: T[] = []
    let next: Cursor | null | undefined = cursor
    for (let pages = 0; pages < filteredPagesMax && items.length < pageSize; pages++) {
      const page: Page<T> = await load(next ?? undefined)
      items.push(...page.items.filter(isWanted))
      next = page.next
      if (next === null) break
    }
    return { items, next: next ?? null }
  }
}

/** The messages of the organization without further conditions come from one list of the server. */
const loadEverything: LoadPage<ListedMessage> = async (cursor) => {
  const page = await client.mail.list({ view: 'summary', limit: pageSize, ...text(cursor) })
  return { items: page.messages, next: page.next_cursor ?? null }
}

/** The page loader for a filter over one mailbox or over all of them. */
export function messagePages(filter: MailFilter, identities: Identity[]): LoadPage<ListedMessage> {
  if (filter.mailbox) return loadMailbox(filter.mailbox, filter)
  if (identities.length === 1) return loadMailbox((identities[0] as Identity).agent_handle, filter)
  const search = parseSearch(filter.search)
  const query = listQueryOf(filter, search)
  if (search.text === '' && !search.hasCode && !search.hasAttachment) {
    const { folder, direction: _, ...conditions } = query
    const isMerged = folder !== undefined && identities.length <= mergedInboxesMax
    const isDense = Object.keys(conditions).length === 0 && !isMerged
    if (isDense) return filterPages(loadEverything, (message) => matches(message, query, search))
  }
  return mergePages(identities.map((identity) => loadMailbox(identity.agent_handle, filter)))
}
