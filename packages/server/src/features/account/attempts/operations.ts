// Counts attempts to sign in. An attempt is counted before it is checked, so that parallel attempts cannot pass the limit together.
import { inMs, now, nowMs } from '../../../core/clock.ts'
import { ApiError } from '../../../core/errors.ts'
import type { Database } from '../../../core/sql.ts'
import { type Subject, windowMs } from './model.ts'
import * as store from './store.ts'

export interface Attempts {
  /** Counts one attempt. Throws `TooManyAttempts` when a subject has used up its window. */
  take(...subjects: Subject[]): Promise<void>
  /** Takes an attempt back that succeeded. */
  giveBack(...subjects: Subject[]): Promise<void>
  /** Starts the window of a subject afresh, after it succeeded. */
  forget(subject: Subject): Promise<void>
  /** Deletes counts of past windows. */
  sweep(): Promise<void>
}

/** 429 with Retry-After. `isFirst` is true for the first attempt over the limit, which is the one to record. */
export class TooManyAttempts extends ApiError {
  readonly isFirst: boolean
  constructor(waitMs: number, isFirst: boolean) {
    super('rate_limited', 'Too many attempts. Wait for the seconds in Retry-After. To sign in now, use a link or a passkey.', {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    })
    this.isFirst = isFirst
  }
}

export function createAttempts(db: Database): Attempts {
  const hashes = (subjects: Subject[]) => subjects.map(({ hash }) => hash)
  return {
    async take(...subjects) {
      const counted = await store.countAttempts(db, hashes(subjects), now(), inMs(-windowMs))
      for (const { subject, attempts, started_at } of counted) {
        const { max } = subjects.find(({ hash }) => hash.equals(subject)) as Subject
        if (attempts > max) throw new TooManyAttempts(started_at.getTime() + windowMs - nowMs(), attempts === max + 1)
      }
    },
    async giveBack(...subjects) {
      if (subjects.length > 0) await store.uncountAttempts(db, hashes(subjects))
    },
    forget: (subject) => store.deleteAttempts(db, subject.hash),
    sweep: () => store.sweepAttempts(db, inMs(-windowMs)),
  }
}
