// An installation with millions of messages, made inside the database by one statement per table. Its rows equal those that mail makes.
import type pg from 'pg'
import { firstId } from '../../packages/contract/src/ids.ts'
import { dropIndexes, rare, wordOf } from './large-mailbox.ts'

const bodies = 4_000
const wordsOfBody = 8
const vocabulary = 3_000

const perThread = 4
const perStamp = 100

/** Sender checks of a message from an agent on the same server. */
const authentication = JSON.stringify({
  arc: null,
  spf: null,
  dkim: null,
  dmarc: {
    domain: 'ex.example',
    policy: null,
    reason: '',
    record: null,
    result: 'pass',
    alignment: { spf: false, dkim: false },
    policy_domain: null,
  },
  source: 'hosted',
})

const filled = ['threads', 'thread_references', 'raw_messages', 'messages']
/** Indexes that take every row. They are created after the rows. */
const fullIndexes = [
  'messages_newest',
  'messages_newest_organization',
  'messages_direction_organization',
  'messages_thread',
  'messages_search',
  'threads_latest',
  'threads_latest_organization',
]

/** Messages in turn to each mailbox, one every `apartMs`. */
export type Shape = { handles: string[]; size: number; originMs: number; apartMs: number }
/** The times of messages. */
type Times = Pick<Shape, 'originMs' | 'apartMs'>

/** Short texts of words by Zipf's law, the same in every run. */
function makeBodies(): string[] {
  let state = 1
  const draw = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return wordOf(Math.floor(vocabulary ** (state / 2 ** 32)))
  }
  return Array.from({ length: bodies }, () => Array.from({ length: wordsOfBody }, draw).join(' '))
}

/** Arrival of a message, and the time in its id, which a hundred messages share. */
const stampOf = (n: number, { originMs, apartMs }: Times): string =>
  firstId('message', originMs + (n - (n % perStamp)) * apartMs).slice(4, -16)

/** The id of message `n`. */
export const idOf = (n: number, times: Times): string => `msg_${stampOf(n, times)}${String(n).padStart(16, '0')}`

/** The first message of the thread that message `n` is in. */
export const firstOfThread = (n: number, mailboxes: number): number => n - (Math.floor(n / mailboxes) % perThread) * mailboxes

/** The mailbox, thread and texts of message `n`, which is in mailbox n modulo their number. */
const madeText = (mailboxes: number, size: number, apartMs: number): string => `(SELECT n, s.stamp || lpad(n::text, 16, '0') AS suffix,
    f.stamp || lpad(first::text, 16, '0') AS first_suffix, n = first AS is_first, 'w' || n % 1000 || '@ex.example' AS sender, 'Order ' || n % 5000 AS subject,
    CASE WHEN n % ${size / rare} = 11 THEN ' quicksilver' WHEN n % 1000 = 13 THEN ' marzipan' WHEN n % 100 = 7 THEN ' zeppelin' ELSE '' END AS seldom,
    to_timestamp(($3::bigint + n * ${apartMs}::bigint) / 1000.0) AS at
  FROM (SELECT n, n - ((n / ${mailboxes}) % ${perThread}) * ${mailboxes} AS first FROM generate_series(0, ${size - 1}::bigint) n) AS counted
  JOIN stamps s ON s.number = n / ${perStamp} JOIN stamps f ON f.number = first / ${perStamp} OFFSET 0) AS made JOIN boxes b ON b.number = n % ${mailboxes}`

/** One message in ten has its raw bytes. Retention has deleted the files of the others. */
const hasRaw = 'n % 10 = 0'

const statementsOf = (made: string): string[] => [
  `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, last_message_id, last_message_at, created_at)
   SELECT 'thrd_' || suffix, $1, b.id, subject, '', ${perThread}, 'msg_' || suffix, at, at FROM ${made} WHERE is_first AND $2::text IS NOT NULL`,
  `INSERT INTO thread_references (mailbox_id, reference, thread_id, message_id)
   SELECT b.id, '<' || n || '@ex.example>', 'thrd_' || first_suffix, 'msg_' || suffix FROM ${made} WHERE $1 <> $2::text`,
  `INSERT INTO raw_messages (id, organization_id, size_bytes, sha256, bytes, created_at)
   SELECT 'raw_' || suffix, $1, 100, sha256(int8send(n)), int8send(n), at FROM ${made} WHERE ${hasRaw} AND $2::text IS NOT NULL`,
  `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, to_addresses, subject, snippet, text, html,
     extracted_characters, rfc_message_id, authentication, is_read, size_bytes, kept_bytes, attachment_count, raw_id, created_at, updated_at, search)
   SELECT 'msg_' || suffix, $1, b.id, 'thrd_' || first_suffix, 'inbound', 'received', sender, ARRAY[b.address], subject, '', t.text || seldom, '',
     length(t.text || seldom), '<' || n || '@ex.example>', $2::jsonb, true, 1000, CASE WHEN ${hasRaw} THEN NULL ELSE 100 END, 0,
     CASE WHEN ${hasRaw} THEN 'raw_' || suffix END, at, at, CASE WHEN seldom = '' THEN t.search ELSE t.search || seldom::tsvector END
   FROM ${made} JOIN bodies t ON t.number = n * 7919 % ${bodies}`,
]

/** Mailboxes and texts that the statements join. Returns the organization of the mailboxes. */
async function prepare(db: pg.Client, { handles, size, ...times }: Shape): Promise<string> {
  await db.query(
    `CREATE TEMPORARY TABLE boxes AS SELECT place - 1 AS number, b.id, b.address, b.organization_id
    FROM unnest($1::text[]) WITH ORDINALITY AS given (handle, place) JOIN identities i ON i.agent_handle = given.handle JOIN mailboxes b ON b.identity_id = i.id`,
    [handles],
  )
  await db.query(
    `CREATE TEMPORARY TABLE bodies AS SELECT number - 1 AS number, text, to_tsvector('simple', text) AS search FROM unnest($1::text[]) WITH ORDINALITY AS made (text, number)`,
    [makeBodies()],
  )
  await db.query(
    'CREATE TEMPORARY TABLE stamps AS SELECT place - 1 AS number, stamp FROM unnest($1::text[]) WITH ORDINALITY AS made (stamp, place)',
    [Array.from({ length: Math.ceil(size / perStamp) }, (_, index) => stampOf(index * perStamp, times))],
  )
  for (const table of ['boxes', 'bodies', 'stamps']) await db.query(`ANALYZE ${table}`)
  return (await db.query<{ organization_id: string }>('SELECT organization_id FROM boxes LIMIT 1')).rows[0]?.organization_id as string
}

/**
 * Replaces all mail of an installation with `size` messages. With WAL level minimal, rows of a table that the same transaction emptied are not
 * logged. Foreign keys are not checked.
 */
export async function fillInstallation(db: pg.Client, shape: Shape): Promise<void> {
  const { handles, size, originMs, apartMs } = shape
  for (const setting of [
    'statement_timeout = 0',
    "maintenance_work_mem = '1GB'",
    "work_mem = '64MB'",
    'session_replication_role = replica',
  ])
    await db.query(`SET ${setting}`)
  await db.query("ALTER SYSTEM SET max_wal_size = '16GB'")
  await db.query('ALTER SYSTEM SET autovacuum = off')
  await db.query('SELECT pg_reload_conf()')
  const organizationId = await prepare(db, shape)
  const values = [organizationId, authentication, originMs]
  await db.query('BEGIN')
  await db.query(`TRUNCATE ${filled.join(', ')}, message_counts, storage_counts, deleted_messages CASCADE`)
  const indexes = await dropIndexes(db, fullIndexes)
  for (const text of statementsOf(madeText(handles.length, size, apartMs))) await db.query(text, values)
  await db.query(
    'INSERT INTO message_counts (mailbox_id, organization_id, shard, count, bytes) SELECT id, organization_id, 0, $1::bigint, $1::bigint * 1000 FROM boxes',
    [size / handles.length],
  )
  await db.query('INSERT INTO storage_counts (organization_id, shard, bytes) VALUES ($1, 0, $2)', [organizationId, size * 1000])
  for (const definition of indexes) await db.query(definition)
  await db.query('COMMIT')
  for (const table of [...filled, 'message_counts']) await db.query(`VACUUM (ANALYZE) ${table}`)
  await db.query('ALTER SYSTEM RESET ALL')
  await db.query('SELECT pg_reload_conf()')
  await db.query('CHECKPOINT')
}
