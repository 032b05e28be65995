// Listed messages as the API shows them.
import { type MessageItem, type View, viewDefault } from '@callsign/contract/message-views'
import type { Static } from 'typebox'
import type { Sql } from '../../../core/sql.ts'
import type { Attachments } from '../attachments/operations.ts'
import { findListed } from '../stored/mail-store.ts'
import { toItem } from './model.ts'

/** The messages of these ids, in this order, with the fields of the view. Leaves out one that was deleted since it was listed. */
export type ShowListed = (ids: string[], view?: View) => Promise<Static<typeof MessageItem>[]>

export const createShowListed =
  (sql: Sql, attachments: Attachments): ShowListed =>
  async (ids, view = viewDefault) => {
    const rows = new Map((await findListed(sql, ids, view)).map((row) => [row.id, row]))
    const known = ids.flatMap((id) => rows.get(id) ?? [])
    // Columns that the view does not read are undefined, and the response leaves them out.
    return Promise.all(known.map(async (row) => toItem(row, attachments.showRows(await attachments.filesOf(row)))))
  }

/** The threads with the summary of the message that each ends with. */
export async function addLatest<T extends { last_message_id: string }>(
  threads: T[],
  showListed: ShowListed,
): Promise<(T & { last_message?: Static<typeof MessageItem> })[]> {
  const shown = await showListed(
    threads.map((thread) => thread.last_message_id),
    'summary',
  )
  const latest = new Map(shown.map((message) => [message.id, message]))
  return threads.map((thread) => {
    const last = latest.get(thread.last_message_id)
    return last ? { ...thread, last_message: last } : thread
  })
}
