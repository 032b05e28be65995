// The SQL of labels of mailboxes, and of their names on messages, drafts and threads.
import { before, type PageRequest } from '../../../core/page.ts'
import type { Sql, Tx } from '../../../core/sql.ts'

export type LabelRow = {
  id: string
  organization_id: string
  mailbox_id: string
  name: string
  color: string
  client_id: string | null
  created_at: Date
  updated_at: Date
}

const columns = 'id, organization_id, mailbox_id, name, color, created_at, updated_at, client_id'

/** Inserts a label. False when the mailbox has `countMax` already. Violates `labels_once` when the name is taken. */
export async function insertLabel(tx: Tx, row: LabelRow, countMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `INSERT INTO labels (${columns}) SELECT $1, $2, $3, $4, $5, $6, $7, $8
      WHERE (SELECT count(*) FROM labels WHERE mailbox_id = $3) < $9`,
    values: [row.id, row.organization_id, row.mailbox_id, row.name, row.color, row.created_at, row.updated_at, row.client_id, countMax],
  })
  return rowCount === 1
}

export async function listLabels(sql: Sql, mailboxId: string, page: PageRequest): Promise<LabelRow[]> {
  const { rows } = await sql.query<LabelRow>({
    name: 'list-labels',
    text: `SELECT ${columns} FROM labels WHERE mailbox_id = $1 AND id < ${before('$2')} ORDER BY id DESC LIMIT $3`,
    values: [mailboxId, page.cursor, page.limit + 1],
  })
  return rows
}

/** The label with this `client_id`, of whichever mailbox. */
export async function findByClientId(sql: Sql, organizationId: string, clientId: string): Promise<LabelRow | null> {
  const { rows } = await sql.query<LabelRow>({
    text: `SELECT ${columns} FROM labels WHERE organization_id = $1 AND client_id = $2`,
    values: [organizationId, clientId],
  })
  return rows[0] ?? null
}

/** A label of a mailbox, locked until the end of the transaction. */
export async function lockLabel(tx: Tx, mailboxId: string, id: string): Promise<LabelRow | null> {
  const { rows } = await tx.query<LabelRow>({
    text: `SELECT ${columns} FROM labels WHERE mailbox_id = $1 AND id = $2 FOR UPDATE`,
    values: [mailboxId, id],
  })
  return rows[0] ?? null
}

/** Writes a locked label. Violates `labels_once` when the name is taken. */
export async function updateLabel(tx: Tx, { id, name, color, updated_at }: LabelRow): Promise<void> {
  await tx.query({ text: 'UPDATE labels SET name = $2, color = $3, updated_at = $4 WHERE id = $1', values: [id, name, color, updated_at] })
}

export async function deleteLabel(tx: Tx, id: string): Promise<void> {
  await tx.query({ text: 'DELETE FROM labels WHERE id = $1', values: [id] })
}

/** Gives another name to a label of the threads, messages and drafts of a mailbox, or removes it with null. */
export async function renameOnMail(tx: Tx, mailboxId: string, name: string, to: string | null): Promise<void> {
  await tx.query({
    text: `WITH gone AS (DELETE FROM thread_marks WHERE mailbox_id = $1 AND kind = 'label' AND mark = $2
        RETURNING organization_id, mailbox_id, thread_id, kind, last_message_id)
      INSERT INTO thread_marks (organization_id, mailbox_id, thread_id, kind, mark, last_message_id)
      SELECT organization_id, mailbox_id, thread_id, kind, $3, last_message_id FROM gone WHERE $3::text IS NOT NULL ON CONFLICT DO NOTHING`,
    values: [mailboxId, name, to],
  })
  await tx.query({
    // The last condition is the predicate of the index of labels.
    text: `UPDATE messages m SET labels = ARRAY(SELECT DISTINCT label FROM unnest(array_replace(m.labels, $2, $3)) label WHERE label IS NOT NULL ORDER BY label)
      WHERE m.mailbox_id = $1 AND m.labels @> ARRAY[$2]::text[] AND (m.labels <> '{}' OR m.tags IS NOT NULL OR m.metadata IS NOT NULL)`,
    values: [mailboxId, name, to],
  })
  await tx.query({
    text: 'UPDATE drafts SET labels = array_remove(array_replace(array_remove(labels, $3), $2, $3), NULL) WHERE mailbox_id = $1 AND $2 = ANY(labels)',
    values: [mailboxId, name, to],
  })
}
