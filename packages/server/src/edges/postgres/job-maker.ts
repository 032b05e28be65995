// Inserts jobs as rows of the caller's transaction. After the commit they are passed to the worker of this process, or the worker is woken.
import { randomUUID } from 'node:crypto'
import { now, nowMs } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { CancelJob, ClaimedJob, Enqueue, HastenJobs, LocalWorker, NewJob } from '../../core/job.ts'

/**
 * Jobs for which the worker has capacity are inserted as claimed and started after the commit, which saves the claim. If this process dies
 * before, such a job is like any other whose worker died.
 * For all others the worker is woken, which is only a hint. Workers of other processes find them by polling.
 */
export const createEnqueue =
  (worker: () => LocalWorker | null): Enqueue =>
  async (tx, jobs) => {
    if (jobs.length === 0) return
    const local = worker()
    const held = local === null ? new Map<NewJob, Held>() : hold(local, jobs)
    const rows = jobs.map((job) => ({ id: job.id ?? newId('job'), job, lease: held.get(job) ?? null }))
    const claimedMs = nowMs()
    await tx.query({
      name: 'enqueue-jobs',
      text: `INSERT INTO jobs (id, organization_id, kind, subject, attempts, run_at, lease_token, created_at)
        SELECT id, organization_id, kind, subject, CASE WHEN lease_token IS NULL THEN 0 ELSE 1 END,
          clock_timestamp() + delay_ms * interval '1 millisecond', lease_token, now()
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[])
          AS j (id, organization_id, kind, subject, delay_ms, lease_token)`,
      values: [
        rows.map(({ id }) => id),
        jobs.map((job) => job.organizationId),
        jobs.map((job) => job.kind),
        jobs.map((job) => job.subject),
        rows.map(({ job, lease }) => lease?.leaseMs ?? job.delayMs ?? 0),
        rows.map(({ lease }) => lease?.token ?? null),
      ],
    })
    if (local === null) return
    const createdAt = now()
    const claimed = rows.flatMap(({ id, job: { organizationId, kind, subject }, lease }): ClaimedJob[] =>
      lease === null ? [] : [{ id, organizationId, kind, subject, attempts: 1, createdAt, leaseToken: lease.token, claimedMs }],
    )
    const others = jobs.filter((job) => !held.has(job)).map(({ kind }) => kind)
    tx.afterCommit(() => {
      local.begin(claimed)
      if (others.length > 0) local.wake(others)
    })
  }

type Held = { token: string; leaseMs: number }

/** The jobs for which the worker of this process has capacity, oldest first. */
function hold(worker: LocalWorker, jobs: NewJob[]): Map<NewJob, Held> {
  const token = randomUUID()
  const held = new Map<NewJob, Held>()
  // A caller that set the id may cancel the job, which only works on unclaimed jobs.
  const dueByKind = Map.groupBy(
    jobs.filter((job) => job.id === undefined && !job.delayMs),
    (job) => job.kind,
  )
  for (const [kind, due] of dueByKind) {
    const { places, leaseMs } = worker.room(kind, due.length)
    for (const job of due.slice(0, places)) held.set(job, { token, leaseMs })
  }
  return held
}

export const cancelJob: CancelJob = async (tx, id) => {
  await tx.query({ name: 'cancel-job', text: 'DELETE FROM jobs WHERE id = $1 AND lease_token IS NULL', values: [id] })
}

export const createHastenJobs =
  (worker: () => LocalWorker | null): HastenJobs =>
  async (tx, organizationId, kinds) => {
    await tx.query({
      text: 'UPDATE jobs SET run_at = now() WHERE kind = ANY($2) AND organization_id = $1 AND lease_token IS NULL AND run_at > now()',
      values: [organizationId, kinds],
    })
    tx.afterCommit(() => worker()?.wake(kinds))
  }
