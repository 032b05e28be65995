// Request bodies of events, built once for all webhooks that receive an event within a short time.
import { nowMs } from '../../../core/clock.ts'
import type { EventRow, Payload } from '../log/model.ts'

const bodiesMax = 256
const keptBytesMax = 32 * 1024
const keptMs = 2_000

export function createEventBodies(payloadOf: (event: EventRow) => Promise<Payload>) {
  const bodies = new Map<string, { madeMs: number; body: Promise<Buffer> }>()
  return {
    bodyOf(event: EventRow): Promise<Buffer> {
      const atMs = nowMs()
      const known = bodies.get(event.id)
      if (known && atMs - known.madeMs < keptMs) return known.body
      const body = payloadOf(event).then((payload) => Buffer.from(JSON.stringify(payload)))
      // Large bodies are not kept, which bounds the memory.
      body.then(({ length }) => length > keptBytesMax && bodies.delete(event.id)).catch(() => bodies.delete(event.id))
      bodies.delete(event.id)
      bodies.set(event.id, { madeMs: atMs, body })
      if (bodies.size > bodiesMax) bodies.delete(bodies.keys().next().value as string)
      return body
    },
  }
}
