// Items of lists as JSON, cached by the version of their row. A list then reads ids and versions, and copies bytes.
import { type View, viewDefault } from '@callsign/contract/message-views'
import type { Sql } from '../../../core/sql.ts'
import type { Attachments } from '../attachments/operations.ts'
import { ItemCache, type MessageJson, startOf } from './item-cache.ts'
import { toItem } from './model.ts'
import * as store from './store.ts'

const comma = Buffer.from(',')
const noAttachments = Buffer.from('[]}')

/** Parts of a JSON array. `isLasting` is false when it has links, which are signed for each answer. */
export type ItemsJson = { parts: Buffer[]; isLasting: boolean }

/** The items of listed messages. Leaves out a message that was deleted since it was listed. */
export type WriteItems = (listed: store.ListedMessage[], view?: View) => Promise<ItemsJson>

export function createItemWriter(sql: Sql, attachments: Attachments, cache = new ItemCache()): WriteItems {
  async function loadItems(listed: store.ListedMessage[], view: View): Promise<Map<string, MessageJson>> {
    const items = new Map<string, MessageJson>()
    const missing: string[] = []
    for (const { id, version } of listed) {
      const item = cache.find(view + id, version)
      if (item) items.set(id, item)
      else missing.push(id)
    }
    if (missing.length === 0) return items
    const rows = await store.findListed(sql, missing, view)
    const written = rows.map(async (row) => {
      // Columns that the view does not read are undefined, and JSON leaves them out.
      const { attachments: _none, ...fields } = toItem(row, [])
      const item = { version: row.version, start: startOf(fields), files: await attachments.filesOf(row) }
      items.set(row.id, item)
      cache.keep(view + row.id, item)
    })
    await Promise.all(written)
    return items
  }

  const writeFiles = (files: MessageJson['files']): Buffer => Buffer.from(`${JSON.stringify(attachments.showRows(files))}}`)

  return async (listed, view = viewDefault) => {
    const items = await loadItems(listed, view)
    const parts: Buffer[] = []
    let isLasting = true
    for (const { id } of listed) {
      const item = items.get(id)
      if (!item) continue
      isLasting &&= item.files.length === 0
      parts.push(comma, item.start, item.files.length === 0 ? noAttachments : writeFiles(item.files))
    }
    return { parts: parts.slice(1), isLasting }
  }
}
