// Sums of the counts of mail, by day, agent or domain.
import type { UsageDay } from '@callsign/sdk'

export type UsageCount = keyof UsageDay['messages']

/** Every count in the order of the columns. Those without weight are left out on narrow screens. */
const countWeights: Record<UsageCount, boolean> = {
  received: true,
  quarantined: false,
  queued: false,
  sent: true,
  delivered: true,
  bounced: true,
  failed: false,
  complained: false,
}
export const usageCounts = Object.keys(countWeights) as UsageCount[]
export const isMinorCount = (count: UsageCount): boolean => !countWeights[count]

export type UsageSum = { name: string; messages: Record<UsageCount, number> }

const dayMs = 86_400_000

/** The last days in UTC as YYYY-MM-DD, oldest first, the current one included. */
export const daysOf = (count: number, nowMs: number): string[] =>
  Array.from({ length: count }, (_, index) => new Date(nowMs - (count - 1 - index) * dayMs).toISOString().slice(0, 10))

/**
 * Sent mail includes the delivered, as on the overview. The API counts a message as sent when a relay takes it, and as delivered when the
 * servers of its recipients do. Relays do not report deliveries unless they are asked, and the server does not ask.
 */
const countOf = ({ messages }: UsageDay, count: UsageCount): number =>
  count === 'sent' ? messages.sent + messages.delivered : messages[count]

/** Adds up the days with the same name. Returns the names in alphabetical order. */
export function addUp(usage: UsageDay[], nameOf: (day: UsageDay) => string): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const day of usage) {
    const name = nameOf(day)
    const before = sums.get(name)?.messages
    const messages = Object.fromEntries(usageCounts.map((count) => [count, (before?.[count] ?? 0) + countOf(day, count)]))
    sums.set(name, { name, messages: messages as UsageSum['messages'] })
  }
  return [...sums.values()].toSorted((one, other) => one.name.localeCompare(other.name))
}
