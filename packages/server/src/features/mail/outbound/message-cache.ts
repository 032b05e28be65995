// Keeps messages that were just queued for their first delivery attempt in this process, which saves reading them from the database.
import { nowMs } from '../../../core/clock.ts'
import type { MessageRow } from '../stored/model.ts'
import { bodyBytes } from './model.ts'

/** A cache of committed rows. It stays empty in a process without a worker, and after a restart. */
export interface MessageCache {
  /** Keeps a committed message, unless it is larger than 256 KiB or the cache holds 16 MiB. */
  keep(row: MessageRow): void
  /** Removes and returns the message. Null when it is not cached. */
  take(id: string): MessageRow | null
}

const bytesMax = 16 * 1024 * 1024
const messageBytesMax = 256 * 1024
/** A message that is not taken by then was probably delivered by another node. */
const keptMs = 60_000

export function createMessageCache(): MessageCache {
  const messages = new Map<string, { row: MessageRow; bytes: number; untilMs: number }>()
  let bytes = 0

  const drop = (id: string): MessageRow | null => {
    const message = messages.get(id)
    if (!message) return null
    messages.delete(id)
    bytes -= message.bytes
    return message.row
  }

  return {
    keep(row) {
      // The database changes the order of headers, but every attempt has to send the same bytes.
      if (Object.keys(row.headers).length > 1) return
      const size = bodyBytes(row) + 1024
      if (size > messageBytesMax) return
      for (const [id, { untilMs }] of messages) {
        if (untilMs > nowMs()) break
        drop(id)
      }
      // A full cache rejects new messages, because the oldest are delivered first.
      if (bytes + size > bytesMax) return
      messages.set(row.id, { row, bytes: size, untilMs: nowMs() + keptMs })
      bytes += size
    },
    take: drop,
  }
}
