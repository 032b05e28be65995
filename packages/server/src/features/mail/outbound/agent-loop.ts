// Limits the messages between two agents on one thread, because agents that answer each other automatically can loop.

/** At most `messagesMax` messages within `windowMs`. A window of 0 disables the limit. */
export type LoopRule = { messagesMax: number; windowMs: number }

export const loopMessagesMax = 20

/**
 * The time that the next message has to wait, or null when it may go. `before` has the delivery times of the earlier messages of both agents
 * on the thread. Null stands for a message that still waits and goes first. So the first `messagesMax` of a burst go, in any order of checks.
 */
export function findHoldMs(before: readonly (Date | null)[], nowMs: number, rule: LoopRule): number | null {
  if (rule.windowMs === 0) return null
  const startMs = nowMs - rule.windowMs
  const recent = before.flatMap((at) => (at !== null && at.getTime() > startMs ? [at.getTime()] : [])).toSorted((a, b) => a - b)
  const waiting = before.filter((at) => at === null).length
  const excess = recent.length + waiting - rule.messagesMax
  if (excess < 0) return null
  // The excess has to leave the window first. When waiting messages alone exceed the limit, a whole window passes.
  const last = recent[excess]
  return last === undefined ? rule.windowMs : Math.max(1, last - startMs)
}
