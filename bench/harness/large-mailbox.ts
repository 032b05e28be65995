// A mailbox of any size, made inside the database. Its rows equal those that mail makes, and its word frequencies follow natural language.
import type pg from 'pg'
import { firstId, idAlphabet } from '../../packages/contract/src/ids.ts'

export const secondsApart = 10
const vocabulary = 30_000
const bodies = 4_000
const wordsOfBody = 230
export const unread = 30
export const rare = 20

/** Arrival time of the message with this number. Numbers begin with 0 at the oldest. */
export const arrivalMs = (originMs: number, n: number): number => originMs + n * secondsApart * 1000

/** Ids have the server's form, ten characters of time and then a part that separates ids of one millisecond. */
export const idOf = (n: number, originMs: number): string =>
  firstId('message', arrivalMs(originMs, n)).slice(0, -16) + String(n).padStart(16, '0')

/** The same as SQL. `$3` is the origin, in milliseconds. */
export const idInSql = (prefix: string, number: string): string => {
  const time = `($3::bigint + (${number}) * ${secondsApart * 1000})`
  const digits = Array.from({ length: 10 }, (_, i) => `substr('${idAlphabet}', ((${time} >> ${45 - 5 * i}) & 31)::int + 1, 1)`)
  return `'${prefix}_' || ${digits.join(' || ')} || lpad((${number})::text, 16, '0')`
}

/** Pronounceable word for a rank. The first ranks are short, as in natural language. */
export function wordOf(rank: number): string {
  const syllables = ['ba', 'de', 'fi', 'go', 'hu', 'ka', 'le', 'mi', 'no', 'pu', 'ra', 'se', 'ti', 'vo', 'zu', 'sha']
  let word = ''
  for (let left = rank; left > 0 || word === ''; left = Math.floor(left / 16)) word += syllables[left % 16]
  return word
}

/** Texts of Zipf's law (a word of rank r once in about 11 r words), the same in every run. */
function makeBodies(): string[] {
  const sums = new Float64Array(vocabulary)
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank++) sums[rank] = sum += 1 / (rank + 1)
  let state = 1
  const draw = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const wanted = (state / 2 ** 32) * sum
    let [low, high] = [0, vocabulary - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) < wanted) low = middle + 1
      else high = middle
    }
    return wordOf(low)
  }
  const line = (i: number) => draw() + ((i + 1) % 12 === 0 ? '.\n' : ' ')
  return Array.from({ length: bodies }, () => Array.from({ length: wordsOfBody }, (_, i) => line(i)).join(''))
}

/** Words that depend on the message's number. They occur in every message, in one of 10, 100 and 1000, and in `rare` of all. */
const openingOf = `'letter order' || n || CASE WHEN n % 10 = 3 THEN ' quarterly' ELSE '' END || CASE WHEN n % 100 = 7 THEN ' zeppelin report' ELSE '' END
  || CASE WHEN n % 1000 = 13 THEN ' marzipan' ELSE '' END || CASE WHEN n % every = 11 THEN ' quicksilver' ELSE '' END
  || CASE WHEN n % 50 = 1 OR n % every = 17 THEN ' amber' ELSE '' END || CASE WHEN n % 50 = 2 OR n % every = 17 THEN ' falcon' ELSE '' END`

/** Drops indexes. Returns the statements that create them again. */
export async function dropIndexes(db: pg.Client, names: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ definition: string }>(
    'SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ANY($1)',
    [names],
  )
  await db.query(`DROP INDEX ${names.join(', ')}`)
  // Without ONLY, so that the indexes of the partitions are created too.
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '))
}

/**
 * Fills the mailbox with `size` messages, of which `rare` have rare properties, evenly spread. Raw bytes are left out, because these reads do not
 * touch them. All messages share the header and the sender results of the newest existing one.
 */
export async function fillMailbox(db: pg.Client, address: string, originMs: number, size: number): Promise<void> {
  const { rows } = await db.query(
    `SELECT b.organization_id, b.id AS mailbox_id, m.id, m.raw_id FROM mailboxes b JOIN messages m ON m.mailbox_id = b.id AND m.direction = 'inbound' WHERE b.address = $1 ORDER BY m.id DESC LIMIT 1`,
    [address],
  )
  const { organization_id: organizationId, mailbox_id: mailboxId, id, raw_id: rawId } = rows[0]
  await db.query("SET maintenance_work_mem = '512MB'")
  await db.query('CREATE TEMPORARY TABLE IF NOT EXISTS bodies (number integer PRIMARY KEY, text text NOT NULL, search tsvector NOT NULL)')
  await db.query(
    `INSERT INTO bodies SELECT number - 1, text, to_tsvector('simple', text) FROM unnest($1::text[]) WITH ORDINALITY AS made (text, number) ON CONFLICT DO NOTHING`,
    [makeBodies()],
  )
  // The word index is created after the rows. Filling it row by row would take an hour and does not affect reads.
  const indexes = await dropIndexes(db, ['messages_search'])
  const step = 20_000
  for (let start = 0; start < size; start += step) {
    const values = [organizationId, mailboxId, originMs, start, Math.min(start + step, size)]
    await db.query('BEGIN')
    await db.query(
      `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, last_message_id, last_message_at, created_at)
       SELECT ${idInSql('thrd', 'n')}, $1, $2, 'Letter ' || n, 'Hello', 2, ${idInSql('msg', 'n + 1')}, now(), now()
       FROM generate_series($4::bigint, $5::bigint - 1, 2) n`,
      values,
    )
    await db.query(
      `INSERT INTO thread_references (mailbox_id, reference, thread_id, message_id)
       SELECT $2, '<' || n || '@writer.example>', ${idInSql('thrd', 'n - n % 2')}, ${idInSql('msg', 'n')}
       FROM generate_series($4::bigint, $5::bigint - 1) n WHERE $1::text IS NOT NULL`,
      values,
    )
    await db.query(
      `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, from_name, to_addresses, subject, snippet, text, html,
         extracted_text, rfc_message_id, in_reply_to, reference_ids, headers, authentication, is_read, is_starred, labels, size_bytes, attachment_count,
         raw_id, created_at, updated_at, search)
       SELECT ${idInSql('msg', 'n')}, $1, $2, ${idInSql('thrd', 'n - n % 2')},
         CASE WHEN n % every = 19 THEN 'outbound' ELSE 'inbound' END, CASE WHEN n % every = 19 THEN 'sent' ELSE 'received' END,
         sender, 'Writer ' || n % 1000, ARRAY[$9], subject, left(opening, 200), opening || E'\\n\\n' || b.text, '', opening || E'\\n\\n' || b.text,
         '<' || n || '@writer.example>', CASE WHEN n % 2 = 1 THEN '<' || n - 1 || '@writer.example>' END,
         CASE WHEN n % 2 = 1 THEN ARRAY['<' || n - 1 || '@writer.example>'] ELSE '{}' END,
         a.headers, a.authentication,
         n % ($8::bigint / ${unread}) <> 5, n % every = 23, CASE WHEN n % every = 29 THEN ARRAY['invoice'] ELSE '{}' END, 2000, 0,
         CASE WHEN n % every = 19 THEN NULL ELSE $7 END, at, at, to_tsvector('simple', subject || ' ' || sender || ' ' || opening) || b.search
       FROM (SELECT n, every, 'Letter ' || n AS subject, CASE WHEN n % every = 31 THEN 'rare@seldom.example' ELSE 'writer' || n % 1000 || '@example.com' END AS sender,
           ${openingOf} AS opening, to_timestamp(($3::bigint + n * ${secondsApart * 1000}) / 1000.0) AS at
         FROM generate_series($4::bigint, $5::bigint - 1) n, (SELECT $8::bigint / ${rare} AS every) AS one) AS made
       JOIN bodies b ON b.number = made.n * 7919 % ${bodies} JOIN (SELECT headers, authentication FROM messages WHERE id = $6) a ON true`,
      [...values, id, rawId, size, address],
    )
    await db.query('COMMIT')
  }
  await db.query(
    'UPDATE message_counts SET count = count + $2 WHERE mailbox_id = $1 AND shard = (SELECT min(shard) FROM message_counts WHERE mailbox_id = $1)',
    [mailboxId, size],
  )
  for (const index of indexes) await db.query(index)
  for (const table of ['messages', 'threads', 'thread_references', 'message_counts']) await db.query(`VACUUM (ANALYZE) ${table}`)
  await db.query('CHECKPOINT')
}
