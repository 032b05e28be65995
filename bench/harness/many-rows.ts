// Rows of the lists of an organization, made inside the database: threads, messages, approvals, requests, usage, events, deliveries and more.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { idInSql, rare } from './large-mailbox.ts'

/** The organization and its only mailbox, which has one received message, with a webhook and a custom domain. */
export type Owner = {
  organizationId: string
  mailboxId: string
  identityId: string
  rawId: string
  keyId: string
  userId: string
  webhookId: string
  domainId: string
}

export async function findOwner(db: pg.Client): Promise<Owner> {
  const { rows } = await db.query(
    `SELECT m.organization_id AS "organizationId", m.mailbox_id AS "mailboxId", b.identity_id AS "identityId", m.raw_id AS "rawId",
       k.id AS "keyId", k.user_id AS "userId", w.id AS "webhookId", d.id AS "domainId"
     FROM messages m JOIN mailboxes b ON b.id = m.mailbox_id JOIN api_keys k ON k.organization_id = m.organization_id
     JOIN webhooks w ON w.organization_id = m.organization_id JOIN domains d ON d.organization_id = m.organization_id
     WHERE m.direction = 'inbound' LIMIT 1`,
  )
  return rows[0]
}

const step = 50_000
const markOf = (pair: string): string => createHash('sha256').update(pair).digest('base64url')

/** The statements of one step. `n` is the number of a row, `$6` the distance of rare rows, and `$7` the ids of the owner. */
function statements(): Record<string, string> {
  const own = (name: keyof Owner) => `($7::jsonb ->> '${name}')`
  const at = `to_timestamp(($3::bigint + n * 10000) / 1000.0)`
  const series = 'generate_series($4::bigint, $5::bigint - 1) n'
  const isRare = 'n % $6::bigint = 7'
  const [message, thread] = [idInSql('msg', 'n'), idInSql('thrd', 'n')]
  return {
    threads: `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, folder, last_message_id, last_message_at, created_at)
      SELECT ${thread}, $1, $2, 'Letter', '', 1, CASE WHEN n % $6::bigint = 9 THEN 'inbox' ELSE 'archive' END, ${message}, ${at}, ${at} FROM ${series}`,
    thread_marks: `INSERT INTO thread_marks (organization_id, mailbox_id, thread_id, kind, mark, last_message_id)
      SELECT $1, $2, ${thread}, kind, CASE WHEN kind = 'metadata' THEN CASE WHEN ${isRare} THEN '${markOf('kind:rare')}' ELSE '${markOf('kind:frequent')}' END
        WHEN ${isRare} THEN 'rare' ELSE 'frequent' END, ${message}
      FROM ${series} CROSS JOIN (VALUES ('label'), ('metadata')) AS kinds (kind) WHERE n % 10 = 3 OR ${isRare}`,
    messages: `INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, to_addresses, subject, snippet, text, html,
        extracted_characters, is_read, labels, tags, metadata, guardrail, trashed_at, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
      SELECT ${message}, $1, $2, ${thread}, 'inbound', CASE WHEN n % $6::bigint = 11 THEN 'quarantined' ELSE 'received' END, 'writer@example.com',
        ARRAY['sales@agents.localhost'], 'Letter', '', '', '', 0, true, CASE WHEN ${isRare} THEN ARRAY['rare'] ELSE '{}' END,
        CASE WHEN ${isRare} THEN ARRAY['kind:rare'] WHEN n % 10 = 3 THEN ARRAY['kind:frequent'] END,
        CASE WHEN n % 10 = 3 OR ${isRare} THEN jsonb_build_object('order', n, 'kind', CASE WHEN ${isRare} THEN 'rare' ELSE 'frequent' END) END,
        CASE WHEN n % $6::bigint = 11 THEN '{"decision": "quarantined", "rule_id": null, "basis": "mode", "reason": ""}'::jsonb END,
        CASE WHEN n % $6::bigint = 5 THEN ${at} END, 100, 0, ${own('rawId')}, ${at}, ${at}, '' FROM ${series}`,
    drafts: `INSERT INTO drafts (id, organization_id, mailbox_id, reply_all, forward_attachments, to_addresses, subject, version, attachment_count,
        is_written_by_agent, change_id, created_at, updated_at, approval_id, approval_status, approval_requested_at, approval_expires_at)
      SELECT ${idInSql('drf', 'n')}, $1, $2, false, false, ARRAY['ada@example.com'], 'Letter', 1, 0, true, ${idInSql('drf', 'n')}, ${at}, ${at},
        ${idInSql('apr', 'n')}, 'requested', ${at}, now() + interval '30 days' FROM ${series}`,
    api_requests: `INSERT INTO api_requests (id, organization_id, key_id, operation, method, path, status, duration_ms, created_at)
      SELECT ${idInSql('req', 'n')}, $1, ${own('keyId')}, CASE WHEN ${isRare} THEN 'createWebhook' ELSE 'listMail' END, CASE WHEN ${isRare} THEN 'POST' ELSE 'GET' END,
        CASE WHEN ${isRare} THEN '/api/v1/webhooks' ELSE '/api/v1/mail/messages' END, CASE WHEN n % $6::bigint = 5 THEN 500 ELSE 200 END, 3, ${at} FROM ${series}`,
    usage_counts: `INSERT INTO usage_counts (organization_id, kind, subject, day, name, count)
      SELECT $1, 'domain', 'd' || n / 400 || '.example.com', current_date - (n % 400)::int, 'received', 1 FROM ${series} ON CONFLICT DO NOTHING`,
    audit_log: `INSERT INTO audit_log (id, organization_id, action, actor_type, actor_id, target_id, created_at)
      SELECT ${idInSql('aud', 'n')}, $1, 'identity.updated', 'key', ${own('keyId')}, ${own('identityId')}, ${at} FROM ${series}`,
    suppressions: `INSERT INTO suppressions (id, organization_id, email_address, source, created_at)
      SELECT ${idInSql('sup', 'n')}, $1, 'reader' || n || '@example.com', CASE WHEN ${isRare} THEN 'complaint' ELSE 'bounce' END, ${at} FROM ${series}`,
    api_keys: `INSERT INTO api_keys (id, organization_id, user_id, lookup_id, salt, secret_hash, last4, name, type, created_at)
      SELECT ${idInSql('key', 'n')}, $1, ${own('userId')}, lpad(n::text, 16, '0'), decode(repeat('00', 16), 'hex'), decode(repeat('00', 32), 'hex'), '0000', 'Many',
        'organization', ${at} FROM ${series}`,
    handles: `INSERT INTO handles (handle, organization_id, created_at) SELECT 'many_' || n, $1, ${at} FROM ${series}`,
    identities: `INSERT INTO identities (id, organization_id, agent_handle, created_at, updated_at)
      SELECT ${idInSql('ident', 'n')}, $1, 'many_' || n, ${at}, ${at} FROM ${series}`,
    identity_metadata: `INSERT INTO identity_metadata (organization_id, mark, identity_id)
      SELECT $1, CASE WHEN ${isRare} THEN '${markOf('kind:rare')}' ELSE '${markOf('kind:frequent')}' END, ${idInSql('ident', 'n')} FROM ${series}`,
    addresses: `INSERT INTO addresses (id, organization_id, identity_id, address, created_at)
      SELECT ${idInSql('addr', 'n')}, $1, ${idInSql('ident', 'n')}, 'many_' || n || '@agents.localhost', ${at} FROM ${series}`,
    mailboxes: `INSERT INTO mailboxes (id, organization_id, identity_id, address, created_at, updated_at)
      SELECT ${idInSql('mbx', 'n')}, $1, ${idInSql('ident', 'n')}, 'many_' || n || '@agents.localhost', ${at}, ${at} FROM ${series}`,
    tunnels: `INSERT INTO tunnels (id, organization_id, identity_id, status, created_at, updated_at)
      SELECT ${idInSql('tun', 'n')}, $1, ${idInSql('ident', 'n')}, 'active', ${at}, ${at} FROM ${series}`,
    domain_reports: `INSERT INTO domain_reports (id, organization_id, domain_id, kind, reporter, report_id, starts_at, ends_at, passed, failed, sources, created_at)
      SELECT ${idInSql('drep', 'n')}, $1, ${own('domainId')}, CASE WHEN ${isRare} THEN 'tls' ELSE 'dmarc' END, 'reporter.example', n::text, ${at}, ${at}, 1, 0, '[]', ${at} FROM ${series}`,
    webhook_deliveries: `INSERT INTO webhook_deliveries (webhook_id, id, organization_id, event_id, event_type, status, tries, attempt_count, delivered_at, created_at)
      SELECT ${own('webhookId')}, ${idInSql('dlv', 'n')}, $1, ${idInSql('evt', 'n')}, 'email.received', CASE WHEN ${isRare} THEN 'failed' ELSE 'delivered' END,
        1, 1, ${at}, ${at} FROM ${series}`,
    events: `INSERT INTO events (id, organization_id, identity_id, type, subject_id, created_at, position)
      SELECT ${idInSql('evt', 'n')}, $1, ${own('identityId')}, 'email.received', ${message}, ${at}, 1000 + n FROM ${series}`,
  }
}

/**
 * Adds `size` rows to each table. Of them, `rare` have each rare property, evenly spread. One message of ten has a tag and metadata, and one
 * thread of ten a label. Foreign keys are not checked, because the rows are consistent and the checks would double the time.
 */
export async function addRows(db: pg.Client, owner: Owner, originMs: number, size: number): Promise<void> {
  const every = Math.floor(size / rare)
  await db.query('SET session_replication_role = replica')
  for (const [table, text] of Object.entries(statements())) {
    for (let start = 0; start < size; start += step) {
      const all = [owner.organizationId, owner.mailboxId, originMs, start, Math.min(start + step, size), every, JSON.stringify(owner)]
      const [used, values] = withOnly(text, all)
      await db.query(used, values)
    }
    await db.query(`VACUUM (ANALYZE) ${table}`)
  }
  await db.query('UPDATE event_head SET position = greatest(position, $1), event_id = NULL', [1000 + size])
  await db.query('CHECKPOINT')
}

/** The statement with only the parameters that it uses, because PostgreSQL refuses a parameter without a type. */
function withOnly(text: string, all: unknown[]): [string, unknown[]] {
  const numbers = [...new Set([...text.matchAll(/\$(\d)/g)].map((match) => Number(match[1])))]
  return [text.replace(/\$(\d)/g, (_, digit) => `$${numbers.indexOf(Number(digit)) + 1}`), numbers.map((number) => all[number - 1])]
}
