// Runs jobs. Claims due jobs of the kinds with free capacity, passes each to its handler, and retries failed ones.
import { nowMs } from '../../core/clock.ts'
import type { ClaimedJob, Finish, JobHandler, JobQueue, LocalWorker, Want } from '../../core/job.ts'
import { LeaseLost } from '../../core/job.ts'
import type { Log } from '../../core/log.ts'
import { DatabaseUnavailable } from '../../core/sql.ts'
import { keepLease, type Lease } from './lease.ts'

export type Worker = LocalWorker & {
  start: () => void
  /** Claims no more jobs and waits at most `limitMs` for the running ones. The rest are claimed again when their leases run out. */
  stop: (limitMs: number) => Promise<void>
  /** False before start, after stop, and from a failed claim until the next successful one. */
  isClaiming: () => boolean
  /** The number of running jobs. */
  running: () => number
}

const pollMs = 1_000
/** A due job may be locked by another worker that is about to claim or end it. */
const pauseMsMin = 25
/** Pause after a claim or a job that failed because the database was unavailable. */
const databasePauseMs = 1_000
const gracePauseMs = 200
/**
 * After an outage, workers whose leases ran out meanwhile renew them and record what they have done. It may take some of them seconds more
 * than this one to find the new server.
 */
const expiredGraceMs = 15_000
const retryMs = 1_000
const retryMsMax = 300_000

/**
 * One kind of job in this worker. `waiting` are claimed jobs without free capacity.
 * `isBacklogged` means that the last claim was full, so there may be more. `isAwaited` means that jobs were created since it started.
 */
type Kind = { handler: JobHandler; running: number; waiting: Ours[]; isBacklogged: boolean; isAwaited: boolean }
/** A claimed job whose lease is renewed. */
type Ours = { job: ClaimedJob; lease: Lease }

const newKind = (handler: JobHandler): Kind => ({ handler, running: 0, waiting: [], isBacklogged: false, isAwaited: false })

/** Number of free slots. */
const roomOf = ({ handler, running, waiting }: Kind): number => handler.concurrency - running - waiting.length

type WorkerOptions = { queue: JobQueue; handlers: JobHandler[]; log: Log; onFailure?: OnJobFailure }

/** Called for a run that failed or lost its lease. */
export type OnJobFailure = (job: ClaimedJob, reason: 'error' | 'lease_lost') => void

/** A worker for these kinds. Jobs created by other processes are found by polling about once per second. */
export function createWorker({ queue, handlers, log, onFailure = () => {} }: WorkerOptions): Worker {
  const kinds = new Map(handlers.map((handler): [string, Kind] => [handler.kind, newKind(handler)]))
  if (kinds.size !== handlers.length) throw new Error('Two job handlers have the same kind.')
  const runs = new Set<Promise<void>>()
  let state: 'idle' | 'running' | 'stopping' = 'idle'
  let isClaiming = false
  let loop: Promise<void> = Promise.resolve()
  // A wake during a claim takes effect in the pause that follows.
  let isWoken = false
  let endPause = () => {}

  const wake = (names: readonly string[] = []): void => {
    for (const name of names) {
      const kind = kinds.get(name)
      if (kind) kind.isAwaited = true
    }
    isWoken = true
    endPause()
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (isWoken || state === 'stopping') return resolve()
      const timer = setTimeout(() => endPause(), ms)
      endPause = () => {
        clearTimeout(timer)
        endPause = () => {}
        resolve()
      }
    })

  const work = async (): Promise<void> => {
    let leavesExpiredUntilMs = 0
    while (state === 'running') {
      isWoken = false
      const wants: Want[] = []
      for (const kind of kinds.values()) {
        const limit = roomOf(kind)
        if (limit <= 0) continue
        kind.isAwaited = false
        wants.push({ kind: kind.handler.kind, limit, leaseMs: kind.handler.leaseMs })
      }
      let pauseMs = pollMs
      try {
        if (wants.length > 0) {
          if (!isClaiming) leavesExpiredUntilMs = nowMs() + expiredGraceMs
          const jobs = await queue.claim(wants, nowMs() < leavesExpiredUntilMs)
          for (const want of wants) kinds.get(want.kind)!.isBacklogged = jobs.filter((job) => job.kind === want.kind).length === want.limit
          for (const job of jobs) take(job)
          const open = wants.filter((want) => !kinds.get(want.kind)!.isBacklogged).map((want) => want.kind)
          // After a non-empty claim there may be more jobs. The worker claims once more before it asks for the next due time, which a busy
          // worker never does.
          if (jobs.length > 0) pauseMs = pauseMsMin
          else if (nowMs() < leavesExpiredUntilMs) pauseMs = gracePauseMs
          else if (open.length > 0 && !isWoken) pauseMs = Math.max(pauseMsMin, Math.min(pollMs, (await queue.nextDueInMs(open)) ?? pollMs))
        }
        isClaiming = true
      } catch (err) {
        if (isClaiming) log.error({ err }, 'claiming jobs failed')
        isClaiming = false
        // A wake must not turn the pause into a tight loop while the database is unavailable.
        isWoken = false
        pauseMs = databasePauseMs
      }
      await pause(pauseMs)
    }
  }

  /** Takes over a claimed job, and runs it now or when a slot is free. */
  const take = (job: ClaimedJob): void => {
    const kind = kinds.get(job.kind)!
    kind.waiting.push({ job, lease: keepLease(queue, job, kind.handler) })
    runNext(kind)
  }

  const runNext = (kind: Kind): void => {
    if (kind.running >= kind.handler.concurrency || state === 'stopping') return
    const next = kind.waiting.shift()
    if (!next) return
    kind.running++
    const run = runOne(next, kind.handler).finally(() => {
      next.lease.end()
      kind.running--
      runs.delete(run)
      runNext(kind)
      // Only a full kind can have more due jobs. The others are polled.
      if (kind.isBacklogged || kind.isAwaited) wake()
    })
    runs.add(run)
  }

  /** Returns a job that has not started. */
  const giveBack = (job: ClaimedJob): void => {
    const run = release(job, 0).finally(() => runs.delete(run))
    runs.add(run)
  }

  const runOne = async ({ job, lease }: Ours, handler: JobHandler): Promise<void> => {
    let isFinished = false
    let pauseMs = Math.min(retryMs * 2 ** Math.min(job.attempts - 1, 20), retryMsMax)
    try {
      const finish: Finish = async (tx, end) => {
        await queue.finish(tx, job, end)
        tx.afterCommit(() => {
          isFinished = true
          if (!end.done && end.retryInMs < pollMs) wake()
        })
      }
      await handler.run(job, finish, lease.isHeld)
      if (isFinished) return
      log.error({ job: job.id, kind: job.kind }, 'a job handler returned without finishing its job')
      onFailure(job, 'error')
    } catch (err) {
      if (err instanceof LeaseLost) {
        log.warn({ job: job.id, kind: job.kind }, 'a job took longer than its lease')
        onFailure(job, 'lease_lost')
        return
      }
      log.error({ err, job: job.id, kind: job.kind, attempts: job.attempts }, 'a job failed')
      onFailure(job, 'error')
      // A database outage is not the job's fault, so it does not increase the job's retry delay.
      if (err instanceof DatabaseUnavailable) pauseMs = databasePauseMs
      // Code after the effect may fail too, but the job is already finished.
      if (isFinished) return
    }
    await release(job, Math.round(pauseMs * (0.75 + Math.random() / 2)))
  }

  /** If this fails, the lease runs out. */
  const release = (job: ClaimedJob, retryInMs: number): Promise<void> =>
    queue.release(job, retryInMs).catch((err) => log.warn({ err, job: job.id }, 'releasing a job failed'))

  return {
    start() {
      if (state !== 'idle') throw new Error('The worker has been started already.')
      state = 'running'
      // True until a claim fails, because the server has just reported that it is ready.
      isClaiming = true
      loop = work()
    },
    wake,
    room(name, wanted) {
      const kind = kinds.get(name)
      // Jobs that wait to be claimed come first.
      if (!kind?.handler.startsWhereMade || state !== 'running' || kind.isBacklogged || kind.isAwaited) return { places: 0, leaseMs: 0 }
      // As many jobs as may run may also wait here, because they are already claimed.
      return { places: Math.max(0, Math.min(wanted, roomOf(kind) + kind.handler.concurrency)), leaseMs: kind.handler.leaseMs }
    },
    begin(jobs) {
      // Runs after the other hints of that commit.
      queueMicrotask(() => {
        for (const job of jobs) state === 'running' ? take(job) : giveBack(job)
      })
    },
    async stop(limitMs) {
      state = 'stopping'
      endPause()
      await loop
      for (const kind of kinds.values())
        for (const { job, lease } of kind.waiting.splice(0)) {
          lease.end()
          giveBack(job)
        }
      isClaiming = false
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, limitMs)
      })
      await Promise.race([Promise.all(runs), limit])
      clearTimeout(timer)
      if (runs.size > 0) log.warn({ running: runs.size }, 'stopped with jobs running. They are claimed again when their leases run out.')
    },
    isClaiming: () => isClaiming,
    running: () => runs.size,
  }
}
