// Request bodies of events, built once for all webhooks that receive an event within a short time.
import type { WebhookFormat } from '@callsign/contract/webhook-inputs'
import { nowMs } from '../../../core/clock.ts'
import type { EventRow, Payload } from '../log/model.ts'
import type { BodyFormats } from './model.ts'

const bodiesMax = 256
const keptBytesMax = 32 * 1024
const keptMs = 2_000

export function createEventBodies(payloadOf: (event: EventRow, hasLinks: boolean) => Promise<Payload>, formats: BodyFormats) {
  const bodies = new Map<string, { madeMs: number; body: Promise<Buffer> }>()
  return {
    /** `hasLinks` is false for the webhooks of one agent, which must not get a link that approves its own drafts. */
    bodyOf(event: EventRow, hasLinks: boolean, format: WebhookFormat): Promise<Buffer> {
      const atMs = nowMs()
      const name = `${event.id} ${hasLinks} ${format}`
      const known = bodies.get(name)
      if (known && atMs - known.madeMs < keptMs) return known.body
      const body = payloadOf(event, hasLinks).then(async (payload) =>
        Buffer.from(JSON.stringify(await formats[format](payload, event.organization_id))),
      )
      // Large bodies are not kept, which bounds the memory.
      body.then(({ length }) => length > keptBytesMax && bodies.delete(name)).catch(() => bodies.delete(name))
      bodies.delete(name)
      bodies.set(name, { madeMs: atMs, body })
      if (bodies.size > bodiesMax) bodies.delete(bodies.keys().next().value as string)
      return body
    },
  }
}
