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
import * as mailStore from '../stored/mail-store.ts'
import {
  exactly,
  findNewest,
  inSearchSlot,
  type MessageFilter,
  type MessageOwner,
  markAll,
  markPieces,
  toConditions,
  toFieldQuery,
} from '../stored/mail-store.ts'
import { searchedCharactersMax } from '../stored/model.ts'
import type { ShowListed } from './listed-messages.ts'
import { countFitting, inView, toItem } from './model.ts'

type Parts = { db: Database; identities: Identities; attachments: Attachments; showListed: ShowListed }

export type MailQuery = QueryOf<typeof contract.listMail>

const isFiltered = ({ folder, tag, metadata }: MailQuery): boolean => [folder, tag, metadata].some((value) => value !== undefined)

export function createMessageLists({ db, identities, attachments, showListed }: Parts) {
  const findFiltered = (owner: MessageOwner, filter: MessageFilter, page: PageRequest): Promise<string[]> =>
    findNewest(db.reads, toConditions(owner, filter), page)

  const pageOf = <R extends { id: string }>(rows: R[], limit: number) =>
    toPage(
      rows,
      limit,
      (row) => row.id,
      (row) => row,
    )

  /** The messages of the organization, or of these mailboxes, each of which has a page of its own index. */
  async function listFiltered({ organizationId, mailboxIds }: mailStore.ListScope, filter: MessageFilter, page: PageRequest) {
    const owners: MessageOwner[] = mailboxIds?.map((id) => ({ column: 'mailbox_id', id })) ?? [
      { column: 'organization_id', id: organizationId },
    ]
    const pages: string[][] = []
    for (const owner of owners) pages.push(await findFiltered(owner, filter, page))
    return pages
      .flat()
      .toSorted()
      .toReversed()
      .slice(0, page.limit + 1)
  }

  async function showPage(ids: string[], page: PageRequest, view: View | undefined) {
    const { data, ...envelope } = toPage(
      ids,
      page.limit,
      (id) => id,
      (id) => id,
    )
    const shown = await showListed(data, view)
    const lengths = shown.map(({ text = '', html = '', extracted_text = '' }) => text.length + html.length + extracted_text.length)
    const fitting = shown.slice(0, countFitting(lengths, pageCharactersMax))
    const next = fitting.length < shown.length ? { has_more: true, next_cursor: fitting.at(-1)?.id ?? null } : {}
    return { ...envelope, ...next, data: fitting }
  }

  async function findMail(scope: mailStore.ListScope, query: MailQuery, page: PageRequest): Promise<mailStore.MailPage> {
    const { direction, thread_id, folder, tag, metadata } = query
    if (thread_id === undefined && !isFiltered(query)) return mailStore.findMailPage(db.reads, scope, page)
    const [ids, total] = await Promise.all([
      isFiltered(query)
        ? listFiltered(scope, { direction, thread_id, folder, tag, metadata }, page)
        : mailStore.listByThread(db.reads, { ...scope, threadId: thread_id as string }, page).then(idsOf),
      thread_id === undefined
        ? mailStore.countByScope(db.reads, scope)
        : mailStore.countByThread(db.reads, { ...scope, threadId: thread_id }),
    ])
    return { ids, total }
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
      const { data, ...envelope } = await showPage(ids, page, query.view)
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
      const { after, before, view, limit: _limit, cursor: _cursor, from, to, subject, ...filter } = query
      const search = toFieldQuery({ from, to, subject })
      const find = () =>
        findFiltered(
          { column: 'mailbox_id', id: mailboxId },
          {
            ...filter,
            search,
            after: after === undefined ? undefined : new Date(after),
            before: before === undefined ? undefined : new Date(before),
          },
          page,
        )
      const ids = await (search === undefined ? find() : inSearchSlot(caller.organizationId, find))
      return showPage(ids, page, view)
    },

    /** True when a mailbox has sent mail to an address or has received mail from it. */
    async hasExchanged(mailboxId: string, address: string): Promise<boolean> {
      const filters = [
        { search: exactly('to', address), direction: 'outbound' as const },
        { search: exactly('author', address), direction: 'inbound' as const },
      ]
      const owner = { column: 'mailbox_id' as const, id: mailboxId }
      const found = await Promise.all(filters.map((filter) => findFiltered(owner, filter, { limit: 1, cursor: null })))
      return found.some((ids) => ids.length > 0)
    },

    async search(caller: Caller, mailbox: string, query: QueryOf<typeof contract.searchMessages>) {
      const page = readPage(query, 'message')
      const { mailboxId } = await identities.requireMailbox(caller, mailbox)
      const { tag, metadata } = query
      const owner = { organizationId: caller.organizationId, mailboxId }
      const { rows, query: words } = await mailStore.search(db.reads, owner, query.q, { tag, metadata }, page)
      const { data, ...envelope } = pageOf(rows, page.limit)
      const hits: ReplyOf<typeof contract.searchMessages>['data'] = []
      for (const row of data) {
        const item = inView(toItem(row, attachments.showRows(await attachments.filesOf(row))), query.view)
        const highlights = await shareThread(caller.organizationId, () => ({
          subject: markAll(row.subject, words),
          text: markPieces(row.text.slice(0, searchedCharactersMax), words),
        }))
        hits.push({ ...item, highlights })
      }
      return { ...envelope, data: hits }
    },
  }
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)

/** Characters of one response, which has them twice. A string of Node has at most 537 million. */
const pageCharactersMax = 64 * 1024 * 1024
