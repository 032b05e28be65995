// Database queries of `callsignd doctor` and of the metrics.
import { nowMs } from '../../core/clock.ts'
import type { Database, Sql } from '../../core/sql.ts'

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

/** Due work, counted up to `countMax`, and the age of its oldest item in seconds. */
export type Due = { count: number; oldestSeconds: number }
/** `waiting` includes jobs that are due later, such as retries. */
export type Backlog = { jobs: Map<string, Due & { waiting: number }>; webhooks: Due; backedUpAt: Date | null }

/** Counting stops here, so that reading a long backlog stays cheap. */
const countMax = 100_000

/** The backlog of jobs of these kinds and of webhooks, and the time of the last backup. */
export async function readBacklog(db: Database, kinds: string[]): Promise<Backlog> {
  const [jobs, webhooks, backup] = await Promise.all([
    db.query<{ kind: string; due: number; waiting: number; oldest: number }>({
      name: 'backlog-of-jobs',
      text: `SELECT k.kind, d.due, w.waiting, coalesce(extract(epoch FROM now() - d.oldest), 0)::float8 AS oldest
        FROM unnest($1::text[]) AS k (kind)
        CROSS JOIN LATERAL (SELECT count(*) AS due, min(run_at) AS oldest FROM (
          SELECT run_at FROM jobs WHERE kind = k.kind AND run_at <= now() ORDER BY run_at LIMIT ${countMax}) AS j) AS d
        CROSS JOIN LATERAL (SELECT count(*) AS waiting FROM (SELECT 1 FROM jobs WHERE kind = k.kind LIMIT ${countMax}) AS j) AS w`,
      values: [kinds],
    }),
    db.query<{ due: number; oldest: number }>({
      name: 'backlog-of-webhooks',
      text: `WITH RECURSIVE step AS (
          (SELECT webhook_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY webhook_id, due_at LIMIT 1)
          UNION ALL
          SELECT next.webhook_id, next.due_at FROM step CROSS JOIN LATERAL (SELECT webhook_id, due_at FROM webhook_deliveries
            WHERE due_at IS NOT NULL AND webhook_id > step.webhook_id ORDER BY webhook_id, due_at LIMIT 1) AS next)
        SELECT coalesce(sum(c.due), 0)::int AS due, coalesce(extract(epoch FROM now() - min(step.due_at)), 0)::float8 AS oldest
        FROM step JOIN webhooks w ON w.id = step.webhook_id
        CROSS JOIN LATERAL (SELECT count(*) AS due FROM (
          SELECT 1 FROM webhook_deliveries WHERE webhook_id = step.webhook_id AND due_at <= now() LIMIT ${countMax}) AS d) AS c
        WHERE step.due_at <= now() AND w.status = 'active' AND w.deleted_at IS NULL`,
    }),
    db.query<{ succeeded_at: Date | null }>({ text: 'SELECT succeeded_at FROM backup_state' }),
  ])
  return {
    jobs: new Map(jobs.rows.map(({ kind, due, waiting, oldest }) => [kind, { count: due, waiting, oldestSeconds: oldest }])),
    webhooks: { count: webhooks.rows[0]!.due, oldestSeconds: webhooks.rows[0]!.oldest },
    backedUpAt: backup.rows[0]?.succeeded_at ?? null,
  }
}

/** The bytes of these tables with their indexes. Tables that do not exist count as empty. */
export async function sizeOfTables(sql: Sql, tables: string[]): Promise<number> {
  const { rows } = await sql.query<{ bytes: number }>({
    // A partitioned table has no bytes of its own.
    text: `SELECT coalesce(sum(coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(to_regclass(name))),
      pg_total_relation_size(to_regclass(name)))), 0)::float8 AS bytes FROM unnest($1::text[]) AS name`,
    values: [tables],
  })
  return rows[0]?.bytes ?? 0
}
