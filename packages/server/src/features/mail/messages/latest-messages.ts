// The summaries of the latest messages of listed threads.
import type { MessageItem } from '@callsign/contract/message-views'
import type { Static } from 'typebox'
import type { Sql } from '../../../core/sql.ts'
import type { WriteItems } from './item-json.ts'
import { findVersions } from './store.ts'

/** Summaries of messages by id, from the cache of list items. Leaves out a message that was deleted since its thread was listed. */
export async function findLatest(sql: Sql, writeItems: WriteItems, ids: string[]): Promise<Map<string, Static<typeof MessageItem>>> {
  if (ids.length === 0) return new Map()
  const { parts } = await writeItems(await findVersions(sql, ids), 'summary')
  const items = JSON.parse(`[${Buffer.concat(parts).toString()}]`) as Static<typeof MessageItem>[]
  return new Map(items.map((item) => [item.id, item]))
}
