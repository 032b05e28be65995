// Samples that choose the conditions for an inverted index. PostgreSQL cannot estimate them, and reads every list of an index that a condition names.

import type { Sql } from '../../../../core/sql.ts'
import { runsOf, windowsOf } from './pattern-windows.ts'

/** Rows that are sampled, and the rows of them that a frequent window is in. */
const sampled = 100
const frequentFrom = 5

/** Text with blanks for the usual ends of words, as windows have them. A frequent end that is left out makes a look into the index slower. */
const folded = (text: string): string => `lower(' ' || translate(${text}, E'@.-_\\n', '     ') || ' ')`

/**
 * The runs of a text that few messages contain. The index has a list of all messages for a window in a word of every subject. Reading it takes
 * longer than the rows that it would exclude. `column` is SQL on the message `m`. Empty when every window is frequent.
 */
export async function findRareRuns(sql: Sql, mailboxId: string, newestId: string, column: string, text: string): Promise<string[]> {
  const windows = windowsOf(text)
  if (windows.length === 0) return []
  const { rows } = await sql.query<{ part: string }>({
    name: `rare-windows-${column}`,
    text: `WITH sample AS MATERIALIZED (SELECT ${folded(column)} AS text FROM messages m
        WHERE m.mailbox_id = $1 AND m.id <= $2 AND NOT m.is_hidden ORDER BY m.id DESC LIMIT ${sampled})
      SELECT part FROM unnest($3::text[]) AS part WHERE (SELECT count(*) FROM sample WHERE strpos(sample.text, part) > 0) < ${frequentFrom}`,
    values: [mailboxId, newestId, windows],
  })
  return runsOf(text, new Set(rows.map(({ part }) => part)))
}

/** A mailbox with this share of all messages is most of each list of an index. */
const mainShare = 4

/**
 * True for a mailbox with at least a quarter of all messages. The lists of its time partitions then take longer to read than the hits of the
 * other mailboxes.
 */
export async function isMainMailbox(sql: Sql, mailboxId: string): Promise<boolean> {
  const { rows } = await sql.query<{ is_main: boolean }>({
    name: 'is-main-mailbox',
    text: `SELECT own.count > 0 AND own.count * ${mainShare} >= every.count AND every.count > 0 AS is_main
      FROM (SELECT coalesce(sum(count), 0) AS count FROM message_counts WHERE mailbox_id = $1) AS own,
        (SELECT coalesce(sum(greatest((SELECT reltuples FROM pg_class WHERE oid = tree.relid), 0)), 0) AS count
          FROM pg_partition_tree('messages'::regclass) AS tree WHERE isleaf) AS every`,
    values: [mailboxId],
  })
  return rows[0]?.is_main === true
}
