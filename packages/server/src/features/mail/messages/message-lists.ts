// Lists of messages, and search: one keyset page per request.
import type * as contract from '@callsign/contract/messages'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Caller, requireScope } from '../../../core/caller.ts'
import { type PageRequest, readPage, toPage } from '../../../core/page.ts'
import { Written } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageFilter, MessageOwner } from './filter-conditions-store.ts'
import * as filterStore from './filter-store.ts'
import { toItem } from './model.ts'
import * as searchStore from './search-store.ts'
import * as store from './store.ts'
import type { WriteItems } from './written-items.ts'

type Parts = { db: Database; identities: Identities; attachments: Attachments; writeItems: WriteItems }

export function createMessageLists({ db, identities, attachments, writeItems }: Parts) {
  let isPartsIndexThere: boolean | undefined
  const hasPartsIndex = async () => (isPartsIndexThere ??= await filterStore.hasPartsIndex(db))

  const pageOf = <R extends { id: string }>(rows: R[], limit: number) =>
    toPage(
      rows,
      limit,
      (row) => row.id,
      (row) => row,
    )

  /** The messages of the organization, or of these mailboxes, each of which has a page of its own index. */
  async function listFiltered({ organizationId, mailboxIds }: store.ListScope, filter: MessageFilter, page: PageRequest) {
    const owners: MessageOwner[] = mailboxIds?.map((id) => ({ column: 'mailbox_id', id })) ?? [
      { column: 'organization_id', id: organizationId },
    ]
    const pages: store.ListedMessage[][] = []
    for (const owner of owners) pages.push(await filterStore.listByFilter(db.reads, owner, filter, page, hasPartsIndex))
    const newestFirst = pages.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1))
    return newestFirst.slice(0, page.limit + 1)
  }

  return {
    async listMail(caller: Caller, query: QueryOf<typeof contract.listMail>) {
      const page = readPage(query, 'message')
      const mailboxIds =
        query.agent !== undefined
          ? [(await identities.requireMailbox(caller, query.agent)).mailboxId]
          : (caller.agents?.map((agent) => agent.mailboxId) ?? null)
      const scope = { organizationId: caller.organizationId, mailboxIds, threadId: query.thread_id ?? null }
      const { folder, tag, metadata, direction } = query
      const isFiltered = [folder, tag, metadata].some((value) => value !== undefined)
      const filter = { direction, thread_id: query.thread_id, folder, tag, metadata }
      // A thread is counted row by row, filters may read more, and everything else is a short read.
      const sql = scope.threadId === null ? db.reads.lookups : db.reads
      const [rows, total] = await Promise.all([
        isFiltered ? listFiltered(scope, filter, page) : store.listByScope(sql, { ...scope, direction }, page),
        store.countByScope(sql, scope),
      ])
      const { data, next_cursor } = pageOf(rows, page.limit)
      const end = `],"total":${total},"next_cursor":${JSON.stringify(next_cursor)}}`
      return new Written<ReplyOf<typeof contract.listMail>>(['{"messages":[', ...(await writeItems(data, query.view)), end])
    },

    async listMessages(caller: Caller, mailbox: string, query: QueryOf<typeof contract.listMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      if (query.status === 'quarantined') requireScope(caller, 'quarantine:read')
      const { after, before, view, limit: _limit, cursor: _cursor, ...filter } = query
      const rows = await filterStore.listByFilter(
        db.reads,
        { column: 'mailbox_id', id: mailboxId },
        {
          ...filter,
          after: after === undefined ? undefined : new Date(after),
          before: before === undefined ? undefined : new Date(before),
        },
        page,
        hasPartsIndex,
      )
      const { data, has_more, next_cursor } = pageOf(rows, page.limit)
      const end = `],"has_more":${has_more},"next_cursor":${JSON.stringify(next_cursor)}}`
      return new Written<ReplyOf<typeof contract.listMessages>>(['{"object":"list","data":[', ...(await writeItems(data, view)), end])
    },

    async search(caller: Caller, mailbox: string, query: QueryOf<typeof contract.searchMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const rows = await searchStore.search(db.reads, mailboxId, query, page)
      const marked = new Map(
        rows.map((row) => [row.id, { subject: searchStore.toMarked(row.subject_marked), text: searchStore.toMarked(row.text_marked) }]),
      )
      const { data, ...envelope } = pageOf(rows, page.limit)
      const hits = data.map(async (row) => ({
        ...toItem(row, attachments.showRows(await attachments.filesOf(row))),
        highlights: marked.get(row.id) ?? { subject: null, text: null },
      }))
      return { ...envelope, data: await Promise.all(hits) }
    },
  }
}
