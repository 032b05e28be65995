// The SQL of the job table, to claim jobs with leases, end them and return them.
import { randomUUID } from 'node:crypto'
import { nowMs } from '../../core/clock.ts'
import { type ClaimedJob, type JobEnd, type JobQueue, LeaseLost } from '../../core/job.ts'
import type { Database, Tx } from '../../core/sql.ts'

type JobRow = {
  id: string
  organization_id: string
  kind: string
  subject: string
  attempts: number
  lease_token: string
  created_at: Date
}

// Claiming moves run_at to the end of the lease, so that one index finds due and abandoned jobs, each kind in its order.
// A row that another claim has just taken is skipped, or read again and found to be no longer due. The ids are passed through an array,
// because
// the planner would expect a large join and read the whole table (measured: 0.3 ms against 52 ms at 300,000 due jobs).
const claimText = `
  UPDATE jobs SET attempts = attempts + 1, lease_token = $4,
    run_at = now() + ($3::integer[])[array_position($1::text[], kind)] * interval '1 millisecond'
  WHERE id = ANY (ARRAY(
    SELECT due.id FROM unnest($1::text[], $2::integer[]) AS want (kind, slots)
    CROSS JOIN LATERAL (
      SELECT id FROM jobs WHERE jobs.kind = want.kind AND run_at <= now() AND (lease_token IS NULL OR NOT $5) ORDER BY run_at LIMIT want.slots FOR UPDATE SKIP LOCKED
    ) AS due
  ))
  RETURNING id, organization_id, kind, subject, attempts, lease_token, created_at`

const nextDueText = `
  SELECT ceil(extract(epoch FROM min(job.run_at) - now()) * 1000)::bigint AS due_in_ms
  FROM unnest($1::text[]) AS want (kind)
  CROSS JOIN LATERAL (SELECT run_at FROM jobs WHERE jobs.kind = want.kind ORDER BY run_at LIMIT 1) AS job`

// run_at of a claimed job is the end of its lease.
const releaseAllText = 'UPDATE jobs SET lease_token = NULL, run_at = now() WHERE lease_token IS NOT NULL'

const releaseText = `UPDATE jobs SET lease_token = NULL, run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2`

const held = 'id = ANY($1::text[]) AND lease_token = ($2::text[])[array_position($1, id)]'

const doneText = `DELETE FROM jobs WHERE ${held} RETURNING id`

const againText = `UPDATE jobs SET lease_token = NULL, run_at = now() + ($3::float8[])[array_position($1, id)] * interval '1 millisecond'
  WHERE ${held} RETURNING id`

const renewText = `UPDATE jobs SET run_at = now() + $3 * interval '1 millisecond' WHERE id = $1 AND lease_token = $2`

const giveBackText = `
  UPDATE jobs SET lease_token = NULL, run_at = now()
  WHERE lease_token = ANY($1) OR (id, lease_token) IN (SELECT * FROM unnest($2::text[], $3::text[]))`

type Ending = { job: ClaimedJob; end: JobEnd }

/** The job table of this database. Times are the database's own, so the clocks of workers may differ. */
export function createQueue(database: Database): JobQueue {
  // Claims whose answer was lost may have succeeded, and no worker runs their jobs. Jobs whose release failed do not run any more either.
  // Both are released before the next claim, because their leases may be long.
  let lostClaims: string[] = []
  let unreturned: ClaimedJob[] = []

  async function giveBack(): Promise<void> {
    if (lostClaims.length + unreturned.length === 0) return
    const [tokens, jobs] = [lostClaims, unreturned]
    const values = [tokens, jobs.map((job) => job.id), jobs.map((job) => job.leaseToken)]
    await database.query({ name: 'give-back-jobs', text: giveBackText, values })
    lostClaims = lostClaims.filter((token) => !tokens.includes(token))
    unreturned = unreturned.filter((job) => !jobs.includes(job))
  }

  // Jobs ended in one event-loop iteration of a transaction share their statements.
  const ending = new WeakMap<Tx, { asked: Ending[]; held: Promise<Set<string>> }>()

  /** Ends these jobs. Returns the ids of those whose lease was still held. */
  async function endAll(tx: Tx, asked: Ending[]): Promise<Set<string>> {
    ending.delete(tx)
    const done = asked.filter(({ end }) => end.done)
    const again = asked.filter(({ end }) => !end.done)
    const heldBy = (ends: Ending[]) => [ends.map(({ job }) => job.id), ends.map(({ job }) => job.leaseToken)]
    const delays = again.map(({ end }) => (end.done ? 0 : end.retryInMs))
    const results = await Promise.all([
      done.length > 0 ? tx.query<{ id: string }>({ name: 'finish-jobs', text: doneText, values: heldBy(done) }) : null,
      again.length > 0 ? tx.query<{ id: string }>({ name: 'again-jobs', text: againText, values: [...heldBy(again), delays] }) : null,
    ])
    return new Set(results.flatMap((result) => result?.rows.map(({ id }) => id) ?? []))
  }

  return {
    async claim(wants, leavesExpired = false) {
      if (wants.length === 0) return []
      await giveBack()
      // One token per claim is enough, because a job is only claimed again with another one.
      const token = randomUUID()
      const claimedMs = nowMs()
      const values = [
        wants.map((want) => want.kind),
        wants.map((want) => want.limit),
        wants.map((want) => want.leaseMs),
        token,
        leavesExpired,
      ]
      try {
        const { rows } = await database.query<JobRow>({ name: 'claim-jobs', text: claimText, values })
        return rows.map((row) => fromRow(row, claimedMs))
      } catch (error) {
        lostClaims = [...lostClaims, token]
        throw error
      }
    },

    async renew(job, leaseMs) {
      const { rowCount } = await database.query({ name: 'renew-job', text: renewText, values: [job.id, job.leaseToken, leaseMs] })
      return rowCount === 1
    },

    async finish(tx, job, end) {
      let ends = ending.get(tx)
      if (!ends) {
        const asked: Ending[] = []
        ends = { asked, held: Promise.resolve().then(() => endAll(tx, asked)) }
        ending.set(tx, ends)
      }
      ends.asked.push({ job, end })
      if (!(await ends.held).has(job.id))
        throw new LeaseLost(`The lease of job ${job.id} (${job.kind}) ran out, and another worker took the job.`)
    },

    async release(job, retryInMs) {
      try {
        await database.query({ name: 'release-job', text: releaseText, values: [job.id, job.leaseToken, retryInMs] })
      } catch (error) {
        unreturned = [...unreturned, job]
        throw error
      }
    },

    async releaseAll() {
      return (await database.query({ name: 'release-all-jobs', text: releaseAllText })).rowCount
    },

    async nextDueInMs(kinds) {
      const { rows } = await database.query<{ due_in_ms: number | null }>({ name: 'next-due-job', text: nextDueText, values: [kinds] })
      const dueInMs = rows[0]?.due_in_ms ?? null
      return dueInMs === null ? null : Math.max(0, dueInMs)
    },
  }
}

const fromRow = (row: JobRow, claimedMs: number): ClaimedJob => ({
  id: row.id,
  kind: row.kind,
  organizationId: row.organization_id,
  subject: row.subject,
  attempts: row.attempts,
  createdAt: row.created_at,
  leaseToken: row.lease_token,
  claimedMs,
})
