// Searches of one organization at once. A search of frequent words holds a connection to the database for most of a second.
import { ApiError } from '../../../../core/errors.ts'

/** Fewer than the connections of a process, so that other organizations have some. */
const runningMax = 3
const waitingMax = 50

const organizations = new Map<string, { running: number; waiting: (() => void)[] }>()

/** Runs a search once fewer than three others of the organization run. Rejects with 429 when 50 wait. */
export async function inSearchSlot<T>(organizationId: string, search: () => Promise<T>): Promise<T> {
  const slots = organizations.get(organizationId) ?? { running: 0, waiting: [] }
  organizations.set(organizationId, slots)
  if (slots.waiting.length >= waitingMax)
    throw new ApiError('rate_limited', 'Too many searches of this organization wait. Try again in a few seconds.')
  if (slots.running < runningMax) slots.running++
  else await new Promise<void>((resolve) => slots.waiting.push(resolve))
  try {
    return await search()
  } finally {
    const next = slots.waiting.shift()
    if (next) next()
    else if (--slots.running === 0) organizations.delete(organizationId)
  }
}
