// Finds the recipients of outbound messages, those of concurrent calls in one query.
import { batchLoader } from '../../../core/batch.ts'
import type { Database } from '../../../core/sql.ts'
import * as mailStore from '../stored/mail-store.ts'
import type { RecipientRow } from '../stored/model.ts'

/** Returns a function from a message's id to its recipients, in order. The list is empty when the message was deleted. */
export function createFindRecipients(db: Database): (messageId: string) => Promise<RecipientRow[]> {
  const load = batchLoader((ids) => mailStore.findRecipients(db, ids))
  return async (messageId) => (await load(messageId)) ?? []
}
