// Work that outlives a request. Jobs are rows with leases, inserted in the transaction of the change that needs them.
import type { Tx } from './sql.ts'

/** A claimed job. `attempts` counts this one: 1 on the first try. */
export type Job = {
  id: string
  kind: string
  organizationId: string
  /** Subject of the work, for example the id of a message. */
  subject: string
  attempts: number
  createdAt: Date
}

/** The end of a run. The job is done, or it is retried after `retryInMs`. */
export type JobEnd = { done: true } | { done: false; retryInMs: number }

/**
 * Ends a claimed job inside the transaction of its effect. Throws LeaseLost, which rolls the effect back, when the lease ran out and
 * another worker has claimed the job.
 * An effect is therefore committed by exactly one worker.
 */
export type Finish = (tx: Tx, end: JobEnd) => Promise<void>

/**
 * True while no other worker can have claimed the job. Asked at the last moment before an effect outside, because a lease may run out in an
 * outage of the database or while the process stands still.
 */
export type IsHeld = () => boolean

export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A job claimed by this process until its lease runs out. The lease began at `claimedMs` or later. */
export type ClaimedJob = Job & { leaseToken: string; claimedMs: number }

/** The number of jobs of one kind to claim, at most `limit`, with leases of `leaseMs`. */
export type Want = { kind: string; limit: number; leaseMs: number }

/** The job table as the worker uses it. */
export interface JobQueue {
  /**
   * Claims due jobs, oldest first, in one statement. Never claims a job with another worker's lease. `leavesExpired` also leaves those whose
   * lease has run out.
   */
  claim(wants: Want[], leavesExpired?: boolean): Promise<ClaimedJob[]>
  /** Ends a claimed job. Throws LeaseLost when its lease was lost. Jobs that end in one transaction and one iteration of the event loop share a statement. */
  finish(tx: Tx, job: ClaimedJob, end: JobEnd): Promise<void>
  /** Restarts the lease of a running job. Does nothing and resolves with false when the lease was lost. */
  renew(job: ClaimedJob, leaseMs: number): Promise<boolean>
  /** Returns a job to be retried after `retryInMs`. Does nothing when the lease was lost. */
  release(job: ClaimedJob, retryInMs: number): Promise<void>
  /**
   * Makes every claimed job due now and resolves with their number. It revokes all leases, so it is only for a process that knows that no
   * other worker runs.
   */
  releaseAll(): Promise<number>
  /** Milliseconds until the next job of these kinds is due or its lease runs out. 0 when one is due now, and null without one. */
  nextDueInMs(kinds: string[]): Promise<number | null>
}

/**
 * The handler for one kind of job. After an error thrown by `run` the job is retried with growing delays, or soon when the database was
 * unavailable.
 */
export type JobHandler = {
  kind: string
  /** Milliseconds after which another worker may claim the job, unless its lease is renewed. */
  leaseMs: number
  /** Maximum duration of one run, during which its lease is renewed. Defaults to one lease. */
  runMsMax?: number
  /** Number of jobs of this kind that run concurrently in one process. */
  concurrency: number
  /** A job that is due at once starts in the process that creates it, without being claimed, while there is capacity and none waits. */
  startsWhereMade?: true
  run: (job: Job, finish: Finish, isHeld: IsHeld) => Promise<void>
}

/**
 * A job to create in the transaction of the change that needs it. It is due at once unless `delayMs` is set. A caller that may cancel it
 * sets its `id`.
 */
export type NewJob = { id?: string; kind: string; organizationId: string; subject: string; delayMs?: number }

/** The worker of this process, as seen by code that creates jobs. */
export interface LocalWorker {
  /** Number of jobs of this kind, out of `wanted`, to create as claimed and pass to `begin`, and the duration of their leases. */
  room(kind: string, wanted: number): { places: number; leaseMs: number }
  /** Takes jobs that were created as claimed, after their commit. */
  begin(jobs: ClaimedJob[]): void
  /** Wakes the worker because jobs of these kinds may be due. Call it after a commit that created some. It is cheap and is never lost. */
  wake(kinds?: readonly string[]): void
}

export type Enqueue = (tx: Tx, jobs: NewJob[]) => Promise<void>

/** Makes the unclaimed jobs of these kinds of an organization due now. */
export type HastenJobs = (tx: Tx, organizationId: string, kinds: string[]) => Promise<void>

/** Deletes a job unless a worker has claimed it. The worker then has to check whether the job is still needed. */
export type CancelJob = (tx: Tx, id: string) => Promise<void>
