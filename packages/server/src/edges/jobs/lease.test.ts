// Tests of leases: what is known to be held, and renewals that fail in an outage.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ClaimedJob, JobHandler, JobQueue } from '../../core/job.ts'
import { keepLease } from './lease.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const leaseMs = 30_000

/** A lease whose renewals are answered by `renew`. */
function start(renew: () => Promise<boolean>, runMsMax = 900_000) {
  const queue = { renew: vi.fn(renew) }
  const job = { id: 'job_1', claimedMs: Date.now() } as ClaimedJob
  const handler = { leaseMs, runMsMax } as JobHandler
  return { queue, lease: keepLease(queue as unknown as JobQueue, job, handler) }
}

test('a lease is renewed three times per duration, and is held all the time', async () => {
  const { queue, lease } = start(async () => true)
  for (let seconds = 0; seconds < 120; seconds++) {
    expect(lease.isHeld()).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(queue.renew).toHaveBeenCalledTimes(12)
  lease.end()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(queue.renew).toHaveBeenCalledTimes(12)
})

test('without the database it is not held from a sixth before its end, and is renewed soon after the outage', async () => {
  let isAway = true
  const { lease } = start(async () => {
    if (isAway) throw new Error('away')
    return true
  })
  await vi.advanceTimersByTimeAsync(24_900)
  expect(lease.isHeld()).toBe(true)
  await vi.advanceTimersByTimeAsync(200)
  expect(lease.isHeld()).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lease.isHeld()).toBe(false)
  isAway = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(lease.isHeld()).toBe(true)
  lease.end()
})

test('a renewal whose answer is late counts from when it was asked for', async () => {
  const { lease } = start(() => new Promise((resolve) => setTimeout(() => resolve(true), 12_000)))
  await vi.advanceTimersByTimeAsync(22_100)
  expect(lease.isHeld()).toBe(true)
  // Asked for after ten seconds.
  await vi.advanceTimersByTimeAsync(9_000)
  expect(lease.isHeld()).toBe(true)
  lease.end()
  await vi.advanceTimersByTimeAsync(4_000)
  expect(lease.isHeld()).toBe(false)
})

test('a lease that another worker has taken is not held, and not renewed again', async () => {
  const { queue, lease } = start(async () => false)
  await vi.advanceTimersByTimeAsync(9_900)
  expect(lease.isHeld()).toBe(true)
  await vi.advanceTimersByTimeAsync(200)
  expect(lease.isHeld()).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([lease.isHeld(), queue.renew.mock.calls.length]).toEqual([false, 1])
})

test('renewals stop when the run has used its time', async () => {
  const { queue, lease } = start(async () => true, 60_000)
  await vi.advanceTimersByTimeAsync(200_000)
  expect([lease.isHeld(), queue.renew.mock.calls.length]).toEqual([false, 3])
})
