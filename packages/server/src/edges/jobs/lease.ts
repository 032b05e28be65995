// The lease of one claimed job: renewed while the job runs, and known to be held without asking the database.
import { nowMs } from '../../core/clock.ts'
import type { ClaimedJob, JobHandler, JobQueue } from '../../core/job.ts'

export type Lease = {
  /** True while no other worker can have claimed the job, with a sixth of the lease to spare. */
  isHeld: () => boolean
  /** Renews it no more. */
  end: () => void
}

/** Pause after a renewal that failed. Short, because a lease may have run out in an outage that is over now. */
const failedPauseMs = 500

/** Renews the lease three times per duration, until the run has used its time. */
export function keepLease(queue: JobQueue, job: ClaimedJob, { leaseMs, runMsMax = leaseMs }: JobHandler): Lease {
  const lastRenewalMs = job.claimedMs + runMsMax - leaseMs
  let heldUntilMs = job.claimedMs + leaseMs
  let isOver = false
  let timer: NodeJS.Timeout

  const renewIn = (ms: number): void => {
    timer = setTimeout(() => {
      if (nowMs() <= lastRenewalMs) void renew()
    }, ms)
  }

  const renew = async (): Promise<void> => {
    const askedMs = nowMs()
    // A failed renewal may have been carried out, so it changes nothing that is known.
    const isRenewed = await queue.renew(job, leaseMs).catch(() => null)
    if (isRenewed !== null) heldUntilMs = isRenewed ? askedMs + leaseMs : 0
    if (isOver || isRenewed === false) return
    renewIn(isRenewed ? leaseMs / 3 : Math.min(failedPauseMs, leaseMs / 3))
  }

  renewIn(leaseMs / 3)
  return {
    isHeld: () => nowMs() < heldUntilMs - leaseMs / 6,
    end: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}
