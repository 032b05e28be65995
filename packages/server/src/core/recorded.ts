// Records the result of an effect that has happened outside, such as a sent message, also when the database is unavailable at that moment.
import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from './clock.ts'
import { DatabaseUnavailable } from './sql.ts'

/** Short, so that the result is recorded before another worker finds the lease expired and repeats the effect. */
const pauseMs = 100
/** A failover takes seconds, a restart of the database a minute. After this time the effect is repeated. */
const limitMs = 15 * 60_000

/**
 * Runs `commit` until the database answers it. It must check the lease of its job in the same transaction, because a commit whose answer was
 * lost runs again.
 */
export async function recorded<T>(commit: () => Promise<T>): Promise<T> {
  const untilMs = nowMs() + limitMs
  for (;;) {
    try {
      return await commit()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || nowMs() > untilMs) throw error
      // A process that stops meanwhile does not wait for this.
      await delay(pauseMs, undefined, { ref: false })
    }
  }
}
