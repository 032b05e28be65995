// Messages as JSON, by the version of their row. Only the links of attachments are left out, which are signed for each answer.
import type { Attachment } from '@callsign/contract/attachments'
import type { Static } from 'typebox'

type WrittenFile = Omit<Static<typeof Attachment>, 'url'>

/** The JSON up to the value of `attachments`, which is the last field or the one before the links of the message. */
export type WrittenItem = { version: string; start: Buffer; files: WrittenFile[] }

const bytesMax = 24 * 1024 * 1024
const itemBytesMax = 256 * 1024
/** The estimated memory of an item besides its bytes, and of a file. */
const overheadBytes = 300

/** The JSON of an object up to a further field, `attachments`. */
export const startOf = (fields: object): Buffer => Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"attachments":`)

const sizeOf = ({ start, files }: WrittenItem): number => start.length + (files.length + 1) * overheadBytes

/** The messages that were read last, of any mailbox. The database decides each time which of them a caller may see. */
export class ItemCache {
  readonly #items = new Map<string, WrittenItem>()
  #bytes = 0

  has(key: string): boolean {
    return this.#items.has(key)
  }

  get(key: string, version: string): WrittenItem | undefined {
    const item = this.#items.get(key)
    if (item?.version !== version) return undefined
    this.#items.delete(key)
    this.#items.set(key, item)
    return item
  }

  /** Keeps an item of up to 256 KiB. Drops those that were not read for the longest time. */
  keep(key: string, item: WrittenItem): void {
    this.#drop(key)
    if (sizeOf(item) > itemBytesMax) return
    this.#items.set(key, item)
    this.#bytes += sizeOf(item)
    for (const oldest of this.#items.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const item = this.#items.get(key)
    if (item === undefined) return
    this.#items.delete(key)
    this.#bytes -= sizeOf(item)
  }
}
