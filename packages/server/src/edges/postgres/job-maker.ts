// Makes jobs as rows of the caller's transaction, and tells the worker of this process once they are committed.
import { newId } from '../../core/ids.ts'
import type { CancelJob, Enqueue } from '../../core/job.ts'

/** `wake` is only a hint: workers of other processes find the job by polling. */
export const createEnqueue =
  (wake: () => void): Enqueue =>
  async (tx, jobs) => {
    if (jobs.length === 0) return
    await tx.query({
      name: 'enqueue-jobs',
      text: `INSERT INTO jobs (id, organization_id, kind, subject, run_at, created_at)
        SELECT id, organization_id, kind, subject, now() + delay_ms * interval '1 millisecond', now()
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[]) AS j (id, organization_id, kind, subject, delay_ms)`,
      values: [
        jobs.map((job) => job.id ?? newId('job')),
        jobs.map((job) => job.organizationId),
        jobs.map((job) => job.kind),
        jobs.map((job) => job.subject),
        jobs.map((job) => job.delayMs ?? 0),
      ],
    })
    tx.afterCommit(wake)
  }

export const cancelJob: CancelJob = async (tx, id) => {
  await tx.query({ name: 'cancel-job', text: 'DELETE FROM jobs WHERE id = $1 AND lease_token IS NULL', values: [id] })
}
