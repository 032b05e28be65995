// The SQL of Message-IDs that a mailbox has seen, and of the threads that own them.
import { type Sql, type Tx, tryAgain } from '../../../../core/sql.ts'
import type { KnownReferences } from './threading.ts'

/** The threads and messages that these references belong to, one map a mailbox. */
export async function findReferences(
  sql: Sql,
  wanted: { mailboxId: string; references: string[] }[],
): Promise<Map<string, KnownReferences>> {
  const byMailbox = new Map<string, KnownReferences>(wanted.map(({ mailboxId }) => [mailboxId, new Map()]))
  const pairs = wanted.flatMap(({ mailboxId, references }) =>
    references.flatMap((reference) => [reference, relayedIdOf(reference) ?? []].flat().map((one) => ({ mailboxId, reference: one }))),
  )
  if (pairs.length === 0) return byMailbox
  type Row = {
    mailbox_id: string
    reference: string
    thread_id: string
    message_id: string | null
    has_outbound: boolean
    is_quarantined: boolean
  }
  const { rows } = await sql.query<Row>({
    name: 'find-references',
    text: `SELECT r.mailbox_id, r.reference, r.thread_id, r.message_id, r.is_quarantined, t.has_outbound FROM thread_references r JOIN threads t ON t.id = r.thread_id
      JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::text[])) AS w (mailbox_id, reference) ON r.mailbox_id = w.mailbox_id AND r.reference = w.reference`,
    values: [pairs.map((pair) => pair.mailboxId), pairs.map((pair) => pair.reference)],
  })
  for (const row of rows)
    byMailbox.get(row.mailbox_id)?.set(row.reference, {
      threadId: row.thread_id,
      messageId: row.message_id,
      hasOutbound: row.has_outbound,
      isQuarantined: row.is_quarantined,
    })
  for (const { mailboxId, references } of wanted) addRelayed(byMailbox.get(mailboxId) as KnownReferences, references)
  return byMailbox
}

/** Makes Message-IDs known that a relay gave to a sent message. */
function addRelayed(known: KnownReferences, references: string[]): void {
  for (const reference of references) {
    const relayed = known.get(relayedIdOf(reference) ?? '')
    if (relayed && known.get(reference)?.isQuarantined !== false) known.set(reference, relayed)
  }
}

/**
 * Records ids of a relay for a sent message, unless the mailbox has them. Locks the thread, so that it cannot become part of another one in between.
 */
export async function insertRelayedIds(sql: Sql, messageId: string, ids: string[]): Promise<void> {
  await sql.query({
    name: 'insert-relayed-ids',
    text: `WITH thread AS (SELECT t.mailbox_id, t.id FROM messages m JOIN threads t ON t.id = m.thread_id
        WHERE m.id = $1 AND t.joined_into IS NULL FOR KEY SHARE OF t)
      INSERT INTO thread_references (mailbox_id, reference, thread_id, message_id, is_quarantined)
      SELECT thread.mailbox_id, reference, thread.id, $1, false FROM thread, unnest($2::text[]) AS reference
      ON CONFLICT (mailbox_id, reference) DO NOTHING`,
    values: [messageId, ids],
  })
}

/**
 * `isQuarantined`: only a quarantined message has this id. A message that is let in takes the reference over. `firstId` is the message that the
 * lookup found with this id.
 */
export type NewReference = {
  mailboxId: string
  reference: string
  threadId: string
  messageId: string | null
  firstId: string | null
  isQuarantined: boolean
}

const newReferences = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[])
        AS n (mailbox_id, reference, thread_id, message_id, is_quarantined, first_id)`

/**
 * Records references, first come first served. The transaction starts again when another one gave one of them to another thread in the
 * meantime, or to a message that may be a copy. The retry finds the thread of the other message and joins it.
 */
export async function insertReferences(tx: Tx, references: NewReference[]): Promise<void> {
  if (references.length === 0) return
  // One order for everybody, so that two transactions that share references wait for one another instead of deadlocking.
  const sorted = references.toSorted((a, b) => (a.mailboxId + a.reference < b.mailboxId + b.reference ? -1 : 1))
  await tx.query({
    name: 'insert-references',
    text: `WITH stored AS (INSERT INTO thread_references AS r (mailbox_id, reference, thread_id, message_id, is_quarantined)
        SELECT mailbox_id, reference, thread_id, message_id, is_quarantined FROM ${newReferences}
        ON CONFLICT (mailbox_id, reference) DO UPDATE SET is_quarantined = r.is_quarantined AND excluded.is_quarantined,
          thread_id = CASE WHEN r.is_quarantined AND NOT excluded.is_quarantined THEN excluded.thread_id ELSE r.thread_id END,
          message_id = CASE WHEN r.is_quarantined AND NOT excluded.is_quarantined THEN excluded.message_id
            WHEN excluded.is_quarantined THEN r.message_id ELSE coalesce(r.message_id, excluded.message_id) END
        RETURNING mailbox_id, reference, thread_id, message_id)
      SELECT fail_transaction('${tryAgain}') FROM stored JOIN ${newReferences} USING (mailbox_id, reference)
      WHERE NOT n.is_quarantined AND (stored.thread_id <> n.thread_id
        OR n.message_id IS NOT NULL AND stored.message_id <> n.message_id AND stored.message_id IS DISTINCT FROM n.first_id)`,
    values: [
      sorted.map((r) => r.mailboxId),
      sorted.map((r) => r.reference),
      sorted.map((r) => r.threadId),
      sorted.map((r) => r.messageId),
      sorted.map((r) => r.isQuarantined),
      sorted.map((r) => r.firstId),
    ],
  })
}

/** The shortest id that counts. Shorter ones are queue numbers, which other senders could guess. */
const charactersMin = 32
const charactersMax = 200
const idsMax = 3

/** The references to record for the ids in an answer, such as `250 Ok 0100018f0c2d3e4f-1a2b3c4d-5e6f-7081-92a3-b4c5d6e7f809-000000`. */
export const relayedIdsIn = (answer: string): string[] =>
  answer.startsWith('250')
    ? answer
        .split(/\s+/)
        .flatMap((word) => relayedIdOf(word) ?? [])
        .slice(0, idsMax)
    : []

/** The reference to look up for a Message-ID with this id of a relay. The domain does not count, because only recipients see it. Null for other ids. */
export function relayedIdOf(messageId: string): string | null {
  const id = /^<?([\w.-]+)(?:@[^\s<>@]+)?>?$/.exec(messageId)?.[1]
  const isLong = id !== undefined && id.length >= charactersMin && id.length <= charactersMax
  // No Message-ID, because they have brackets.
  return isLong && /\d/.test(id) ? `relay:${id}` : null
}
