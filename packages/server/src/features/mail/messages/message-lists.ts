// Lists of messages, and search: one keyset page per request.
import type { View } from '@callsign/contract/message-views'
import type * as contract from '@callsign/contract/messages'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { type Caller, requireScope } from '../../../core/caller.ts'
import { type PageRequest, readPage, toPage } from '../../../core/page.ts'
import type { Database } from '../../../core/sql.ts'
import { shareThread } from '../../../core/turn.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageFilter, MessageOwner } from '../stored/lists/filter-conditions-store.ts'
import * as filterStore from '../stored/lists/filter-store.ts'
import * as listStore from '../stored/lists/list-store.ts'
import type * as store from '../stored/message-store.ts'
import { markAll, markPieces, readQuery } from '../stored/search/search-query.ts'
import { inSearchSlot } from '../stored/search/search-slots.ts'
import * as searchStore from '../stored/search/search-store.ts'
import type { ShowListed } from './listed-messages.ts'
import { inView, searchedCharactersMax, toItem } from './model.ts'

type Parts = { db: Database; identities: Identities; attachments: Attachments; showListed: ShowListed }

export type MailQuery = QueryOf<typeof contract.listMail>

const isFiltered = ({ folder, tag, metadata }: MailQuery): boolean => [folder, tag, metadata].some((value) => value !== undefined)

export function createMessageLists({ db, identities, attachments, showListed }: Parts) {
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
  async function listFiltered({ organizationId, mailboxIds }: listStore.ListScope, filter: MessageFilter, page: PageRequest) {
    const owners: MessageOwner[] = mailboxIds?.map((id) => ({ column: 'mailbox_id', id })) ?? [
      { column: 'organization_id', id: organizationId },
    ]
    const pages: store.ListedMessage[][] = []
    for (const owner of owners) pages.push(await filterStore.listByFilter(db.reads, owner, filter, page, hasPartsIndex))
    const newestFirst = pages.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1))
    return newestFirst.slice(0, page.limit + 1)
  }

  async function showPage<R extends { id: string }>(rows: R[], page: PageRequest, view: View | undefined) {
    const { data, ...envelope } = pageOf(rows, page.limit)
    return { ...envelope, data: await showListed(idsOf(data), view) }
  }

  async function findMail(scope: listStore.ListScope, query: MailQuery, page: PageRequest): Promise<listStore.MailPage> {
    const { direction, thread_id, folder, tag, metadata } = query
    if (thread_id === undefined && !isFiltered(query)) return listStore.findMailPage(db.reads, scope, page)
    const [rows, total] = await Promise.all([
      isFiltered(query)
        ? listFiltered(scope, { direction, thread_id, folder, tag, metadata }, page)
        : listStore.listByThread(db.reads, { ...scope, threadId: thread_id as string }, page),
      thread_id === undefined
        ? listStore.countByScope(db.reads, scope)
        : listStore.countByThread(db.reads, { ...scope, threadId: thread_id }),
    ])
    return { ids: idsOf(rows), total }
  }

  return {
    async listMail(caller: Caller, query: MailQuery): Promise<ReplyOf<typeof contract.listMail>> {
      const page = readPage(query, 'message')
      const mailboxIds =
        query.agent !== undefined
          ? [(await identities.requireMailbox(caller, query.agent)).mailboxId]
          : (caller.agents?.map((agent) => agent.mailboxId) ?? null)
      const scope = { organizationId: caller.organizationId, mailboxIds, direction: query.direction }
      const { ids, total } = await findMail(scope, query, page)
      const { data, ...envelope } = await showPage(
        ids.map((id) => ({ id })),
        page,
        query.view,
      )
      return { ...envelope, messages: data, data, total }
    },

    async listMessages(
      caller: Caller,
      mailbox: string,
      query: QueryOf<typeof contract.listMessages>,
    ): Promise<ReplyOf<typeof contract.listMessages>> {
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
      return showPage(rows, page, view)
    },

    /** True when a mailbox has sent mail to an address or has received mail from it. */
    async hasExchanged(mailboxId: string, address: string): Promise<boolean> {
      const filters = [
        { to: address, direction: 'outbound' as const },
        { from: address, direction: 'inbound' as const },
      ]
      const one = { limit: 1, cursor: null }
      const found = await Promise.all(
        filters.map((filter) => filterStore.listByFilter(db.reads, { column: 'mailbox_id', id: mailboxId }, filter, one, hasPartsIndex)),
      )
      return found.some((rows) => rows.length > 0)
    },

    async search(caller: Caller, mailbox: string, query: QueryOf<typeof contract.searchMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const q = readQuery(query.q)
      const rows = await inSearchSlot(caller.organizationId, () => searchStore.search(db.reads, mailboxId, { ...query, q }, page))
      const { data, ...envelope } = pageOf(rows, page.limit)
      const hits: ReplyOf<typeof contract.searchMessages>['data'] = []
      for (const row of data) {
        const item = inView(toItem(row, attachments.showRows(await attachments.filesOf(row))), query.view)
        const highlights = await shareThread(caller.organizationId, () => ({
          subject: markAll(row.subject, q),
          text: markPieces(row.text.slice(0, searchedCharactersMax), q),
        }))
        hits.push({ ...item, highlights })
      }
      return { ...envelope, data: hits }
    },
  }
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)
