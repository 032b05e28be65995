// Changes of the flags, labels, tags and metadata of messages, of one or many.
import type { MessageFlags, updateMessage } from '@callsign/contract/messages'
import { labelsMax } from '@callsign/contract/metadata'
import type { BodyOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import { now } from '../../../core/clock.ts'
import { invalid } from '../../../core/errors.ts'
import { checkMetadataValues, metadataTooLarge, readTags, toTags } from '../../../core/metadata.ts'
import { isCheckViolation, type Tx } from '../../../core/sql.ts'
import * as mailStore from '../stored/mail-store.ts'
import { type LabelChange, labelChangeOf } from './label-changes.ts'

type Change = BodyOf<typeof updateMessage>

/** Changes messages of the scope, in the caller's transaction, and returns the changes of their labels too. Messages outside the scope are absent. */
export async function changeMessages(
  tx: Tx,
  scope: mailStore.ChangeScope,
  ids: string[],
  change: Change,
): Promise<{ flags: Static<typeof MessageFlags>[]; changes: LabelChange[] }> {
  if (change.metadata) checkMetadataValues(change.metadata)
  const changed = await mailStore
    .updateFlags(tx, scope, ids, {
      isRead: change.is_read ?? null,
      isStarred: change.is_starred ?? null,
      labels: change.labels ?? null,
      add: change.add_labels ?? [],
      remove: change.remove_labels ?? [],
      tags: change.tags === undefined ? null : (readTags(change.tags) ?? []),
      metadata: change.metadata ?? null,
      at: now(),
    })
    .catch((error: unknown) => {
      throw isCheckViolation(error, 'messages_metadata') ? metadataTooLarge() : error
    })
  if (changed.some(({ labels }) => labels.length > labelsMax)) throw invalid('/add_labels', `a message has at most ${labelsMax} labels`)
  const flags = changed.map(({ id, is_read, is_starred, labels, tags, metadata }) => ({
    id,
    is_read,
    is_starred,
    labels,
    tags: toTags(tags),
    metadata: metadata ?? {},
  }))
  return { flags, changes: changed.map(labelChangeOf) }
}
