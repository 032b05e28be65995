// Lists of messages, and search: one keyset page per request.
import type * as contract from '@callsign/contract/messages'
import type { QueryOf } from '@callsign/contract/operation'
import { type Caller, requireScope } from '../../../core/caller.ts'
import { type PageRequest, readPage, toPage } from '../../../core/page.ts'
import type { Database } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import * as filterStore from './filter-store.ts'
import { type MessageRow, toItem } from './model.ts'
import * as searchStore from './search-store.ts'
import * as store from './store.ts'

/** Shows rows as items of lists, with their attachments. */
export const itemsWith = (attachments: Attachments) => (rows: MessageRow[]) =>
  Promise.all(rows.map(async (row) => toItem(row, row.attachment_count === 0 ? [] : await attachments.show(row.id))))

export function createMessageLists({ db, identities, attachments }: { db: Database; identities: Identities; attachments: Attachments }) {
  let isPartsIndexThere: boolean | undefined
  const hasPartsIndex = async () => (isPartsIndexThere ??= await filterStore.hasPartsIndex(db))

  const showItems = itemsWith(attachments)

  async function itemsPage(rows: MessageRow[], page: PageRequest) {
    const { data, ...envelope } = toPage(
      rows,
      page.limit,
      (row) => row.id,
      (row) => row,
    )
    return { ...envelope, data: await showItems(data) }
  }

  return {
    async listMail(caller: Caller, query: QueryOf<typeof contract.listMail>) {
      const page = readPage(query, 'message')
      const mailboxIds =
        query.agent !== undefined
          ? [(await identities.requireMailbox(caller, query.agent)).mailboxId]
          : (caller.agents?.map((agent) => agent.mailboxId) ?? null)
      const scope = { organizationId: caller.organizationId, mailboxIds, threadId: query.thread_id ?? null }
      const [rows, total] = await Promise.all([
        store.listByScope(db, { ...scope, direction: query.direction }, page),
        store.countByScope(db, scope),
      ])
      const { data, next_cursor } = await itemsPage(rows, page)
      return { messages: data, total, next_cursor }
    },

    async listMessages(caller: Caller, mailbox: string, query: QueryOf<typeof contract.listMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      if (query.status === 'quarantined') requireScope(caller, 'quarantine:read')
      const { after, before, limit: _limit, cursor: _cursor, ...filter } = query
      const rows = await filterStore.listByFilter(
        db,
        mailboxId,
        {
          ...filter,
          after: after === undefined ? undefined : new Date(after),
          before: before === undefined ? undefined : new Date(before),
        },
        page,
        hasPartsIndex,
      )
      return itemsPage(rows, page)
    },

    async search(caller: Caller, mailbox: string, query: QueryOf<typeof contract.searchMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const rows = await searchStore.search(db, mailboxId, query, page)
      const marked = new Map(
        rows.map((row) => [row.id, { subject: searchStore.toMarked(row.subject_marked), text: searchStore.toMarked(row.text_marked) }]),
      )
      const found = await itemsPage(rows, page)
      return { ...found, data: found.data.map((item) => ({ ...item, highlights: marked.get(item.id) ?? { subject: null, text: null } })) }
    },
  }
}
