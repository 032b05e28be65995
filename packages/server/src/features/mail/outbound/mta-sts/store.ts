// The SQL of MTA-STS policies: the last policy of each domain, until it expires.
import type { Sql } from '../../../../core/sql.ts'
import type { TlsPolicy } from './model.ts'

export type PolicyRow = { domain: string; policy_id: string; mode: TlsPolicy['mode']; mx: string[]; fetched_at: Date; expires_at: Date }

/** The policy of a domain, unless it has expired. */
export async function findPolicy(sql: Sql, domain: string, at: Date): Promise<PolicyRow | null> {
  const { rows } = await sql.query<PolicyRow>({
    name: 'find-mta-sts-policy',
    text: 'SELECT domain, policy_id, mode, mx, fetched_at, expires_at FROM mta_sts_policies WHERE domain = $1 AND expires_at > $2',
    values: [domain, at],
  })
  return rows[0] ?? null
}

export async function upsertPolicy(sql: Sql, row: PolicyRow): Promise<void> {
  await sql.query({
    text: `INSERT INTO mta_sts_policies (domain, policy_id, mode, mx, fetched_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (domain) DO UPDATE SET policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx,
        fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`,
    values: [row.domain, row.policy_id, row.mode, row.mx, row.fetched_at, row.expires_at],
  })
}

export async function deleteExpired(sql: Sql, at: Date): Promise<void> {
  await sql.query({ text: 'DELETE FROM mta_sts_policies WHERE expires_at < $1', values: [at] })
}
