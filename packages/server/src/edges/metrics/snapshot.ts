// Figures that cost time to read, such as a round trip to the database. They are read when Prometheus scrapes, and kept for a moment.
import { nowMs } from '../../core/clock.ts'

/** Resolves with the current value, or null when reading failed or took too long. */
export type Snapshot<T> = () => Promise<T | null>

/** A value is read again once it is `keptMs` old. A read that takes longer than `readMsMax` counts as failed. */
export function createSnapshot<T>(read: () => Promise<T>, { keptMs, readMsMax }: { keptMs: number; readMsMax: number }): Snapshot<T> {
  let current: Promise<T | null> = Promise.resolve(null)
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (nowMs() - readAtMs < keptMs) return current
    readAtMs = nowMs()
    current = within(readMsMax, read())
    return current
  }
}

function within<T>(ms: number, reading: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms)
    reading.then(resolve, () => resolve(null)).finally(() => clearTimeout(timer))
  })
}
