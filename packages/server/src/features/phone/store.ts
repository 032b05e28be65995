// The SQL of phone numbers.
import { before, type PageRequest } from '../../core/page.ts'
import type { Sql, Tx } from '../../core/sql.ts'
import type { NumberRow } from './model.ts'
import type { ProviderName } from './provider.ts'

const columns = `id, organization_id, identity_id, agent_handle, provider, country_code, type, wanted_region, wanted_area_code, state, phone_number,
  provider_number_id, ordered_at, uncertain_at, taken_numbers, failure_code, failure_detail, delivered_at, activated_at, sms_status, sms_error_code,
  sms_error_detail, created_at, updated_at`

export type NewNumber = Pick<
  NumberRow,
  'id' | 'organization_id' | 'agent_handle' | 'provider' | 'country_code' | 'type' | 'wanted_region' | 'wanted_area_code' | 'created_at'
> & { identity_id: string }

/**
 * Inserts a purchase. False when the agent has a number or a purchase already. Locks the mailbox of the identity, as deleting the identity
 * does, so that the two are serialized. Violates the foreign key when the identity is deleted.
 */
export async function insertNumber(tx: Tx, row: NewNumber): Promise<boolean> {
  await tx.query({ text: 'SELECT 1 FROM mailboxes WHERE identity_id = $1 FOR KEY SHARE', values: [row.identity_id] })
  const { rowCount } = await tx.query({
    text: `INSERT INTO phone_numbers (id, organization_id, identity_id, agent_handle, provider, country_code, type, wanted_region, wanted_area_code, state,
        created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'ordering', $10, $10)
      ON CONFLICT (identity_id) WHERE identity_id IS NOT NULL DO NOTHING`,
    values: [
      row.id,
      row.organization_id,
      row.identity_id,
      row.agent_handle,
      row.provider,
      row.country_code,
      row.type,
      row.wanted_region,
      row.wanted_area_code,
      row.created_at,
    ],
  })
  return rowCount === 1
}

export async function findNumber(sql: Sql, id: string): Promise<NumberRow | null> {
  const { rows } = await sql.query<NumberRow>({
    name: 'find-phone-number',
    text: `SELECT ${columns} FROM phone_numbers WHERE id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Rows by id, of any organization and state. */
export async function findNumbers(sql: Sql, ids: string[]): Promise<Map<string, NumberRow>> {
  const { rows } = await sql.query<NumberRow>({
    name: 'find-phone-numbers',
    text: `SELECT ${columns} FROM phone_numbers WHERE id = ANY($1)`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** The number that an agent has or is getting. */
export async function findNumberOf(sql: Sql, identityId: string): Promise<NumberRow | null> {
  const { rows } = await sql.query<NumberRow>({
    text: `SELECT ${columns} FROM phone_numbers WHERE identity_id = $1`,
    values: [identityId],
  })
  return rows[0] ?? null
}

/** An active number by its id or its phone number. */
export async function findActive(sql: Sql, organizationId: string, reference: string): Promise<NumberRow | null> {
  const column = reference.startsWith('+') ? 'phone_number' : 'id'
  const { rows } = await sql.query<NumberRow>({
    name: `find-active-number-by-${column}`,
    text: `SELECT ${columns} FROM phone_numbers WHERE organization_id = $1 AND ${column} = $2 AND state = 'active'`,
    values: [organizationId, reference],
  })
  return rows[0] ?? null
}

/** The active numbers among the recipients of a text, of any organization. */
export async function findReceivers(sql: Sql, provider: ProviderName, numbers: string[]): Promise<Map<string, NumberRow>> {
  const { rows } = await sql.query<NumberRow>({
    name: 'find-receiving-numbers',
    text: `SELECT ${columns} FROM phone_numbers WHERE provider = $1 AND phone_number = ANY($2) AND state = 'active'`,
    values: [provider, numbers],
  })
  return new Map(rows.map((row) => [row.phone_number as string, row]))
}

export async function hasNumbers(sql: Sql, provider: ProviderName): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `SELECT 1 FROM phone_numbers WHERE provider = $1 AND state = 'active' LIMIT 1`,
    values: [provider],
  })
  return rowCount > 0
}

export async function listNumbers(sql: Sql, organizationId: string, identityIds: string[] | null, page: PageRequest): Promise<NumberRow[]> {
  const { rows } = await sql.query<NumberRow>({
    name: 'list-phone-numbers',
    text: `SELECT ${columns} FROM phone_numbers
      WHERE organization_id = $1 AND state = 'active' AND ($2::text[] IS NULL OR identity_id = ANY($2)) AND id < ${before('$3')} ORDER BY id DESC LIMIT $4`,
    values: [organizationId, identityIds, page.cursor, page.limit + 1],
  })
  return rows
}

/** The numbers among these that a row has already, because a provider may offer a number that it has just sold. */
export async function findHeld(sql: Sql, numbers: string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ phone_number: string }>({
    text: `SELECT phone_number FROM phone_numbers WHERE phone_number = ANY($1) AND state IN ('ordering', 'active', 'releasing')`,
    values: [numbers],
  })
  return new Set(rows.map((row) => row.phone_number))
}

/** Records a number before it is ordered. False when the purchase was cancelled. Violates `phone_numbers_one_a_number` when another row has the number. */
export async function beginOrder(sql: Sql, id: string, phoneNumber: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `UPDATE phone_numbers SET phone_number = $2, ordered_at = now(), updated_at = now() WHERE id = $1 AND state = 'ordering'`,
    values: [id, phoneNumber],
  })
  return rowCount === 1
}

/** Records that the response to an order was lost. */
export async function markUncertain(sql: Sql, id: string): Promise<void> {
  await sql.query({ text: 'UPDATE phone_numbers SET uncertain_at = now() WHERE id = $1', values: [id] })
}

/** Excludes a number that another customer has, so that the next run chooses another. */
export async function dropOffer(sql: Sql, id: string, phoneNumber: string): Promise<void> {
  await sql.query({
    text: `UPDATE phone_numbers SET phone_number = NULL, ordered_at = NULL, uncertain_at = NULL, taken_numbers = taken_numbers || $2::text, updated_at = now()
      WHERE id = $1 AND state = 'ordering' AND phone_number = $2`,
    values: [id, phoneNumber],
  })
}

/** Activates a bought number. False when the purchase was cancelled. The release job then finds the number by its order key. */
export async function activate(tx: Tx, id: string, providerNumberId: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `UPDATE phone_numbers SET state = 'active', provider_number_id = $2, activated_at = $3, updated_at = $3 WHERE id = $1 AND state = 'ordering'`,
    values: [id, providerNumberId, at],
  })
  return rowCount === 1
}

/** Fails a purchase. */
export async function failOrder(tx: Tx, id: string, code: NumberRow['failure_code'], detail: string): Promise<void> {
  await tx.query({
    text: `UPDATE phone_numbers SET state = 'failed', identity_id = NULL, failure_code = $2, failure_detail = $3, updated_at = now()
      WHERE id = $1 AND state = 'ordering'`,
    values: [id, code, detail],
  })
}

/** Claims the number for the response of one request. Null when another request has returned it. */
export async function claimResponse(tx: Tx, id: string): Promise<NumberRow | null> {
  const { rows } = await tx.query<NumberRow>({
    text: `UPDATE phone_numbers SET delivered_at = now() WHERE id = $1 AND state = 'active' AND delivered_at IS NULL RETURNING ${columns}`,
    values: [id],
  })
  return rows[0] ?? null
}

export type SmsChange = { status: 'ready'; code: null; detail: null } | { status: 'assignment_failed'; code: string; detail: string }

/** Moves a number out of `pending`. True for exactly one caller. */
export async function recordSmsStatus(tx: Tx, id: string, change: SmsChange, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `UPDATE phone_numbers SET sms_status = $2, sms_error_code = $3, sms_error_detail = $4, updated_at = $5
      WHERE id = $1 AND state = 'active' AND sms_status = 'pending'`,
    values: [id, change.status, change.code, change.detail, at],
  })
  return rowCount === 1
}

/** Starts the release of a number or a purchase. False when neither is active. */
export async function startRelease(tx: Tx, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `UPDATE phone_numbers SET state = 'releasing', identity_id = NULL, updated_at = $2 WHERE id = $1 AND state IN ('ordering', 'active')`,
    values: [id, at],
  })
  return rowCount === 1
}

/** Ends the release of a number that the provider has back or never sold. */
export async function endRelease(tx: Tx, id: string): Promise<void> {
  await tx.query({
    text: `UPDATE phone_numbers SET state = 'released', updated_at = now() WHERE id = $1 AND state = 'releasing'`,
    values: [id],
  })
}

/** True when this organization once had the number with this id. */
export async function wasReleased(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `SELECT 1 FROM phone_numbers WHERE organization_id = $1 AND id = $2 AND state IN ('releasing', 'released') AND activated_at IS NOT NULL`,
    values: [organizationId, id],
  })
  return rowCount > 0
}

/** Deletes purchases that failed before this time. */
export async function sweepFailed(sql: Sql, olderThan: Date): Promise<void> {
  await sql.query({ text: `DELETE FROM phone_numbers WHERE state = 'failed' AND updated_at < $1`, values: [olderThan] })
}
