// Changes and reads many messages, of every mailbox that the key may see.
import type * as contract from '@callsign/contract/batches'
import { readBatchBytesMax } from '@callsign/contract/batches'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import { type Caller, hasScope } from '../../../core/caller.ts'
import { notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import type { Call } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import type { Attachments } from '../attachments/operations.ts'
import * as mailStore from '../stored/mail-store.ts'
import { emitLabelChanges } from './label-changes.ts'
import { changeMessages } from './message-changes.ts'
import { countFitting, toMessage } from './model.ts'
import type { Threads } from './threads.ts'

/** Many messages in one request. */
export interface MessageBatches {
  /** `PATCH /mail/messages`: flags, labels, tags, metadata and the trash, in one transaction. */
  updateMessages(call: Call, body: BodyOf<typeof contract.updateMessages>): Promise<ReplyOf<typeof contract.updateMessages>>
  /** `POST /mail/messages/get`. */
  getMessages(caller: Caller, body: BodyOf<typeof contract.getMessages>): Promise<ReplyOf<typeof contract.getMessages>>
}

type Parts = { db: Database; attachments: Attachments; emit: Emit; setMessagesTrashed: Threads['setMessagesTrashed'] }

export function createMessageBatches({ db, attachments, emit, setMessagesTrashed }: Parts): MessageBatches {
  const scopeOf = ({ organizationId, agents }: Caller): mailStore.ChangeScope => ({
    organizationId,
    mailboxIds: agents?.map((agent) => agent.mailboxId) ?? null,
  })

  return {
    updateMessages: (call, body) =>
      call.transact(async (tx) => {
        const scope = scopeOf(call.caller)
        const moves = body.is_trashed === undefined ? [] : await setMessagesTrashed(tx, scope, body.ids, body.is_trashed)
        const { flags, changes } = await changeMessages(tx, scope, body.ids, body)
        const changed = new Map(flags.map((one) => [one.id, one]))
        if (changed.size === 0) throw notFound('message')
        await emitLabelChanges(emit, tx, scope.organizationId, [...moves, ...changes])
        return { data: body.ids.flatMap((id) => changed.get(id) ?? []), missing: body.ids.filter((id) => !changed.has(id)) }
      }),

    async getMessages(caller, { ids }) {
      const sizes = await mailStore.findBodySizes(db, scopeOf(caller), ids)
      const mayReadQuarantine = hasScope(caller, 'quarantine:read')
      const known = ids.filter((id) => sizes.has(id) && (mayReadQuarantine || !sizes.get(id)?.is_quarantined))
      if (known.length === 0) throw notFound('message')
      const lengths = known.map((id) => sizes.get(id)?.size ?? 0)
      const fitting = known.slice(0, countFitting(lengths, readBatchBytesMax))
      const [rows, recipients] = await Promise.all([mailStore.findMessages(db, fitting), mailStore.findRecipients(db, fitting)])
      const shown = fitting.flatMap((id) => rows.get(id) ?? [])
      const data = shown.map(async (row) => ({
        ...toMessage(row, attachments.showRows(await attachments.filesOf(row)), recipients.get(row.id) ?? []),
        raw_url: attachments.linkTo(row.id),
      }))
      return { data: await Promise.all(data), missing: ids.filter((id) => !known.includes(id)), left: known.slice(fitting.length) }
    },
  }
}
