// The summaries of the latest messages of listed threads.
import type { MessageItem } from '@callsign/contract/message-views'
import type { Static } from 'typebox'
import type { WriteItems } from './item-json.ts'

type Summary = Static<typeof MessageItem>

/** Adds the summaries of listed messages, from the cache of list items, to the threads that they are the latest of. */
export async function addLatest<T extends { last_message_id: string }>(
  threads: T[],
  writeItems: WriteItems,
  listed: Parameters<WriteItems>[0],
): Promise<(T & { last_message?: Summary })[]> {
  if (listed.length === 0) return threads
  const { parts } = await writeItems(listed, 'summary')
  const items = JSON.parse(`[${Buffer.concat(parts).toString()}]`) as Summary[]
  const latest = new Map(items.map((item) => [item.id, item]))
  return threads.map((thread) => {
    const last = latest.get(thread.last_message_id)
    return last ? { ...thread, last_message: last } : thread
  })
}
