// The SQL of custom domains.
import type { Sql, Tx } from '../../../core/sql.ts'
import type { DomainRow, StatusColumns } from './model.ts'

const columns = `d.id, d.organization_id, d.domain, d.status, d.is_default, d.holds_name, d.provider, d.provider_domain_id, d.dns_records,
  d.verified_at, d.failing_since, d.check_at, d.client_id, d.created_at, d.updated_at`

/** Locks the organization's list of domains and its default until the transaction ends. */
export async function lockDomains(tx: Tx, organizationId: string): Promise<void> {
  await tx.query({ text: 'SELECT 1 FROM organizations WHERE id = $1 FOR NO KEY UPDATE', values: [organizationId] })
}

export async function countDomains(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: 'SELECT count(*)::integer AS count FROM domains WHERE organization_id = $1',
    values: [organizationId],
  })
  return rows[0]?.count ?? 0
}

/** Violates `domains_once` when the organization has the name, and `domains_one_registration` when another domain has the registration. */
export async function insertDomain(sql: Sql, row: DomainRow): Promise<void> {
  await sql.query({
    text: `INSERT INTO domains (id, organization_id, domain, status, is_default, holds_name, provider, provider_domain_id, dns_records,
        verified_at, failing_since, check_at, created_at, updated_at, client_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    values: [
      row.id,
      row.organization_id,
      row.domain,
      row.status,
      row.is_default,
      row.holds_name,
      row.provider,
      row.provider_domain_id,
      JSON.stringify(row.dns_records),
      row.verified_at,
      row.failing_since,
      row.check_at,
      row.created_at,
      row.updated_at,
      row.client_id,
    ],
  })
}

export type CountedRow = DomainRow & { mailboxes_count: number }

/** All domains of an organization, newest first. */
export async function listDomains(sql: Sql, organizationId: string): Promise<CountedRow[]> {
  const { rows } = await sql.query<CountedRow>({
    name: 'list-domains',
    text: `SELECT ${columns}, (SELECT count(DISTINCT a.identity_id)::integer FROM addresses a WHERE a.domain_id = d.id) AS mailboxes_count
      FROM domains d WHERE d.organization_id = $1 ORDER BY d.id DESC`,
    values: [organizationId],
  })
  return rows
}

export async function findDomain(sql: Sql, organizationId: string, id: string): Promise<DomainRow | null> {
  const { rows } = await sql.query<DomainRow>({
    name: 'find-domain',
    text: `SELECT ${columns} FROM domains d WHERE d.organization_id = $1 AND d.id = $2`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

/** The domain with this client id, or else the one with this name. */
export async function findKnown(sql: Sql, organizationId: string, domain: string, clientId: string | null): Promise<DomainRow | null> {
  const { rows } = await sql.query<DomainRow>({
    text: `SELECT ${columns} FROM domains d WHERE d.organization_id = $1 AND (d.domain = $2 OR d.client_id = $3)
      ORDER BY d.client_id IS NOT DISTINCT FROM $3 DESC LIMIT 1`,
    values: [organizationId, domain, clientId],
  })
  return rows[0] ?? null
}

export async function findByName(sql: Sql, organizationId: string, domain: string): Promise<DomainRow | null> {
  const { rows } = await sql.query<DomainRow>({
    text: `SELECT ${columns} FROM domains d WHERE d.organization_id = $1 AND d.domain = $2`,
    values: [organizationId, domain],
  })
  return rows[0] ?? null
}

/** The domain, locked until the transaction ends. */
export async function lockDomain(tx: Tx, organizationId: string, id: string): Promise<DomainRow | null> {
  const { rows } = await tx.query<DomainRow>({
    text: `SELECT ${columns} FROM domains d WHERE d.organization_id = $1 AND d.id = $2 FOR UPDATE`,
    values: [organizationId, id],
  })
  return rows[0] ?? null
}

/** The verified domain with this id or name, or the default when both are null. It cannot change or be deleted until the transaction ends. */
export async function shareVerified(
  tx: Tx,
  organizationId: string,
  wanted: { id: string | null; domain: string | null },
): Promise<{ id: string; domain: string } | null> {
  const { rows } = await tx.query<{ id: string; domain: string }>({
    name: 'share-verified-domain',
    text: `SELECT d.id, d.domain FROM domains d
      WHERE d.organization_id = $1 AND d.status = 'verified'
        AND CASE WHEN $2::text IS NOT NULL THEN d.id = $2 WHEN $3::text IS NOT NULL THEN d.domain = $3 ELSE d.is_default END
      FOR SHARE`,
    values: [organizationId, wanted.id, wanted.domain],
  })
  return rows[0] ?? null
}

/** Writes the result of an inspection. Violates `domains_one_holder` when another organization has the name. */
export async function updateStatus(sql: Sql, id: string, next: StatusColumns, holdsName: boolean, at: Date): Promise<DomainRow> {
  const { rows } = await sql.query<DomainRow>({
    text: `UPDATE domains d SET status = $2, dns_records = $3, verified_at = $4, failing_since = $5, check_at = $6, holds_name = $7, updated_at = $8
      WHERE id = $1 RETURNING ${columns}`,
    values: [id, next.status, JSON.stringify(next.dns_records), next.verified_at, next.failing_since, next.check_at, holdsName, at],
  })
  return rows[0] as DomainRow
}

/** Takes a name that is now verified elsewhere from an organization whose records have failed. */
export async function releaseName(sql: Sql, domain: string, exceptId: string): Promise<void> {
  await sql.query({
    text: `UPDATE domains SET holds_name = false WHERE domain = $1 AND holds_name AND status <> 'verified' AND id <> $2`,
    values: [domain, exceptId],
  })
}

/** Makes one domain the only default. Needs two statements, because the unique index forbids two defaults at any moment. */
export async function setDefault(tx: Tx, organizationId: string, id: string, at: Date): Promise<DomainRow> {
  await tx.query({
    text: 'UPDATE domains SET is_default = false, updated_at = $3 WHERE organization_id = $1 AND is_default AND id <> $2',
    values: [organizationId, id, at],
  })
  const { rows } = await tx.query<DomainRow>({
    text: `UPDATE domains d SET is_default = true, updated_at = CASE WHEN is_default THEN updated_at ELSE $2 END WHERE id = $1 RETURNING ${columns}`,
    values: [id, at],
  })
  return rows[0] as DomainRow
}

/** The number of mailboxes with an address on the domain. */
export async function countMailboxes(sql: Sql, id: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: 'SELECT count(DISTINCT identity_id)::integer AS count FROM addresses WHERE domain_id = $1',
    values: [id],
  })
  return rows[0]?.count ?? 0
}

/** Deletes a domain with its addresses, none of which may be a primary one. */
export async function deleteDomain(sql: Sql, id: string): Promise<void> {
  await sql.query({ text: 'DELETE FROM domains WHERE id = $1', values: [id] })
}

/** The names among these that an organization has verified with one of these providers: their mail is filed or refused here. */
export async function findServed(sql: Sql, domains: string[], providers: string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ domain: string }>({
    name: 'find-served-domains',
    text: `SELECT domain FROM domains WHERE domain = ANY($1) AND holds_name AND status = 'verified' AND provider = ANY($2)`,
    values: [domains, providers],
  })
  return new Set(rows.map((row) => row.domain))
}

/** The names among these that an organization of this server has verified, with any provider. */
export async function findVerified(sql: Sql, domains: string[]): Promise<string[]> {
  const { rows } = await sql.query<{ domain: string }>({
    name: 'find-verified-domains',
    text: `SELECT DISTINCT domain FROM domains WHERE domain = ANY($1) AND holds_name AND status = 'verified'`,
    values: [domains],
  })
  return rows.map((row) => row.domain)
}

/** Claims verified domains that are due for a check by setting their next one, so that no other node checks them meanwhile. */
export async function claimDue(sql: Sql, at: Date, nextCheckAt: Date, limit: number): Promise<DomainRow[]> {
  const { rows } = await sql.query<DomainRow>({
    text: `UPDATE domains d SET check_at = $2
      WHERE d.id IN (SELECT id FROM domains WHERE check_at <= $1 ORDER BY check_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING ${columns}`,
    values: [at, nextCheckAt, limit],
  })
  return rows
}

/** Records the start of a registration. Returns the start of an earlier attempt with an unknown outcome, unless that was before `since`. */
export async function beginRegistration(
  sql: Sql,
  claim: { organizationId: string; domain: string },
  provider: string,
  at: Date,
  since: Date,
): Promise<Date | null> {
  const { rows } = await sql.query<{ started_at: Date }>({
    text: `WITH earlier AS (
        SELECT started_at FROM domain_registrations WHERE organization_id = $1 AND provider = $2 AND domain = $3 AND started_at >= $5),
      begun AS (
        INSERT INTO domain_registrations AS r (organization_id, provider, domain, started_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (organization_id, provider, domain) DO UPDATE SET started_at = $4 WHERE r.started_at < $5)
      SELECT started_at FROM earlier`,
    values: [claim.organizationId, provider, claim.domain, at, since],
  })
  return rows[0]?.started_at ?? null
}

export async function endRegistration(sql: Sql, claim: { organizationId: string; domain: string }, provider: string): Promise<void> {
  await sql.query({
    text: 'DELETE FROM domain_registrations WHERE organization_id = $1 AND provider = $2 AND domain = $3',
    values: [claim.organizationId, provider, claim.domain],
  })
}
