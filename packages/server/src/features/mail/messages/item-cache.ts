// Messages as JSON, by the version of their row. Only the links of attachments are left out, which are signed for each answer.
import type { Attachment } from '@callsign/contract/attachments'
import type { Static } from 'typebox'
import { LruCache } from '../../../core/lru-cache.ts'

type UnlinkedFile = Omit<Static<typeof Attachment>, 'url'>

/** The JSON up to the value of `attachments`, which is the last field or the one before the links of the message. */
export type MessageJson = { version: string; start: Buffer; files: UnlinkedFile[] }

const bytesMax = 16 * 1024 * 1024
const itemBytesMax = 256 * 1024
/** The estimated memory of an item besides its bytes, and of a file. */
const overheadBytes = 300

/** The JSON of an object up to a further field, `attachments`. */
export const startOf = (fields: object): Buffer => Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"attachments":`)

const sizeOf = ({ start, files }: MessageJson): number => start.length + (files.length + 1) * overheadBytes

/** The messages that were read last, of any mailbox. The database decides each time which of them a caller may see. */
export class ItemCache extends LruCache<MessageJson> {
  constructor() {
    super({ sizeMax: bytesMax, valueSizeMax: itemBytesMax, sizeOf })
  }

  /** The item, unless it has another version. */
  find(key: string, version: string): MessageJson | undefined {
    const item = this.get(key)
    return item?.version === version ? item : undefined
  }
}
