// Stores certificates, the account at the authority and answers to challenges. Private keys are encrypted.
import { randomUUID } from 'node:crypto'
import { inMs, now } from '../../core/clock.ts'
import type { AcmeAccount, DueCertificate, IssuedCertificate, IssuedCertificates, OrderLease } from '../../core/issued-certificates.ts'
import type { Sealing } from '../../core/replay.ts'
import type { Database, Sql } from '../../core/sql.ts'

type Row = { name: string; chain: string | null; sealed_key: string | null; issued_at: Date | null; failures: number }

const challengeKeptMs = 86_400_000

const isHeld = 'EXISTS (SELECT FROM acme_accounts WHERE directory_url = $1 AND lease_token = $2 AND lease_until > now())'

export function createIssuedCertificates(db: Database, sealing: Sealing): IssuedCertificates {
  const keyScope = (name: string): string => `certificate ${name}`
  const accountScope = (directoryUrl: string): string => `acme account ${directoryUrl}`

  const toIssued = ({ name, chain, sealed_key, issued_at }: Row): IssuedCertificate | null =>
    chain === null ? null : { name, cert: chain, key: sealing.open(keyScope(name), sealed_key as string), issuedAt: issued_at as Date }

  async function findAccount(directoryUrl: string): Promise<AcmeAccount | null> {
    const { rows } = await db.query<{ sealed_key: string; account_url: string | null }>({
      text: 'SELECT sealed_key, account_url FROM acme_accounts WHERE directory_url = $1',
      values: [directoryUrl],
    })
    return rows[0] ? { key: sealing.open(accountScope(directoryUrl), rows[0].sealed_key), url: rows[0].account_url } : null
  }

  return {
    async ensure(names, directoryUrl) {
      await db.query({
        text: `INSERT INTO certificates AS known (name, directory_url, due_at) SELECT unnest($1::text[]), $2, now()
               ON CONFLICT (name) DO UPDATE SET directory_url = $2, due_at = now(), failures = 0 WHERE known.directory_url <> $2`,
        values: [names, directoryUrl],
      })
    },

    async list(names) {
      const { rows } = await db.query<Row>({
        text: 'SELECT name, chain, sealed_key, issued_at, failures FROM certificates WHERE name = ANY($1) AND chain IS NOT NULL',
        values: [names],
      })
      return rows.map((row) => toIssued(row) as IssuedCertificate)
    },

    async account(directoryUrl, newKey) {
      const known = await findAccount(directoryUrl)
      if (known) return known
      await db.query({
        text: 'INSERT INTO acme_accounts (directory_url, sealed_key, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        values: [directoryUrl, sealing.seal(accountScope(directoryUrl), await newKey()), now()],
      })
      // Another process may have been first.
      return (await findAccount(directoryUrl)) as AcmeAccount
    },

    async saveAccountUrl(directoryUrl, url) {
      await db.query({ text: 'UPDATE acme_accounts SET account_url = $2 WHERE directory_url = $1', values: [directoryUrl, url] })
    },

    async lease(directoryUrl, leaseMs) {
      const token = randomUUID()
      const { rowCount } = await db.query({
        text: `UPDATE acme_accounts SET lease_token = $2, lease_until = now() + $3 * interval '1 millisecond'
               WHERE directory_url = $1 AND (lease_until IS NULL OR lease_until <= now())`,
        values: [directoryUrl, token, leaseMs],
      })
      return rowCount === 1 ? { token, directoryUrl } : null
    },

    async renewLease({ directoryUrl, token }, leaseMs) {
      const { rowCount } = await db.query({
        text: `UPDATE acme_accounts SET lease_until = now() + $3 * interval '1 millisecond'
               WHERE directory_url = $1 AND lease_token = $2 AND lease_until > now()`,
        values: [directoryUrl, token, leaseMs],
      })
      return rowCount === 1
    },

    async endLease({ directoryUrl, token }) {
      await db.query({
        text: 'UPDATE acme_accounts SET lease_token = NULL, lease_until = NULL WHERE directory_url = $1 AND lease_token = $2',
        values: [directoryUrl, token],
      })
    },

    async findDue(names) {
      const { rows } = await db.query<Row>({
        text: `SELECT name, chain, sealed_key, issued_at, failures FROM certificates
               WHERE name = ANY($1) AND due_at <= now() ORDER BY due_at, name`,
        values: [names],
      })
      return rows.map((row): DueCertificate => ({ name: row.name, failures: row.failures, current: toIssued(row) }))
    },

    async countOrder(name, perDay) {
      const { rowCount } = await db.query({
        text: `UPDATE certificates SET orders_on = (now() AT TIME ZONE 'UTC')::date,
                 orders = CASE WHEN orders_on = (now() AT TIME ZONE 'UTC')::date THEN orders + 1 ELSE 1 END
               WHERE name = $1 AND (orders_on IS DISTINCT FROM (now() AT TIME ZONE 'UTC')::date OR orders < $2)`,
        values: [name, perDay],
      })
      return rowCount === 1
    },

    async save({ directoryUrl, token }: OrderLease, { name, cert, key, issuedAt }, dueAt) {
      const { rowCount } = await db.query({
        text: `UPDATE certificates SET chain = $4, sealed_key = $5, issued_at = $6, due_at = $7, failures = 0, last_error = NULL
               WHERE name = $3 AND ${isHeld}`,
        values: [directoryUrl, token, name, cert, sealing.seal(keyScope(name), key), issuedAt, dueAt],
      })
      return rowCount === 1
    },

    async postpone({ directoryUrl, token }, name, dueAt, error) {
      await db.query({
        text: `UPDATE certificates SET due_at = $4, last_error = coalesce($5, last_error),
                 failures = failures + CASE WHEN $5::text IS NULL THEN 0 ELSE 1 END
               WHERE name = $3 AND ${isHeld}`,
        values: [directoryUrl, token, name, dueAt, error],
      })
    },

    async reschedule({ directoryUrl, token }, name, dueAt) {
      await db.query({
        text: `UPDATE certificates SET due_at = $4 WHERE name = $3 AND failures = 0 AND due_at > now() AND ${isHeld}`,
        values: [directoryUrl, token, name, dueAt],
      })
    },

    async addChallenge(token, keyAuthorization) {
      await db.query({ text: 'DELETE FROM acme_challenges WHERE created_at < $1', values: [inMs(-challengeKeptMs)] })
      await db.query({
        text: `INSERT INTO acme_challenges (token, key_authorization, created_at) VALUES ($1, $2, $3)
               ON CONFLICT (token) DO UPDATE SET key_authorization = $2, created_at = $3`,
        values: [token, keyAuthorization, now()],
      })
    },

    async removeChallenge(token) {
      await db.query({ text: 'DELETE FROM acme_challenges WHERE token = $1', values: [token] })
    },

    async findChallenge(token) {
      const { rows } = await db.query<{ key_authorization: string }>({
        name: 'acme.find-challenge',
        text: 'SELECT key_authorization FROM acme_challenges WHERE token = $1',
        values: [token],
      })
      return rows[0]?.key_authorization ?? null
    },
  }
}

/** A certificate of the settings. `chain` is null before the first one. */
export type CertificateState = { name: string; chain: string | null; due_at: Date; failures: number; last_error: string | null }

/** The certificates of these names, by name. */
export async function listCertificateStates(sql: Sql, names: string[]): Promise<CertificateState[]> {
  const { rows } = await sql.query<CertificateState>({
    text: 'SELECT name, chain, due_at, failures, last_error FROM certificates WHERE name = ANY($1) ORDER BY name',
    values: [names],
  })
  return rows
}

/** Makes a certificate due now. Returns false for a name that no server has started with. */
export async function makeDue(sql: Sql, name: string): Promise<boolean> {
  const { rowCount } = await sql.query({ text: 'UPDATE certificates SET due_at = now(), failures = 0 WHERE name = $1', values: [name] })
  return rowCount === 1
}
