// Lists of messages, and search: one keyset page per request.
import { isId } from '@callsign/contract/ids'
import { type View, viewDefault } from '@callsign/contract/message-views'
import type * as contract from '@callsign/contract/messages'
import type { QueryOf, ReplyOf } from '@callsign/contract/operation'
import { batchLoader } from '../../../core/batch.ts'
import { type Caller, requireScope } from '../../../core/caller.ts'
import { LruCache } from '../../../core/lru-cache.ts'
import { type PageRequest, readPage, toPage } from '../../../core/page.ts'
import { Written } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import { shareThread } from '../../../core/turn.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Attachments } from '../attachments/operations.ts'
import type { MessageFilter, MessageOwner } from './filter-conditions-store.ts'
import * as filterStore from './filter-store.ts'
import type { WriteItems } from './item-json.ts'
import * as listStore from './list-store.ts'
import { inView, searchedCharactersMax, toItem } from './model.ts'
import { markAll, markPieces, readQuery } from './search-query.ts'
import { inSearchSlot } from './search-slots.ts'
import * as searchStore from './search-store.ts'
import type * as store from './store.ts'

type Parts = { db: Database; identities: Identities; attachments: Attachments; writeItems: WriteItems }

export type MailQuery = QueryOf<typeof contract.listMail>
export type MailReply = Written<ReplyOf<typeof contract.listMail>>

const isFiltered = ({ folder, tag, metadata }: MailQuery): boolean => [folder, tag, metadata].some((value) => value !== undefined)

/** Pages as JSON. A key names the versions of all messages, and takes memory as well. */
const pageLimits = {
  sizeMax: 4 * 1024 * 1024,
  valueSizeMax: 1024 * 1024,
  sizeOf: (page: Buffer, key: string): number => page.length + key.length,
}

export function createMessageLists({ db, identities, attachments, writeItems }: Parts) {
  const pages = new LruCache<Buffer>(pageLimits)
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

  // Requests of one turn for the same page share a statement.
  const loadPage = batchLoader<listStore.MailPage>(
    async (keys) => new Map(await Promise.all(keys.map(async (key) => [key, await loadOne(key)] as const))),
    { batchMax: 16, inFlightMax: 4 },
  )
  const loadOne = (key: string) => listStore.findMailPage(db.reads.lookups, ...(JSON.parse(key) as [listStore.ListScope, PageRequest]))
  const findPage = async (scope: listStore.ListScope, page: PageRequest) =>
    (await loadPage(JSON.stringify([scope, page]))) as listStore.MailPage

  /** Starts to read the page of an unfiltered list. */
  function lookAheadMail({ organizationId, agents }: Caller, query: MailQuery): Promise<listStore.MailPage> | undefined {
    if (query.agent !== undefined || query.thread_id !== undefined || isFiltered(query)) return undefined
    if (query.cursor !== undefined && !isId('message', query.cursor)) return undefined
    const mailboxIds = agents?.map((agent) => agent.mailboxId) ?? null
    return findPage({ organizationId, mailboxIds, direction: query.direction }, readPage(query, 'message'))
  }

  /** A list is written again only when a message on it, or its total, has changed. */
  async function writePage({ listed, total }: listStore.MailPage, page: PageRequest, view: View = viewDefault): Promise<MailReply> {
    const key = `${view} ${page.limit} ${total} ${listed}`
    const known = pages.get(key)
    return known ? new Written([known]) : writeMail(listStore.readListed(listed), total, page, view, key)
  }

  async function writeMail(rows: store.ListedMessage[], total: number, page: PageRequest, view?: View, key?: string): Promise<MailReply> {
    const { data, has_more, next_cursor } = pageOf(rows, page.limit)
    const { parts, isLasting } = await writeItems(data, view)
    const written: MailReply = new Written([
      '{"messages":[',
      ...parts,
      `],"total":${total},"object":"list","data":[`,
      ...parts,
      `],"has_more":${has_more},"next_cursor":${JSON.stringify(next_cursor)}}`,
    ])
    if (isLasting && key !== undefined) pages.keep(key, written.bytes)
    return written
  }

  return {
    lookAheadMail,

    async listMail(caller: Caller, query: MailQuery, ahead?: Promise<listStore.MailPage>) {
      const page = readPage(query, 'message')
      const mailboxIds =
        query.agent !== undefined
          ? [(await identities.requireMailbox(caller, query.agent)).mailboxId]
          : (caller.agents?.map((agent) => agent.mailboxId) ?? null)
      const { direction, thread_id: threadId } = query
      const scope = { organizationId: caller.organizationId, mailboxIds, direction }
      if (threadId === undefined && !isFiltered(query)) return writePage(await (ahead ?? findPage(scope, page)), page, query.view)
      const [rows, total] = await Promise.all([
        isFiltered(query)
          ? listFiltered(scope, { direction, thread_id: threadId, folder: query.folder, tag: query.tag, metadata: query.metadata }, page)
          : listStore.listByThread(db.reads, { ...scope, threadId: threadId as string }, page),
        threadId === undefined
          ? listStore.countByScope(db.reads.lookups, scope)
          : listStore.countByThread(db.reads, { ...scope, threadId }),
      ])
      return writeMail(rows, total, page, query.view)
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
      return new Written<ReplyOf<typeof contract.listMessages>>(['{"object":"list","data":[', ...(await writeItems(data, view)).parts, end])
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
