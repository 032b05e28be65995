// Checks in the database itself events, jobs, orphaned rows and the blobs that rows name, because the API does not show them.
import type { Blobs } from '../../packages/server/src/core/blobs.ts'
import { createLog } from '../../packages/server/src/core/log.ts'
import { connect } from '../../packages/server/src/edges/postgres/connect.ts'
import type { Target } from '../../packages/server/src/edges/postgres/servers.ts'
import type { Ledger } from './ledger.ts'

/** Each statement finds rows that must not be there. */
const invariants: Record<string, string> = {
  'a job is left': `SELECT id, kind, subject, attempts FROM jobs`,
  'an inbound message has not exactly one email.received': `
    SELECT m.id, count(e.id) AS events FROM messages m LEFT JOIN events e ON e.subject_id = m.id AND e.type = 'email.received'
    WHERE m.direction = 'inbound' GROUP BY m.id HAVING count(e.id) <> 1`,
  'an event names a message that is not there': `
    SELECT e.id, e.type, e.subject_id FROM events e LEFT JOIN messages m ON m.id = e.subject_id WHERE e.type LIKE 'email.%' AND m.id IS NULL`,
  'a recipient has not exactly one email.sent': `
    SELECT r.message_id, r.address, count(e.id) AS events FROM message_recipients r
    LEFT JOIN (SELECT e.id, e.subject_id, reached.address FROM events e, jsonb_to_recordset(e.data -> 'recipients') AS reached (address text)
      WHERE e.type = 'email.sent') AS e ON e.subject_id = r.message_id AND e.address = r.address
    GROUP BY r.message_id, r.address HAVING count(e.id) <> 1`,
  'a recipient is not served': `SELECT message_id, address, status FROM message_recipients WHERE status NOT IN ('sent', 'delivered')`,
  'an outbound message lacks recipients': `
    SELECT m.id FROM messages m WHERE m.direction = 'outbound' AND cardinality(m.to_addresses) + cardinality(m.cc_addresses) + cardinality(m.bcc_addresses)
      <> (SELECT count(*) FROM message_recipients r WHERE r.message_id = m.id)`,
  'a message lacks attachments': `
    SELECT m.id, m.attachment_count FROM messages m WHERE m.attachment_count <> (SELECT count(*) FROM attachments a WHERE a.message_id = m.id)`,
  'a thread counts other messages than it has': `
    SELECT t.id, t.message_count FROM threads t WHERE t.message_count <> (SELECT count(*) FROM messages m WHERE m.thread_id = t.id) OR t.message_count = 0`,
  'a mailbox counts other messages than it has': `
    SELECT b.address FROM mailboxes b WHERE (SELECT coalesce(sum(count), 0) FROM message_counts c WHERE c.mailbox_id = b.id)
      <> (SELECT count(*) FROM messages m WHERE m.mailbox_id = b.id AND m.status <> 'quarantined')`,
  'a reference names a message that is not there': `
    SELECT r.reference FROM thread_references r LEFT JOIN messages m ON m.id = r.message_id WHERE r.message_id IS NOT NULL AND m.id IS NULL`,
  'a message is not found by its Message-ID': `
    SELECT m.id FROM messages m LEFT JOIN thread_references r ON r.mailbox_id = m.mailbox_id AND r.reference = m.rfc_message_id
    WHERE m.rfc_message_id IS NOT NULL AND r.thread_id IS DISTINCT FROM m.thread_id`,
  'a sent draft has not its message': `
    SELECT d.draft_id, d.message_id FROM sent_drafts d LEFT JOIN messages m ON m.id = d.message_id AND m.mailbox_id = d.mailbox_id WHERE m.id IS NULL`,
  'two drafts became one message': 'SELECT message_id FROM sent_drafts GROUP BY message_id HAVING count(*) > 1',
  'a draft is there and sent': 'SELECT d.id FROM drafts d JOIN sent_drafts s ON s.draft_id = d.id',
  "an attachment is still a draft's": 'SELECT id, draft_id FROM attachments WHERE draft_id IS NOT NULL',
  'raw bytes belong to no message': `SELECT w.id FROM raw_messages w LEFT JOIN messages m ON m.raw_id = w.id WHERE m.id IS NULL`,
  'an idempotency key has no answer': `SELECT key FROM idempotency_keys WHERE status IS NULL`,
}

const rowsShown = 5

/** Reports every broken invariant in the ledger. Resolves with how many blobs rows name, and how many files no row names. */
export async function verifyDatabase(target: Target, blobs: Blobs, ledger: Ledger): Promise<{ blobs: number; orphanBlobs: number }> {
  const database = connect(target, { poolSize: 1, log: createLog('warn') })
  try {
    for (const [name, text] of Object.entries(invariants)) {
      const { rows } = await database.query({ text })
      if (rows.length > 0) ledger.report(`database: ${name} (${rows.length} rows): ${JSON.stringify(rows.slice(0, rowsShown))}`)
    }
    const { rows: named } = await database.query<{ key: string; size: number }>({
      text: `SELECT blob_key AS key, size_bytes AS size FROM raw_messages WHERE blob_key IS NOT NULL
        UNION ALL SELECT blob_key, size_bytes FROM attachments WHERE blob_key IS NOT NULL`,
    })
    return { blobs: named.length, orphanBlobs: await checkBlobs(blobs, named, ledger) }
  } finally {
    await database.close()
  }
}

/** Every blob that a row names is whole. Files without a row are left by unfinished requests, and the server sweeps them after a day. */
async function checkBlobs(blobs: Blobs, named: { key: string; size: number }[], ledger: Ledger): Promise<number> {
  for (const { key, size } of named) {
    const bytes = await blobs.get(key).catch(() => null)
    if (bytes?.length !== size) ledger.report(`blob ${key} has ${bytes?.length ?? 'no'} bytes, not ${size}`)
  }
  const names = new Set(named.map((blob) => blob.key))
  let orphans = 0
  for await (const key of blobs.list(-60_000)) if (!names.has(key)) orphans++
  return orphans
}
