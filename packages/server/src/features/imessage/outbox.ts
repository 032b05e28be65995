// Queues outgoing messages per chat. Each chat has at most one job, so that messages keep their order.
import { now } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue } from '../../core/job.ts'
import type { Tx } from '../../core/sql.ts'
import { type ChatRow, chatJob } from './model.ts'
import { findFirstOrganization, insertSends, type NewSend } from './sending-store.ts'
import { updateChat } from './store.ts'

export interface Outbox {
  /** Appends pieces to the queue of a chat, which the caller has locked. */
  say(tx: Tx, chat: ChatRow, pieces: OutgoingText[]): Promise<void>
}

/** A piece of a message, or a text of the router. */
type OutgoingText = Pick<NewSend, 'text'> & Partial<Pick<NewSend, 'message_id' | 'organization_id' | 'part' | 'media_id'>>

export function createOutbox(enqueue: Enqueue): Outbox {
  return {
    async say(tx, chat, pieces) {
      const rows = pieces.map(
        (piece): NewSend => ({
          id: newId('imessageSend'),
          chat_id: chat.id,
          organization_id: piece.organization_id ?? null,
          message_id: piece.message_id ?? null,
          part: piece.part ?? 0,
          text: piece.text,
          media_id: piece.media_id ?? null,
        }),
      )
      await insertSends(tx, rows, now())
      if (chat.is_sending) return
      await updateChat(tx, chat.id, { isSending: true })
      chat.is_sending = true
      const organizationId = rows[0]?.organization_id ?? (await findFirstOrganization(tx))
      await enqueue(tx, [{ kind: chatJob, organizationId, subject: chat.id }])
    },
  }
}
