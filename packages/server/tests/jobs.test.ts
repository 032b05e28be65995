// The job table and the worker against a real PostgreSQL. Covers leases, races, waking and retries.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClaimedJob, type JobHandler, LeaseLost } from '../src/core/job.ts'
import { createLog } from '../src/core/log.ts'
import { DatabaseUnavailable } from '../src/core/sql.ts'
import { createWorker, type OnJobFailure, type Worker } from '../src/edges/jobs/runner.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { createEnqueue } from '../src/edges/postgres/job-maker.ts'
import { createQueue } from '../src/edges/postgres/queue.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { waitFor } from './harness/wait.ts'

const log = createLog('silent')
const cleanups: (() => Promise<unknown> | unknown)[] = []
let database: PostgresDatabase

// The table of the migrations without its references, so that jobs need no organizations here.
const jobsTable = `
  CREATE TABLE jobs (id text PRIMARY KEY, organization_id text NOT NULL, kind text NOT NULL, subject text NOT NULL,
    attempts integer NOT NULL DEFAULT 0, run_at timestamptz NOT NULL, lease_token text, created_at timestamptz NOT NULL);
  CREATE INDEX jobs_due ON jobs (kind, run_at)`

beforeEach(async () => {
  const { url, drop } = await createEmptyDatabase()
  database = connect({ connectionString: url }, { poolSize: 10, log })
  cleanups.push(drop, () => database.close())
  await database.query({ text: jobsTable })
})

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const addJobs = (kind: string, count: number, inMs = 0, on: PostgresDatabase = database) =>
  on.query({
    text: `INSERT INTO jobs (id, organization_id, kind, subject, run_at, created_at)
           SELECT $1 || '-' || n, 'org', $1, 'subject-' || n, now() + $3 * interval '1 millisecond', now() FROM generate_series(1, $2) AS n`,
    values: [kind, count, inMs],
  })

const countJobs = async (): Promise<number> => (await database.query<{ n: number }>({ text: 'SELECT count(*) AS n FROM jobs' })).rows[0]!.n
const endLeases = () => database.query({ text: `UPDATE jobs SET run_at = now() - interval '1 second'` })
const want = (kind: string, limit: number, leaseMs = 60_000) => ({ kind, limit, leaseMs })

function startWorker(handlers: Partial<JobHandler>[], queue = createQueue(database), onFailure?: OnJobFailure): Worker {
  const complete = handlers.map((handler) => ({ kind: 'a', leaseMs: 60_000, concurrency: 4, run: async () => {}, ...handler }))
  const worker = createWorker({ queue, handlers: complete, log, ...(onFailure ? { onFailure } : {}) })
  cleanups.push(() => worker.stop(5_000))
  worker.start()
  return worker
}

/** A promise and the function that keeps it. */
function signal<T = void>(): { when: Promise<T>; give: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { when: promise, give: resolve }
}

test('a claim takes due jobs by kind and limit, and counts the attempt', async () => {
  const queue = createQueue(database)
  await addJobs('a', 3)
  await addJobs('b', 3)
  await addJobs('c', 1)
  await addJobs('later', 1, 60_000)
  const jobs = await queue.claim([want('a', 2), want('b', 9), want('later', 9)])
  expect(jobs.map((job) => job.kind).sort()).toEqual(['a', 'a', 'b', 'b', 'b'])
  expect(jobs[0]).toMatchObject({
    organizationId: 'org',
    attempts: 1,
    createdAt: expect.any(Date),
    subject: expect.stringMatching(/^subject-/),
  })
  expect(await queue.claim([want('a', 9), want('b', 9)])).toHaveLength(1)
  expect(await queue.claim([])).toEqual([])
  const dueInMs = await queue.nextDueInMs(['later', 'none'])
  expect(dueInMs).toBeGreaterThan(50_000)
  expect(dueInMs).toBeLessThanOrEqual(60_000)
  expect(await queue.nextDueInMs(['c', 'later'])).toBe(0)
  expect(await queue.nextDueInMs(['none'])).toBeNull()
})

test('parallel claims give every job to exactly one', async () => {
  const queue = createQueue(database)
  await addJobs('a', 200)
  const claimed: ClaimedJob[] = []
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let jobs = await queue.claim([want('a', 7)]); jobs.length > 0; jobs = await queue.claim([want('a', 7)])) claimed.push(...jobs)
    }),
  )
  expect(new Set(claimed.map((job) => job.id)).size).toBe(claimed.length)
  // A claim that finds its rows locked returns nothing, and they are still due.
  for (let jobs = await queue.claim([want('a', 50)]); jobs.length > 0; jobs = await queue.claim([want('a', 50)])) claimed.push(...jobs)
  expect(claimed).toHaveLength(200)
})

test('a claim reads only the rows it takes, for any number of due jobs', async () => {
  const { url, drop } = await createEmptyDatabase()
  // Statistics are counted by connection, and seen once the connection has handed them in.
  const single = connect({ connectionString: url }, { poolSize: 1, log })
  cleanups.push(drop, () => single.close())
  await single.query({ text: jobsTable })
  await addJobs('a', 20_000, 0, single)
  await single.query({ text: 'ANALYZE jobs' })
  const scans = async (): Promise<number> => {
    await single.query({ text: 'SELECT pg_stat_force_next_flush()' })
    return (await single.query<{ n: number }>({ text: `SELECT seq_scan AS n FROM pg_stat_user_tables WHERE relname = 'jobs'` })).rows[0]!.n
  }
  const queue = createQueue(single)
  const before = await scans()
  // A named statement changes to its general plan after five runs.
  for (let round = 0; round < 8; round++) {
    expect(await queue.claim([want('a', 5)])).toHaveLength(5)
    expect(await queue.nextDueInMs(['a'])).toBe(0)
  }
  expect(await scans()).toBe(before)
})

test('an expired lease is claimed again, and only its new holder can finish', async () => {
  const queue = createQueue(database)
  await addJobs('a', 1)
  const [first] = await queue.claim([want('a', 1)])
  expect(await queue.claim([want('a', 1)])).toEqual([])
  await endLeases()
  // After an outage, the first holder gets some time.
  expect(await queue.claim([want('a', 1)], true)).toEqual([])
  const [second] = await queue.claim([want('a', 1)])
  expect(second).toMatchObject({ id: first!.id, attempts: 2 })
  const late = database.transact(async (tx) => {
    await tx.query({ text: 'CREATE TABLE effect (id int)' })
    await queue.finish(tx, first!, { done: true })
  })
  await expect(late).rejects.toBeInstanceOf(LeaseLost)
  expect((await database.query({ text: `SELECT 1 FROM pg_tables WHERE tablename = 'effect'` })).rowCount).toBe(0)
  await queue.release(first!, 0)
  expect(await queue.claim([want('a', 1)])).toEqual([])
  await database.transact((tx) => queue.finish(tx, second!, { done: true }))
  expect(await countJobs()).toBe(0)
  await expect(database.transact((tx) => queue.finish(tx, second!, { done: true }))).rejects.toBeInstanceOf(LeaseLost)
})

test('jobs that end in one batch commit together, and a lost lease rolls the others back', async () => {
  const queue = createQueue(database)
  await addJobs('a', 4)
  const [lost, ...held] = await queue.claim([want('a', 4)])
  await database.query({ text: 'DELETE FROM jobs WHERE id = $1', values: [lost!.id] })
  const ends = (jobs: ClaimedJob[]) =>
    database.transact((tx) =>
      Promise.all(jobs.map((job, index) => queue.finish(tx, job, index === 0 ? { done: false, retryInMs: 60_000 } : { done: true }))),
    )
  await expect(ends([...held, lost!])).rejects.toThrow(new RegExp(`The lease of job ${lost!.id} `))
  expect(await countJobs()).toBe(3)
  await ends(held)
  const { rows } = await database.query({ text: 'SELECT id, lease_token, run_at > now() AS is_later FROM jobs' })
  expect(rows).toEqual([{ id: held[0]!.id, lease_token: null, is_later: true }])
  await expect(ends(held)).rejects.toBeInstanceOf(LeaseLost)
})

test('of two concurrent holders that finish, one commits and the other is rolled back', async () => {
  const queue = createQueue(database)
  await addJobs('a', 20)
  await database.query({ text: 'CREATE TABLE effects (job text)' })
  const first = await queue.claim([want('a', 20)])
  const finish = (job: ClaimedJob) =>
    database.transact(async (tx) => {
      await tx.query({ text: 'INSERT INTO effects VALUES ($1)', values: [job.id] })
      await queue.finish(tx, job, { done: true })
    })
  await endLeases()
  const outcomes = await Promise.allSettled([
    ...first.map(finish),
    queue.claim([want('a', 20)]).then((jobs) => Promise.allSettled(jobs.map(finish))),
  ])
  expect(outcomes.length).toBe(21)
  const { rows } = await database.query<{ jobs: number; effects: number }>({
    text: 'SELECT count(DISTINCT job) AS jobs, count(*) AS effects FROM effects',
  })
  expect(rows[0]).toEqual({ jobs: 20, effects: 20 })
  expect(await countJobs()).toBe(0)
})

test('the worker runs every due job once, up to its concurrency', async () => {
  await addJobs('a', 60)
  const done = signal()
  let [running, most] = [0, 0]
  const seen: string[] = []
  startWorker([
    {
      concurrency: 5,
      run: async (job, finish) => {
        most = Math.max(most, ++running)
        await database.transact((tx) => finish(tx, { done: true }))
        running--
        seen.push(job.id)
        if (seen.length === 60) done.give()
      },
    },
  ])
  await done.when
  expect(new Set(seen).size).toBe(60)
  expect(most).toBeLessThanOrEqual(5)
  expect(most).toBeGreaterThan(1)
  expect(await countJobs()).toBe(0)
})

test('a wake is served at once, also when it arrives during a claim', async () => {
  const queue = createQueue(database)
  const ran = signal()
  let claims = 0
  const worker = createWorker({
    log,
    queue: {
      ...queue,
      async claim(wants) {
        const jobs = await queue.claim(wants)
        // The first claim has found nothing. The job and its wake come before that answer does.
        if (++claims === 1) {
          await addJobs('a', 1)
          worker.wake()
        }
        return jobs
      },
      nextDueInMs: async () => null,
    },
    handlers: [
      {
        kind: 'a',
        leaseMs: 60_000,
        concurrency: 1,
        run: async (_job, finish) => {
          await database.transact((tx) => finish(tx, { done: true }))
          ran.give()
        },
      },
    ],
  })
  cleanups.push(() => worker.stop(5_000))
  // The next poll never happens, so only the wake can find the job.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  worker.start()
  await ran.when.finally(() => vi.useRealTimers())
  expect(worker.isClaiming()).toBe(true)
})

test('a job requested again runs again when it is due, and a failed one after a pause', async () => {
  await addJobs('again', 1)
  await addJobs('fails', 1)
  const [again, failed] = [signal<number[]>(), signal<number[]>()]
  const [againMs, failedMs]: [number[], number[]] = [[], []]
  const failures: string[] = []
  const handlers: Partial<JobHandler>[] = [
    {
      kind: 'again',
      run: async (job, finish) => {
        againMs.push(performance.now())
        await database.transact((tx) => finish(tx, job.attempts < 6 ? { done: false, retryInMs: 100 } : { done: true }))
        if (job.attempts === 6) again.give(againMs)
      },
    },
    {
      kind: 'fails',
      run: async (job, finish) => {
        failedMs.push(performance.now())
        if (job.attempts === 1) throw new Error('a bug')
        await database.transact((tx) => finish(tx, { done: true }))
        failed.give(failedMs)
      },
    },
  ]
  startWorker(handlers, undefined, ({ kind }, reason) => failures.push(`${kind} ${reason}`))
  const times = await again.when
  for (const [i, ms] of times.slice(1).entries()) expect(ms - times[i]!).toBeGreaterThan(95)
  const [broke, mended] = await failed.when
  expect(mended! - broke!).toBeGreaterThan(700)
  expect(failures).toEqual(['fails error'])
})

test('a job requested again before the next poll runs without it', async () => {
  await addJobs('a', 1)
  const done = signal()
  const queue = createQueue(database)
  // No pause of the worker ends by its time, so only the job's own end can wake it.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  startWorker(
    [
      {
        run: async (job, finish) => {
          await database.transact((tx) => finish(tx, job.attempts < 4 ? { done: false, retryInMs: 0 } : { done: true }))
          if (job.attempts === 4) done.give()
        },
      },
    ],
    { ...queue, nextDueInMs: async () => null },
  )
  await done.when.finally(() => vi.useRealTimers())
  expect(await countJobs()).toBe(0)
})

test('a job that failed in a database outage is retried soon, any number of times', async () => {
  await addJobs('away', 1)
  await addJobs('broken', 1)
  await database.query({ text: 'UPDATE jobs SET attempts = 9' })
  startWorker([
    {
      kind: 'away',
      run: async () => {
        throw new DatabaseUnavailable('gone', null)
      },
    },
    {
      kind: 'broken',
      run: async () => {
        throw new Error('broken')
      },
    },
  ])
  const pauses = await waitFor('both to be given back', async () => {
    const { rows } = await database.query<{ kind: string; seconds: number }>({
      text: `SELECT kind, extract(epoch FROM run_at - now())::float8 AS seconds FROM jobs WHERE attempts >= 10 AND lease_token IS NULL`,
    })
    return rows.length === 2 && rows
  })
  const seconds = Object.fromEntries(pauses.map((one) => [one.kind, one.seconds]))
  expect(seconds.away).toBeLessThan(1.3)
  expect(seconds.broken).toBeGreaterThan(200)
})

test('stop waits for running jobs and claims no more', async () => {
  await addJobs('a', 3)
  const [begun, goOn] = [signal(), signal()]
  const worker = startWorker([
    {
      concurrency: 1,
      run: async (_job, finish) => {
        begun.give()
        await goOn.when
        await database.transact((tx) => finish(tx, { done: true }))
      },
    },
  ])
  await begun.when
  const stopped = worker.stop(10_000)
  goOn.give()
  await stopped
  expect(await countJobs()).toBe(2)
  expect(worker.isClaiming()).toBe(false)
})

test('a process starts its own jobs without a claim while it has room, and claims the rest in order', async () => {
  const queue = createQueue(database)
  const claimed: string[] = []
  let isOpen = false
  const [goOn, allDone] = [signal(), signal()]
  const ran: string[] = []
  const worker = startWorker(
    [
      {
        concurrency: 2,
        startsWhereMade: true,
        run: async (job, finish) => {
          await goOn.when
          expect(job.attempts).toBe(1)
          await database.transact((tx) => finish(tx, { done: true }))
          if (ran.push(job.subject) === 8) allDone.give()
        },
      },
    ],
    {
      ...queue,
      async claim(wants) {
        // The worker's first claim may be late, and would find jobs that are created meanwhile.
        if (!isOpen) return []
        const jobs = await queue.claim(wants)
        claimed.push(...jobs.map((job) => job.subject))
        return jobs
      },
    },
  )
  const enqueue = createEnqueue(() => worker)
  const jobs = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ kind: 'a', organizationId: 'org', subject: `${from + index}` }))
  await database.transact((tx) => enqueue(tx, jobs(1, 3)))
  await database.transact((tx) => enqueue(tx, jobs(4, 3)))
  // Two run and two wait for them. The fifth and sixth are claimable, and later ones queue behind them.
  await database.transact((tx) => enqueue(tx, jobs(7, 2)))
  const { rows } = await database.query({ text: 'SELECT subject FROM jobs WHERE lease_token IS NULL ORDER BY subject' })
  expect(rows.map((row) => row.subject)).toEqual(['5', '6', '7', '8'])
  isOpen = true
  goOn.give()
  await allDone.when
  expect(ran.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
  expect(claimed.toSorted()).toEqual(['5', '6', '7', '8'])
  await waitFor('the jobs to end', async () => (await countJobs()) === 0)
})

test('a job whose transaction fails does not start, and a later or cancellable one waits for a claim', async () => {
  const ran: string[] = []
  const done = signal()
  const worker = startWorker([
    {
      startsWhereMade: true,
      run: async (job, finish) => {
        ran.push(job.subject)
        await database.transact((tx) => finish(tx, { done: true }))
        done.give()
      },
    },
  ])
  const enqueue = createEnqueue(() => worker)
  const failing = database.transact(async (tx) => {
    await enqueue(tx, [{ kind: 'a', organizationId: 'org', subject: 'undone' }])
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await database.transact((tx) => enqueue(tx, [{ kind: 'a', organizationId: 'org', subject: 'later', delayMs: 60_000 }]))
  await database.transact((tx) => enqueue(tx, [{ kind: 'a', organizationId: 'org', subject: 'now' }]))
  await done.when
  expect(ran).toEqual(['now'])
  await waitFor('the job to end', async () => (await countJobs()) === 1)
  const { rows } = await database.query({ text: 'SELECT subject, attempts, lease_token FROM jobs' })
  expect(rows).toEqual([{ subject: 'later', attempts: 0, lease_token: null }])
})

test('jobs that a worker holds but has not begun when it stops are due for another at once', async () => {
  const [begun, goOn] = [signal(), signal()]
  const worker = startWorker([
    {
      concurrency: 1,
      startsWhereMade: true,
      run: async (_job, finish) => {
        begun.give()
        await goOn.when
        await database.transact((tx) => finish(tx, { done: true }))
      },
    },
  ])
  const enqueue = createEnqueue(() => worker)
  const job = (subject: string) => ({ kind: 'a', organizationId: 'org', subject })
  await database.transact((tx) => enqueue(tx, [job('runs'), job('waits')]))
  await begun.when
  const stopped = Promise.withResolvers<void>()
  await database.transact(async (tx) => {
    await enqueue(tx, [job('comes late')])
    worker.stop(10_000).then(stopped.resolve)
  })
  goOn.give()
  await stopped.promise
  const queue = createQueue(database)
  const claimed: string[] = []
  await waitFor('both to be given back', async () => {
    claimed.push(...(await queue.claim([want('a', 9)])).map(({ subject }) => subject))
    return claimed.length === 2
  })
  expect(claimed.toSorted()).toEqual(['comes late', 'waits'])
})

describe('two workers over one running job', () => {
  /** On a machine with much other work, a renewal is late by more than a second. */
  const leaseMs = 4500

  /** Two workers, of which the first to claim the job keeps it until `goOn`. The other runs it at once. */
  function startTwo(runMsMax: number) {
    const [begun, goOn, other] = [signal(), signal(), signal()]
    const runs: number[] = []
    const ends: (Error | null)[] = []
    const run: JobHandler['run'] = async (job, finish) => {
      runs.push(job.attempts)
      if (runs.length === 1) {
        begun.give()
        await goOn.when
      } else other.give()
      await database
        .transact((tx) => finish(tx, { done: true }))
        .then(
          () => ends.push(null),
          (error: Error) => {
            ends.push(error)
            throw error
          },
        )
    }
    for (let count = 0; count < 2; count++) startWorker([{ leaseMs, runMsMax, run }])
    return { begun, goOn, other, runs, ends }
  }

  test('the lease is renewed while the job runs, so the other worker does not get it', async () => {
    await addJobs('a', 1)
    const { begun, goOn, other, runs, ends } = startTwo(60_000)
    await begun.when
    // Either the end of the lease moves many times, each time before it has come, or the other worker takes the job.
    const leaseEnds = new Set<number>()
    await waitFor('three renewals, or a second run', async () => {
      const { rows } = await database.query<{ run_at: Date }>({ text: 'SELECT run_at FROM jobs' })
      for (const { run_at } of rows) leaseEnds.add(run_at.getTime())
      return leaseEnds.size > 3 || runs.length > 1
    })
    expect(runs).toEqual([1])
    goOn.give()
    await waitFor('the job to end', async () => (await countJobs()) === 0)
    expect(ends).toEqual([null])
    other.give()
  })

  test('renewals end after the longest run, the other worker takes the job, and the first one cannot end it', async () => {
    await addJobs('a', 1)
    const { begun, goOn, other, runs, ends } = startTwo(1.5 * leaseMs)
    await begun.when
    await other.when
    await waitFor('the second run to end', () => ends.length === 1)
    expect(runs).toEqual([1, 2])
    goOn.give()
    await waitFor('the first run to end', () => ends.length === 2)
    expect(ends).toEqual([null, expect.any(LeaseLost)])
  })

  test('a job that ran longer than it may keeps its second run and its effect', async () => {
    await addJobs('a', 1)
    const queue = createQueue(database)
    const [first] = await queue.claim([want('a', 1, 60_000)])
    await endLeases()
    const [second] = await queue.claim([want('a', 1, 60_000)])
    // The renewal of the first holder does not extend the second one's lease, and does not end it.
    await queue.renew(first!, 3_600_000)
    const { rows } = await database.query<{ seconds: number }>({
      text: 'SELECT extract(epoch FROM run_at - now())::float8 AS seconds FROM jobs',
    })
    expect(rows[0]!.seconds).toBeLessThan(61)
    await queue.renew(second!, 3_600_000)
    expect(await queue.nextDueInMs(['a'])).toBeGreaterThan(3_000_000)
  })
})

describe('an answer of the database that is lost', () => {
  /** The same database, whose next statement of this name is carried out but seems to fail. `seen` gets the names of all statements. */
  function losing(name: string, seen: (string | undefined)[] = []): PostgresDatabase {
    let isLost = false
    return {
      ...database,
      query: async (statement) => {
        seen.push(statement.name)
        const rows = await database.query(statement)
        if (isLost || (statement as { name?: string }).name !== name) return rows as never
        isLost = true
        throw new DatabaseUnavailable('the answer was lost', null)
      },
    }
  }

  test('to a claim: its jobs are due again at once, and those of other claims stay claimed', async () => {
    const seen: (string | undefined)[] = []
    const queue = createQueue(losing('claim-jobs', seen))
    await addJobs('a', 2)
    await addJobs('b', 1)
    const [held] = await createQueue(database).claim([want('b', 1)])
    await expect(queue.claim([want('a', 2)])).rejects.toBeInstanceOf(DatabaseUnavailable)
    const again = await queue.claim([want('a', 9), want('b', 9)])
    expect(again.map(({ kind, attempts }) => [kind, attempts])).toEqual([
      ['a', 2],
      ['a', 2],
    ])
    // Given back once. A later claim does not take the jobs from their holder.
    expect(await queue.claim([want('a', 9)])).toEqual([])
    expect(seen).toEqual(['claim-jobs', 'give-back-jobs', 'claim-jobs', 'claim-jobs'])
    await database.transact((tx) => Promise.all([...again, held!].map((job) => queue.finish(tx, job, { done: true }))))
    expect(await countJobs()).toBe(0)
  })

  test('to the return of a failed job: it is returned before the next claim, unless another worker has it', async () => {
    const failing: PostgresDatabase = {
      ...database,
      query: async (statement) => {
        if ((statement as { name?: string }).name === 'release-job') throw new DatabaseUnavailable('not carried out', null)
        return (await database.query(statement)) as never
      },
    }
    const queue = createQueue(failing)
    await addJobs('a', 2)
    const [first, second] = await queue.claim([want('a', 2)])
    for (const job of [first!, second!]) await expect(queue.release(job, 60_000)).rejects.toBeInstanceOf(DatabaseUnavailable)
    await database.query({ text: `UPDATE jobs SET lease_token = 'another worker' WHERE id = $1`, values: [second!.id] })
    expect((await queue.claim([want('a', 2)])).map(({ id }) => id)).toEqual([first!.id])
  })
})
