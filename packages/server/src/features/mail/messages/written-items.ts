// Items of lists as JSON, cached by the version of their row. A list then reads ids and versions, and copies bytes.
import type { View } from '@callsign/contract/message-views'
import type { Sql } from '../../../core/sql.ts'
import type { Attachments } from '../attachments/operations.ts'
import { toItem } from './model.ts'
import * as store from './store.ts'

/** An item without its attachments, which get new links in every answer. */
type Item = { version: string; start: Buffer; hasAttachments: boolean }

const bytesMax = 24 * 1024 * 1024
const itemBytesMax = 256 * 1024
/** The estimated memory of an item besides its bytes. */
const overheadBytes = 300

/** The items that were listed last, of any mailbox. The database decides each time which of them a caller may see. */
class ItemCache {
  readonly #items = new Map<string, Item>()
  #bytes = 0

  get(key: string, version: string): Item | undefined {
    const item = this.#items.get(key)
    if (item?.version !== version) return undefined
    this.#items.delete(key)
    this.#items.set(key, item)
    return item
  }

  /** Keeps an item of up to 256 KiB. Drops those that were not listed for the longest time. */
  keep(key: string, item: Item): void {
    this.#drop(key)
    if (item.start.length > itemBytesMax) return
    this.#items.set(key, item)
    this.#bytes += item.start.length + overheadBytes
    for (const oldest of this.#items.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const item = this.#items.get(key)
    if (item === undefined) return
    this.#items.delete(key)
    this.#bytes -= item.start.length + overheadBytes
  }
}

const comma = Buffer.from(',')
const noAttachments = Buffer.from('[]}')

/** The items of listed messages as parts of a JSON array. Leaves out a message that was deleted since it was listed. */
export type WriteItems = (listed: store.ListedMessage[], view?: View) => Promise<Buffer[]>

export function createItemWriter(sql: Sql, attachments: Attachments): WriteItems {
  const cache = new ItemCache()

  async function loadItems(listed: store.ListedMessage[], view: View): Promise<Map<string, Item>> {
    const items = new Map<string, Item>()
    const missing: string[] = []
    for (const { id, version } of listed) {
      const item = cache.get(view + id, version)
      if (item) items.set(id, item)
      else missing.push(id)
    }
    if (missing.length === 0) return items
    for (const row of await store.findListed(sql, missing, view)) {
      // Columns that the view does not read are undefined, and JSON leaves them out.
      const { attachments: _none, ...fields } = toItem(row, [])
      const start = Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"attachments":`)
      const item = { version: row.version, start, hasAttachments: row.attachment_count > 0 }
      items.set(row.id, item)
      cache.keep(view + row.id, item)
    }
    return items
  }

  const writeAttachments = async (id: string): Promise<Buffer> => Buffer.from(`${JSON.stringify(await attachments.show(id))}}`)

  return async (listed, view = 'full') => {
    const items = await loadItems(listed, view)
    const ends = new Map<string, Buffer>()
    const files = listed.filter(({ id }) => items.get(id)?.hasAttachments)
    await Promise.all(files.map(async ({ id }) => ends.set(id, await writeAttachments(id))))
    const parts: Buffer[] = []
    for (const { id } of listed) {
      const item = items.get(id)
      if (item) parts.push(comma, item.start, ends.get(id) ?? noAttachments)
    }
    return parts.slice(1)
  }
}
