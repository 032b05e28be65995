// Database queries of `callsignd doctor`.
import { nowMs } from '../../core/clock.ts'
import type { Database } from '../../core/sql.ts'

export type ServerFacts = {
  /** The server's own name, such as `PostgreSQL 18.4`. */
  product: string
  /** True for a server that Callsign supports. False for PostgreSQL before 15. */
  isSupported: boolean
  encoding: string
  /** Milliseconds by which the database's clock is ahead of this machine's, corrected for the round trip. */
  clockAheadMs: number
}

/** Throws DatabaseUnavailable when connecting fails. */
export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const askedMs = nowMs()
  const { rows } = await db.query<{ product: string; number: string; encoding: string; at: number }>({
    text: `SELECT version() AS product, current_setting('server_version_num') AS number, current_setting('server_encoding') AS encoding,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`,
  })
  const answeredMs = nowMs()
  const { product, number, encoding, at } = rows[0]!
  const isPostgres = product.startsWith('PostgreSQL')
  return {
    product: product.split(' on ')[0]!,
    isSupported: !isPostgres || Number(number) >= 150_000,
    encoding,
    clockAheadMs: Math.round(at - (askedMs + answeredMs) / 2),
  }
}

export async function countOrganizations(db: Database): Promise<number> {
  const { rows } = await db.query<{ count: number }>({ text: 'SELECT count(*) AS count FROM organizations' })
  return rows[0]!.count
}

/** Jobs that have waited longer than this for a worker, by the database's own clock. */
export async function countOverdueJobs(db: Database, ageMs: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `SELECT count(*) AS count FROM jobs WHERE run_at < now() - $1 * interval '1 millisecond'`,
    values: [ageMs],
  })
  return rows[0]!.count
}

/** Keys of blobs that rows name, which are the newest and the oldest, at most `limit` in all. */
export async function sampleBlobKeys(db: Database, limit: number): Promise<string[]> {
  const half = Math.ceil(limit / 2)
  const { rows } = await db.query<{ blob_key: string }>({
    text: `
      (SELECT blob_key FROM raw_messages WHERE blob_key IS NOT NULL ORDER BY id DESC LIMIT $1)
      UNION (SELECT blob_key FROM attachments WHERE blob_key IS NOT NULL ORDER BY id DESC LIMIT $1)
      UNION (SELECT blob_key FROM raw_messages WHERE blob_key IS NOT NULL ORDER BY id LIMIT $1)`,
    values: [half],
  })
  return rows.map((row) => row.blob_key)
}
