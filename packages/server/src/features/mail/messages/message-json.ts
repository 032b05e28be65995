// One message as JSON. A message that was read before costs a lookup of its version, and its bytes.
import type * as contract from '@callsign/contract/messages'
import type { ReplyOf } from '@callsign/contract/operation'
import { batchLoader } from '../../../core/batch.ts'
import { Written } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import { shareThread } from '../../../core/turn.ts'
import type { Attachments } from '../attachments/operations.ts'
import { type ItemCache, type MessageJson, startOf } from './item-cache.ts'
import { type MessageRow, type RecipientRow, toMessage } from './model.ts'
import * as store from './store.ts'

/** A message, or only its place when its JSON was cached at the time of the lookup. */
export type FoundMessage = store.MessagePlace & { row: MessageRow | null }

/** Messages with longer bodies are written one after another. */
const largeCharacters = 64 * 1024

type Parts = {
  db: Database
  attachments: Attachments
  cache: ItemCache
  findRecipients: (messageId: string) => Promise<RecipientRow[]>
}

export type MessageWriter = {
  /** The message, by its place alone when that is enough to write it. */
  find(id: string): Promise<FoundMessage | null>
  /** The message with its row. */
  findWhole(id: string): Promise<FoundMessage | null>
  /** The message as it was found. Null when its JSON is not cached any more, so that its row is needed. */
  write(found: FoundMessage): Promise<Written<ReplyOf<typeof contract.getMessage>>> | null
}

export function createMessageWriter({ db, attachments, cache, findRecipients }: Parts): MessageWriter {
  const loadPlace = batchLoader((ids) => store.findPlaces(db.lookups, ids))
  const loadPlaced = batchLoader((ids) => store.findPlaced(db.lookups, ids))
  const keyOf = (id: string) => `message${id}`

  const findWhole = async (id: string): Promise<FoundMessage | null> => {
    const row = await loadPlaced(id)
    return row && { ...placeOf(row), row }
  }

  const findPlace = async (id: string): Promise<FoundMessage | null> => {
    const place = await loadPlace(id)
    return place && { ...place, row: null }
  }

  async function load(row: MessageRow, version: string): Promise<MessageJson> {
    const [recipients, files] = await Promise.all([row.direction === 'outbound' ? findRecipients(row.id) : [], attachments.filesOf(row)])
    const { attachments: _none, ...fields } = toMessage(row, [], recipients)
    const isLarge = row.text.length + row.html.length > largeCharacters
    const item = { version, start: isLarge ? await shareThread(row.organization_id, () => startOf(fields)) : startOf(fields), files }
    // Recipients that were read after the version may be newer. The next version differs then.
    cache.keep(keyOf(row.id), item)
    return item
  }

  const writeFiles = (files: MessageJson['files']): string => (files.length === 0 ? '[]' : JSON.stringify(attachments.showRows(files)))

  const finish = ({ start, files }: MessageJson, id: string) =>
    new Written<ReplyOf<typeof contract.getMessage>>([start, `${writeFiles(files)},"raw_url":${JSON.stringify(attachments.linkTo(id))}}`])

  return {
    find: (id) => (cache.has(keyOf(id)) ? findPlace(id) : findWhole(id)),
    findWhole,
    write({ id, version, row }) {
      const item = cache.find(keyOf(id), version)
      if (item) return Promise.resolve(finish(item, id))
      return row && load(row, version).then((loaded) => finish(loaded, id))
    },
  }
}

const placeOf = ({ id, organization_id, mailbox_id, status, agent_handle, address, version }: store.MessagePlace): store.MessagePlace => ({
  id,
  organization_id,
  mailbox_id,
  status,
  agent_handle,
  address,
  version,
})
