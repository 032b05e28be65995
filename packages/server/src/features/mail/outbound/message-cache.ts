// Letters that were just queued, for their first attempt in this process: read from the database they would come back as they were written.
import { nowMs } from '../../../core/clock.ts'
import type { MessageRow } from '../messages/model.ts'
import { bodyBytes } from './model.ts'

/** The rows are the truth, whether a letter is found here or not; it is only never found in a process without a worker, or after a restart. */
export type FreshLetters = {
  /** Remembers a letter that has been committed, unless it is large or there are too many. */
  keep(row: MessageRow): void
  /** The letter, once; null when it is not here. */
  take(id: string): MessageRow | null
}

const bytesMax = 16 * 1024 * 1024
const letterBytesMax = 256 * 1024
/** Another node may have taken its job. */
const keptMs = 60_000

export function createFreshLetters(): FreshLetters {
  const letters = new Map<string, { row: MessageRow; bytes: number; untilMs: number }>()
  let bytes = 0

  const drop = (id: string): MessageRow | null => {
    const letter = letters.get(id)
    if (!letter) return null
    letters.delete(id)
    bytes -= letter.bytes
    return letter.row
  }

  return {
    keep(row) {
      // The database gives headers back in an order of its own, and the bytes have to be the same at every attempt.
      if (Object.keys(row.headers).length > 1) return
      const size = bodyBytes(row) + 1024
      if (size > letterBytesMax) return
      for (const [id, { untilMs }] of letters) {
        if (untilMs > nowMs()) break
        drop(id)
      }
      // The oldest are wanted first: a newer one gives way.
      if (bytes + size > bytesMax) return
      letters.set(row.id, { row, bytes: size, untilMs: nowMs() + keptMs })
      bytes += size
    },
    take: drop,
  }
}
