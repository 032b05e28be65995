// Work that outlives a request: rows with leases, made in the transaction of the change that needs them.
import type { Tx } from './sql.ts'

/** A claimed job. `attempts` counts this one: 1 on the first try. */
export type Job = {
  id: string
  kind: string
  organizationId: string
  /** What the work is about: the id of a message, for instance. */
  subject: string
  attempts: number
  createdAt: Date
}

/** What becomes of the job. It is done, or it is tried again after `retryInMs`. */
export type JobEnd = { done: true } | { done: false; retryInMs: number }

/**
 * Ends a claimed job inside the transaction that holds its effect. Throws LeaseLost, rolling the effect back, when the lease ran out
 * and another worker holds the job now: an effect is committed by exactly one holder.
 */
export type Finish = (tx: Tx, end: JobEnd) => Promise<void>

export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** A job that this process holds until its lease runs out. */
export type ClaimedJob = Job & { leaseToken: string }

/** How much of one kind to claim: at most `limit` jobs, held for `leaseMs`. */
export type Want = { kind: string; limit: number; leaseMs: number }

/** What the worker asks of the job table. */
export interface JobQueue {
  /** Claims due jobs, oldest first, in one statement; never one that another worker holds. */
  claim(wants: Want[]): Promise<ClaimedJob[]>
  /** Ends a claimed job; throws LeaseLost when it is held no longer. Jobs ended in the same turn of a transaction share a statement. */
  finish(tx: Tx, job: ClaimedJob, end: JobEnd): Promise<void>
  /** Starts the lease of a job that still runs anew; does nothing when it is held no longer. */
  renew(job: ClaimedJob, leaseMs: number): Promise<void>
  /** Gives a job back to be tried again after `retryInMs`; does nothing when it is held no longer. */
  release(job: ClaimedJob, retryInMs: number): Promise<void>
  /**
   * Makes every claimed job due now and resolves with how many there were. Only for a process that knows that no other worker lives: it
   * takes from each what it holds.
   */
  releaseAll(): Promise<number>
  /** Milliseconds until the next job of these kinds is due or its lease runs out (0 when one is due now), or null when there is none. */
  nextDueInMs(kinds: string[]): Promise<number | null>
}

/** What the worker does for one kind of job. After an error thrown by `run` the job is tried again, later each time; soon, when the database was away. */
export type JobHandler = {
  kind: string
  /** How long the job stays ours without a sign of life; then another worker may claim it. */
  leaseMs: number
  /** The longest that one run may take: until then its lease is renewed while it runs. Without it a run has the time of one lease. */
  runMsMax?: number
  /** How many of this kind run side by side in one process. */
  concurrency: number
  /** A job that is due when it is made starts where it was made, without being claimed, as long as there is room and none waits. */
  startsWhereMade?: true
  run: (job: Job, finish: Finish) => Promise<void>
}

/**
 * A job to make, in the transaction of the change that needs it. It is due at once unless `delayMs` says otherwise. Who means to cancel it
 * chooses its `id`.
 */
export type NewJob = { id?: string; kind: string; organizationId: string; subject: string; delayMs?: number }

/** The worker of this process, as those see it who make jobs. */
export interface LocalWorker {
  /** How many jobs of this kind, of so many, are to be made as claimed ones and handed to `begin`, and for how long they are then held. */
  room(kind: string, wanted: number): { places: number; leaseMs: number }
  /** Takes jobs that were made as claimed ones, now that they are committed. */
  begin(jobs: ClaimedJob[]): void
  /** Says that jobs of these kinds may be due now: call it after a commit that made some. Cheap, and never lost. */
  wake(kinds?: readonly string[]): void
}

export type Enqueue = (tx: Tx, jobs: NewJob[]) => Promise<void>

/** Takes back a job, unless a worker has claimed it: that one has to find out for itself that it is not wanted any more. */
export type CancelJob = (tx: Tx, id: string) => Promise<void>
