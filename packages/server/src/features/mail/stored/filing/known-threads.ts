// The references that decide the threads of new messages.
import type { Sql } from '../../../../core/sql.ts'
import type { MessageRow } from '../model.ts'
import * as referenceStore from './reference-store.ts'
import { relayedIdsIn } from './relayed-ids.ts'
import { type KnownReferences, lookupOrder, type ThreadKeys } from './threading.ts'

/** The thread of a new message, or the references that decide it. */
export type FilingThread =
  | { known: { threadId: string; isNew: boolean; inReplyToMessageId: string | null } }
  | { references: Pick<ThreadKeys, 'inReplyTo' | 'references'> }

type Threaded = { message: Pick<MessageRow, 'mailbox_id' | 'rfc_message_id'>; thread: FilingThread }

/** Known references of messages, by mailbox. */
export type KnownThreads = Map<string, KnownReferences>

/** Records the ids in the answers of a relay to a sent message, so that answers to the Message-ID that recipients got join its thread. */
export async function learnRelayedIds(sql: Sql, messageId: string, answers: string[]): Promise<void> {
  const ids = [...new Set(answers.flatMap(relayedIdsIn))]
  if (ids.length > 0) await referenceStore.insertRelayedIds(sql, messageId, ids)
}

/** Looks up the references that decide the threads of messages. */
export const findThreads = (sql: Sql, filings: Threaded[]): Promise<KnownThreads> =>
  referenceStore.findReferences(
    sql,
    filings.map((filing) => ({
      mailboxId: filing.message.mailbox_id,
      references: 'references' in filing.thread ? lookupOrder(keysOf(filing)) : [],
    })),
  )

/** The threads with messages of the agent that a message answers, by In-Reply-To and References only. */
export function answeredThreads(filing: Threaded, known: KnownThreads): string[] {
  if (!('references' in filing.thread)) return []
  const references = known.get(filing.message.mailbox_id)
  const found = lookupOrder({ ...keysOf(filing), messageId: null }).flatMap((reference) => references?.get(reference) ?? [])
  return [...new Set(found.flatMap(({ threadId, hasOutbound }) => (hasOutbound ? [threadId] : [])))]
}

/** The identifiers of a message, without those of others if its thread is known. */
export function keysOf(filing: Threaded): ThreadKeys {
  const { inReplyTo, references } = 'references' in filing.thread ? filing.thread.references : { inReplyTo: [], references: [] }
  return { mailboxId: filing.message.mailbox_id, messageId: filing.message.rfc_message_id, inReplyTo, references }
}
