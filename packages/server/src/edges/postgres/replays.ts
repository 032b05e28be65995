// Stores the first answers of idempotency keys as rows that commit with their effect.
import { now } from '../../core/clock.ts'
import type { ReplayScope, Replays, Sealing, StoredAnswer } from '../../core/replay.ts'
import type { Database } from '../../core/sql.ts'

/**
 * Milliseconds that a claim waits for another node's uncommitted row. Most requests end sooner, and then the caller gets the answer instead
 * of a 409.
 */
const claimWaitMs = 500

const sweepBatch = 1000

const scopeValues = (scope: ReplayScope): string[] => [scope.organizationId, scope.method, scope.path, scope.key]

const lockNotAvailable = '55P03'

const scopeName = (scope: ReplayScope): string => JSON.stringify(scopeValues(scope))

/** Stores the answers in the table `idempotency_keys`, encrypted. */
export function createReplays(database: Database, sealing: Sealing, waitMs = claimWaitMs): Replays {
  return {
    async find(scope) {
      const { rows } = await database.query<{ body_hash: Buffer; status: number; body: string }>({
        name: 'replays.find',
        text: `SELECT body_hash, status, body FROM idempotency_keys
               WHERE organization_id = $1 AND method = $2 AND path = $3 AND key = $4 AND status IS NOT NULL`,
        values: scopeValues(scope),
      })
      const row = rows[0]
      return row
        ? ({ bodyHash: row.body_hash, status: row.status, body: sealing.open(scopeName(scope), row.body) } satisfies StoredAnswer)
        : null
    },

    async claim(tx, scope, bodyHash) {
      try {
        // One round trip: the wait is limited before the insert (the lateral join fixes that order) and reset after it.
        const { rowCount } = await tx.query({
          name: 'replays.claim',
          text: `WITH session AS MATERIALIZED (SELECT current_setting('lock_timeout') AS wait)
                 INSERT INTO idempotency_keys (organization_id, method, path, key, body_hash, created_at)
                 SELECT $1, $2, $3, $4, $5, $6
                 FROM session, LATERAL set_config('lock_timeout', CASE WHEN session.wait IS NOT NULL THEN $7 END, true) AS limited
                 WHERE limited IS NOT NULL
                 ON CONFLICT DO NOTHING
                 RETURNING set_config('lock_timeout', (SELECT wait FROM session), true)`,
          values: [...scopeValues(scope), bodyHash, now(), `${waitMs}ms`],
        })
        return rowCount === 1 ? 'claimed' : 'taken'
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === lockNotAvailable) return 'running'
        throw error
      }
    },

    async store(tx, scope, status, body) {
      await tx.query({
        name: 'replays.store',
        text: `UPDATE idempotency_keys SET status = $5, body = $6
               WHERE organization_id = $1 AND method = $2 AND path = $3 AND key = $4`,
        values: [...scopeValues(scope), status, sealing.seal(scopeName(scope), body)],
      })
    },

    async sweep(olderThan) {
      let swept = 0
      for (;;) {
        const { rowCount } = await database.query({
          name: 'replays.sweep',
          text: `DELETE FROM idempotency_keys WHERE (organization_id, method, path, key) IN (
                   SELECT organization_id, method, path, key FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2
                 )`,
          values: [olderThan, sweepBatch],
        })
        swept += rowCount
        if (rowCount < sweepBatch) return swept
      }
    },
  }
}
