// Operations on texts: list, wait, get, mark as read, and describe them for events.
import type { SmsMessage } from '@callsign/contract/phones'
import type { Static } from 'typebox'
import { batchLoader } from '../../core/batch.ts'
import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../core/page.ts'
import { type Call, Later } from '../../core/route.ts'
import type { Database } from '../../core/sql.ts'
import type { Wait, WaitQuery } from '../../core/wait.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import * as store from './message-store.ts'
import { isWanted, type SmsRow, type SmsWants, toSmsFacts, toSmsMessage } from './model.ts'
import type { Phones } from './operations.ts'

type Sms = Static<typeof SmsMessage>

export interface Inbox {
  /** `GET /phone/numbers/{id}/messages`: newest first. */
  listSmsMessages(caller: Caller, reference: string, query: PageQuery & { is_read?: boolean; from?: string }): Promise<Page<Sms>>
  /** `GET /phone/numbers/{id}/wait`. */
  waitForSms(caller: Caller, reference: string, query: WaitQuery & SmsWants): Promise<Later<{ message: Sms | null; cursor: string }>>
  /** `GET /phone/numbers/{id}/messages/{message_id}`. */
  getSmsMessage(caller: Caller, reference: string, id: string): Promise<Sms>
  /** `PATCH /phone/numbers/{id}/messages/{message_id}`. */
  updateSmsMessage(call: Call, reference: string, id: string, body: { is_read: boolean }): Promise<Sms>
  /** The media file with this attachment id. */
  findFile(id: string): Promise<store.MediaRow | null>
  /** The keys among these that media uses. */
  findNamedBlobs(keys: string[]): Promise<string[]>
  /** Texts in events. Media has no links, because a link expires after an hour. */
  describe(ids: string[]): Promise<Map<string, Record<string, unknown>>>
}

type Parts = { db: Database; phones: Phones; attachments: Attachments; wait: Wait }

export function createInbox({ db, phones, attachments, wait }: Parts): Inbox {
  const loadMedia = batchLoader((ids) => store.findMedia(db, ids))

  /** Media of a text, with fresh links or without. */
  async function mediaOf(row: SmsRow, hasLinks: boolean) {
    const files = row.type === 'sms' ? [] : ((await loadMedia(row.id)) ?? [])
    return files.map(({ id, content_type, size_bytes, is_missing }) => ({
      content_type,
      size_bytes,
      url: hasLinks && !is_missing ? attachments.linkTo(id) : null,
    }))
  }

  const show = async (row: SmsRow) => toSmsMessage(row, await mediaOf(row, true))

  return {
    async listSmsMessages(caller, reference, query) {
      const number = await phones.requireNumber(caller, reference)
      const page = readPage(query, 'sms')
      const rows = await store.listSms(db.reads, number.id, { isRead: query.is_read ?? null, from: query.from ?? null }, page)
      const { data, ...envelope } = toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => row,
      )
      return { ...envelope, data: await Promise.all(data.map(show)) }
    },

    async waitForSms(caller, reference, query) {
      const number = await phones.requireNumber(caller, reference)
      const owner = { organizationId: number.organization_id, identityId: number.identity_id as string }
      const pick = async (ids: string[], after: Date | null) => {
        const rows = await store.findTexts(db, ids)
        // Texts of the agent's earlier numbers do not count.
        const row = ids.map((id) => rows.get(id)).find((one) => one?.phone_number_id === number.id && isWanted(one, query, after))
        return row ? { id: row.id, value: await show(row) } : null
      }
      return new Later(async (signal) => {
        const { found, cursor } = await wait({ caller, owner, types: ['sms.received'], query, pick, signal })
        return { message: found, cursor }
      })
    },

    async getSmsMessage(caller, reference, id) {
      const number = await phones.requireNumber(caller, reference)
      const row = await store.findSms(db, number.id, id)
      if (!row) throw notFound('message')
      return show(row)
    },

    async updateSmsMessage(call, reference, id, body) {
      const number = await phones.requireNumber(call.caller, reference)
      if (!(await call.transact((tx) => store.setRead(tx, number.id, id, body.is_read)))) throw notFound('message')
      return this.getSmsMessage(call.caller, number.id, id)
    },

    findFile: (id) => store.findFile(db, id),
    findNamedBlobs: (keys) => store.findNamedBlobs(db, keys),

    async describe(ids) {
      const rows = [...(await store.findTexts(db, ids)).values()]
      const described = rows.map(async (row) => {
        return [row.id, toSmsFacts(row, await mediaOf(row, false))] as const
      })
      return new Map(await Promise.all(described))
    },
  }
}
