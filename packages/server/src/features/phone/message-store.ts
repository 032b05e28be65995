// The SQL of texts, of arrivals by the provider's message id, and of catch-up positions.
import type { Code } from '@callsign/contract/codes'
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { PendingText, SmsRow } from './model.ts'
import type { ProviderName } from './provider.ts'

export type Arrival = {
  id: string
  provider: ProviderName
  providerMessageId: string
  organizationId: string
  numberId: string
  pending: PendingText | null
  at: Date
}

/** Records the arrival of a text. False for a repetition. A concurrent transaction with the same text waits for the first. */
export async function insertArrival(tx: Tx, arrival: Arrival): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-sms-arrival',
    text: `INSERT INTO sms_arrivals (provider, provider_message_id, id, organization_id, phone_number_id, pending, arrived_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (provider, provider_message_id) DO NOTHING`,
    values: [
      arrival.provider,
      arrival.providerMessageId,
      arrival.id,
      arrival.organizationId,
      arrival.numberId,
      arrival.pending === null ? null : JSON.stringify(arrival.pending),
      arrival.at,
    ],
  })
  return rowCount === 1
}

export async function isKnown(sql: Sql, provider: ProviderName, providerMessageId: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'is-sms-known',
    text: 'SELECT 1 FROM sms_arrivals WHERE provider = $1 AND provider_message_id = $2',
    values: [provider, providerMessageId],
  })
  return rowCount > 0
}

export type PendingArrival = { id: string; provider: ProviderName; organization_id: string; phone_number_id: string; pending: PendingText }

/** An arrival with media that is not fetched yet. */
export async function findPending(sql: Sql, id: string): Promise<PendingArrival | null> {
  const { rows } = await sql.query<PendingArrival>({
    text: 'SELECT id, provider, organization_id, phone_number_id, pending FROM sms_arrivals WHERE id = $1 AND pending IS NOT NULL',
    values: [id],
  })
  return rows[0] ?? null
}

/** Ends the wait of an arrival for its media. False when it had ended before. */
export async function endPending(tx: Tx, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: 'UPDATE sms_arrivals SET pending = NULL WHERE id = $1 AND pending IS NOT NULL',
    values: [id],
  })
  return rowCount === 1
}

/** Locks a number against release until the transaction ends. Returns its agent, or null when it is released. */
export async function holdNumber(tx: Tx, numberId: string): Promise<{ identity_id: string } | null> {
  const { rows } = await tx.query<{ identity_id: string }>({
    name: 'hold-phone-number',
    text: `SELECT identity_id FROM phone_numbers WHERE id = $1 AND state = 'active' FOR NO KEY UPDATE`,
    values: [numberId],
  })
  return rows[0] ?? null
}

export type NewSms = {
  id: string
  organizationId: string
  numberId: string
  type: 'sms' | 'mms'
  from: string
  to: string[]
  text: string
  codes: Code[]
  at: Date
}

export async function insertSms(tx: Tx, sms: NewSms): Promise<void> {
  await tx.query({
    name: 'insert-sms',
    text: `INSERT INTO sms_messages (id, organization_id, phone_number_id, type, from_number, to_numbers, text, created_at, codes)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [sms.id, sms.organizationId, sms.numberId, sms.type, sms.from, sms.to, sms.text, sms.at, JSON.stringify(sms.codes)],
  })
}

export type MediaRow = {
  id: string
  position: number
  filename: string
  content_type: string
  size_bytes: number
  bytes: Buffer | null
  blob_key: string | null
}

export async function insertMedia(tx: Tx, sms: { id: string; organizationId: string }, rows: MediaRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    text: `INSERT INTO sms_media (id, organization_id, sms_id, position, filename, content_type, size_bytes, bytes, blob_key)
      SELECT id, $1, $2, position, filename, content_type, size_bytes, bytes, blob_key
      FROM unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::int[], $8::bytea[], $9::text[])
        AS m (id, position, filename, content_type, size_bytes, bytes, blob_key)`,
    values: [
      sms.organizationId,
      sms.id,
      rows.map((row) => row.id),
      rows.map((row) => row.position),
      rows.map((row) => row.filename),
      rows.map((row) => row.content_type),
      rows.map((row) => row.size_bytes),
      rows.map((row) => row.bytes),
      rows.map((row) => row.blob_key),
    ],
  })
}

export type MediaFact = { id: string; sms_id: string; content_type: string; size_bytes: number; is_missing: boolean }

/** The files of texts as the API shows them, in order, without their bytes. */
export async function findMedia(sql: Sql, smsIds: string[]): Promise<Map<string, MediaFact[]>> {
  const { rows } = await sql.query<MediaFact>({
    name: 'find-sms-media',
    text: `SELECT id, sms_id, content_type, size_bytes, bytes IS NULL AND blob_key IS NULL AS is_missing FROM sms_media
      WHERE sms_id = ANY($1) ORDER BY sms_id, position`,
    values: [smsIds],
  })
  return Map.groupBy(rows, (row) => row.sms_id)
}

/** A stored file. */
export async function findFile(sql: Sql, id: string): Promise<MediaRow | null> {
  const { rows } = await sql.query<MediaRow>({
    name: 'find-sms-file',
    text: `SELECT id, position, filename, content_type, size_bytes, bytes, blob_key FROM sms_media
      WHERE id = $1 AND (bytes IS NOT NULL OR blob_key IS NOT NULL)`,
    values: [id],
  })
  return rows[0] ?? null
}

export async function findNamedBlobs(sql: Sql, keys: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ blob_key: string }>({
    text: 'SELECT blob_key FROM sms_media WHERE blob_key = ANY($1)',
    values: [keys],
  })
  return rows.map((row) => row.blob_key)
}

const columns = `s.id, s.organization_id, s.phone_number_id, n.identity_id, n.phone_number, n.agent_handle, s.type, s.from_number, s.to_numbers, s.text,
  s.codes, s.is_read, s.created_at`
const tables = 'sms_messages s JOIN phone_numbers n ON n.id = s.phone_number_id'

export async function findSms(sql: Sql, numberId: string, id: string): Promise<SmsRow | null> {
  const { rows } = await sql.query<SmsRow>({
    name: 'find-sms',
    text: `SELECT ${columns} FROM ${tables} WHERE s.phone_number_id = $1 AND s.id = $2`,
    values: [numberId, id],
  })
  return rows[0] ?? null
}

/** Texts by id, of any number. */
export async function findTexts(sql: Sql, ids: string[]): Promise<Map<string, SmsRow>> {
  const { rows } = await sql.query<SmsRow>({
    name: 'find-texts',
    text: `SELECT ${columns} FROM ${tables} WHERE s.id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Texts of a number, newest first. */
export async function listSms(
  sql: Sql,
  numberId: string,
  filters: { isRead: boolean | null; from: string | null },
  page: PageRequest,
): Promise<SmsRow[]> {
  const { rows } = await sql.query<SmsRow>({
    name: 'list-sms',
    text: `SELECT ${columns} FROM ${tables}
      WHERE s.phone_number_id = $1 AND ($2::boolean IS NULL OR s.is_read = $2) AND ($3::text IS NULL OR s.from_number = $3) AND s.id < ${before('$4')}
      ORDER BY s.id DESC LIMIT $5`,
    values: [numberId, filters.isRead, filters.from, page.cursor, page.limit + 1],
  })
  return rows
}

export async function setRead(sql: Sql, numberId: string, id: string, isRead: boolean): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: 'UPDATE sms_messages SET is_read = $3 WHERE phone_number_id = $1 AND id = $2',
    values: [numberId, id, isRead],
  })
  return rowCount === 1
}

/** Deletes the texts of a number with their media. Returns the blob keys of the media. */
export async function deleteTexts(tx: Tx, numberId: string): Promise<string[]> {
  const { rows } = await tx.query<{ blob_key: string }>({
    text: `SELECT m.blob_key FROM sms_media m JOIN sms_messages s ON s.id = m.sms_id WHERE s.phone_number_id = $1 AND m.blob_key IS NOT NULL`,
    values: [numberId],
  })
  await tx.query({ text: 'DELETE FROM sms_messages WHERE phone_number_id = $1', values: [numberId] })
  // Keeps the ids, so that late callbacks are recognized, and drops the pending content.
  await tx.query({ text: 'UPDATE sms_arrivals SET pending = NULL WHERE phone_number_id = $1', values: [numberId] })
  return rows.map((row) => row.blob_key)
}

/** The time of the last complete catch-up. Null at the first call, which starts the record. */
export async function findCatchUp(sql: Sql, provider: ProviderName): Promise<Date | null> {
  const { rows } = await sql.query<{ caught_up_at: Date }>({
    text: `WITH first AS (INSERT INTO sms_catch_ups (provider, caught_up_at) VALUES ($1, now()) ON CONFLICT (provider) DO NOTHING)
      SELECT caught_up_at FROM sms_catch_ups WHERE provider = $1`,
    values: [provider],
  })
  return rows[0]?.caught_up_at ?? null
}

/** Never moves back, because a slower process may have started earlier. */
export async function setCatchUp(sql: Sql, provider: ProviderName, at: Date): Promise<void> {
  await sql.query({
    text: 'UPDATE sms_catch_ups SET caught_up_at = greatest(caught_up_at, $2) WHERE provider = $1',
    values: [provider, at],
  })
}

/** Deletes arrivals older than this that are a day older than the last catch-up, so that no provider delivers them again. */
export async function sweepArrivals(sql: Sql, olderThan: Date): Promise<void> {
  await sql.query({
    text: `DELETE FROM sms_arrivals a WHERE a.arrived_at < $1 AND a.pending IS NULL
      AND NOT EXISTS (SELECT 1 FROM sms_catch_ups c WHERE c.provider = a.provider AND c.caught_up_at - interval '1 day' < a.arrived_at)`,
    values: [olderThan],
  })
}
