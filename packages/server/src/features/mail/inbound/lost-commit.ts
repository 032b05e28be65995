// Finds out whether a message was stored when the answer to its COMMIT was lost.
import { nowMs } from '../../../core/clock.ts'
import { DatabaseUnavailable } from '../../../core/sql.ts'

/** A failover takes about 20 seconds, and a sender waits ten minutes for the reply (RFC 5321 §4.5.3.2.6). */
const outcomeWaitMs = 30_000

/**
 * The stored message, so that its sender is not asked to repeat it. `find` resolves with its id, or with null. Throws the error when there is none,
 * or when no database answers in time.
 */
export async function findOutcome(error: DatabaseUnavailable, find: () => Promise<string | null>): Promise<{ messageId: string }[]> {
  const deadlineMs = nowMs() + outcomeWaitMs
  for (;;) {
    try {
      const messageId = await find()
      if (messageId === null) throw error
      return [{ messageId }]
    } catch (failure) {
      if (failure === error || !(failure instanceof DatabaseUnavailable) || nowMs() > deadlineMs) throw error
    }
  }
}
