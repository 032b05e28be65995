// Limits the messages between two agents on one thread, because agents that answer each other automatically can loop.

/** At most `messagesMax` messages within `windowMs`; a window of 0 lets everything through. */
export type LoopRule = { messagesMax: number; windowMs: number }

export const loopMessagesMax = 20

/**
 * How long the next message has to wait, or null when it may go. `before` is what the two wrote on the thread before it: when each was delivered,
 * null for those that wait themselves and go first. So of many messages at once the first `messagesMax` go, whoever looks at them when.
 */
export function findHoldMs(before: readonly (Date | null)[], nowMs: number, rule: LoopRule): number | null {
  if (rule.windowMs === 0) return null
  const startMs = nowMs - rule.windowMs
  const recent = before.flatMap((at) => (at !== null && at.getTime() > startMs ? [at.getTime()] : [])).toSorted((a, b) => a - b)
  const waiting = before.filter((at) => at === null).length
  const excess = recent.length + waiting - rule.messagesMax
  if (excess < 0) return null
  // So many have to leave the window first; when those that wait are too many by themselves, a whole window passes.
  const last = recent[excess]
  return last === undefined ? rule.windowMs : Math.max(1, last - startMs)
}
