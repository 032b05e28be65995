// Lists of threads beside very many others. Counts the rows that PostgreSQL reads for a page.
import { firstId } from '@callsign/contract/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listByThread } from '../src/features/mail/stored/lists/list-store.ts'
import { listThreads, type ThreadFilter } from '../src/features/mail/stored/lists/thread-list-store.ts'
import { countRowsRead } from './harness/plan.ts'
import { type Harness, startHarness } from './harness/start.ts'

const count = 60_000
let harness: Harness
let scope: { organizationId: string; mailboxId: string }

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  const { rows } = await harness.db.query<{ id: string; organization_id: string }>({ text: 'SELECT id, organization_id FROM mailboxes' })
  const [mailbox] = rows as [(typeof rows)[0]]
  scope = { organizationId: mailbox.organization_id, mailboxId: mailbox.id }
  const prefix = firstId('message', Date.now()).slice(0, -6)
  await harness.db.query({
    text: `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, unread_count, trashed_count, folder, participants,
        last_message_id, last_message_at, created_at, has_outbound)
      SELECT replace($3, 'msg_', 'thrd_') || lpad(n::text, 6, '0'), $1, $2, CASE WHEN n = 50 THEN 'needle' ELSE 'hay' END, '', CASE WHEN n % 20000 = 3 THEN 0 ELSE 1 END,
        CASE WHEN n % 15000 = 5 THEN 1 ELSE 0 END, CASE WHEN n % 20000 = 3 THEN 1 ELSE 0 END,
        CASE WHEN n % 20000 = 7 THEN 'spam' WHEN n % 3 = 0 THEN 'archive' ELSE 'inbox' END,
        ARRAY['p' || n % 100 || '@example.org'], $3 || lpad(n::text, 6, '0'), now(), now(), n % 12000 = 9
      FROM generate_series(1, ${count}) n`,
    values: [scope.organizationId, scope.mailboxId, prefix],
  })
  await harness.db.query({
    text: `INSERT INTO thread_marks SELECT organization_id, mailbox_id, id, 'label', CASE WHEN right(id, 6)::int % 30000 = 11 THEN 'rare' ELSE 'common' END, last_message_id
      FROM threads WHERE right(id, 6)::int % 2 = 1`,
  })
  await harness.db.query({
    text: `INSERT INTO thread_marks SELECT organization_id, mailbox_id, thread_id, 'metadata', mark, last_message_id FROM thread_marks`,
  })
  await harness.db.query({ text: 'VACUUM ANALYZE threads, thread_marks' })
})
afterAll(() => harness?.stop())

/** Lists threads, and counts the rows that PostgreSQL reads. */
async function list(mailboxId: string | null, filter: ThreadFilter, cursor: string | null = null) {
  const { result, rowsRead } = await countRowsRead(harness.db, (sql) =>
    listThreads(sql, { ...scope, mailboxId }, filter, { limit: 50, cursor }),
  )
  return { count: result.rows.length, resumeAt: result.resumeAt, read: rowsRead, lastPosition: result.rows.at(-1)?.position ?? null }
}

const filters: [string, ThreadFilter, number][] = [
  ['all', {}, 51],
  ['the inbox', { folder: 'inbox' }, 51],
  ['the archive', { folder: 'archive' }, 51],
  ['spam', { folder: 'spam' }, 3],
  ['the trash', { folder: 'trash' }, 3],
  ['sent', { folder: 'sent' }, 5],
  ['scheduled', { folder: 'scheduled' }, 0],
  ['unread', { is_unread: true }, 4],
  ['unread in the inbox', { is_unread: true, folder: 'inbox' }, 4],
  ['a frequent label', { label: 'common' }, 51],
  ['a rare label', { label: 'rare' }, 2],
  ['a frequent value of metadata', { metadata: 'common' }, 51],
  ['a rare value of metadata', { metadata: 'rare' }, 2],
]

test.each(filters)('a page of %s reads few rows, in a mailbox and in the organization', async (_name, filter, expected) => {
  for (const mailboxId of [scope.mailboxId, null]) {
    const page = await list(mailboxId, filter)
    expect(page.count).toBe(expected)
    expect(page.read).toBeLessThan(1500)
    if (page.lastPosition === null || expected < 51) continue
    expect((await list(mailboxId, filter, page.lastPosition)).read).toBeLessThan(1500)
  }
})

test('a filter without an index reads a bounded number of threads, and the cursor goes on to every match', async () => {
  for (const mailboxId of [scope.mailboxId, null]) {
    let [found, pages, cursor] = [0, 0, null as string | null]
    do {
      const page = await list(mailboxId, { subject: 'needle' }, cursor)
      expect(page.read).toBeLessThan(60_000)
      found += page.count
      cursor = page.resumeAt
      pages++
    } while (cursor !== null)
    expect(found).toBe(1)
    expect(pages).toBeGreaterThan(5)
    expect((await list(mailboxId, { participant: 'p7@example.org' })).count).toBe(50)
  }
})

test('a thread among threads of hundreds of messages reads its own messages only', async () => {
  await harness.db.query({
    text: `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, subject, snippet, text, html, extracted_text, is_read,
        size_bytes, attachment_count, created_at, updated_at, search)
      SELECT t.last_message_id || lpad(n::text, 4, '0'), t.organization_id, t.mailbox_id, t.id, 'outbound', 'sent', 'ann@agents.localhost', '', '', '', '', '', true,
        1, 0, now(), now(), '' FROM generate_series(1, 300) n, (SELECT * FROM threads ORDER BY id LIMIT 20) AS t`,
  })
  await harness.db.query({ text: 'VACUUM ANALYZE messages' })
  const { rows } = await harness.db.query<{ thread_id: string }>({ text: 'SELECT thread_id FROM messages ORDER BY id LIMIT 1' })
  const wanted = { organizationId: scope.organizationId, mailboxIds: [scope.mailboxId], threadId: (rows[0] as (typeof rows)[0]).thread_id }
  const { result, rowsRead } = await countRowsRead(harness.db, (sql) => listByThread(sql, wanted, { limit: 50, cursor: null }))
  expect(result).toHaveLength(51)
  expect(rowsRead).toBeLessThan(100)
})
