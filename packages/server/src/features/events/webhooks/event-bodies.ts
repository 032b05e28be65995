// Events and their request bodies, read and built once for all webhooks that receive an event within a short time.
import type { WebhookFormat } from '@callsign/contract/webhook-inputs'
import { nowMs } from '../../../core/clock.ts'
import { LruCache } from '../../../core/lru-cache.ts'
import type { EventRow, Payload } from '../log/model.ts'
import type { BodyFormats } from './model.ts'

const keptMs = 2_000
const bodiesBytesMax = 8 * 1024 * 1024
const bodyBytesMax = 32 * 1024
/** Events hold facts of a few hundred bytes, so they are counted. */
const eventsMax = 2048

type Kept<T> = { madeMs: number; value: T }

/** The event log. */
type EventSource = {
  find(ids: string[]): Promise<Map<string, EventRow>>
  payloadOf(event: EventRow, hasLinks: boolean): Promise<Payload>
}

export interface EventBodies {
  /** Events by id. Deleted ones are missing. */
  find(ids: string[]): Promise<Map<string, EventRow>>
  /** `hasLinks` adds links that approve drafts, for the webhooks of `getsApprovalLinks`. */
  bodyOf(event: EventRow, hasLinks: boolean, format: WebhookFormat): Promise<Buffer>
}

export function createEventBodies(source: EventSource, formats: BodyFormats): EventBodies {
  const events = new LruCache<Kept<EventRow>>({ sizeMax: eventsMax, valueSizeMax: 1, sizeOf: () => 1 })
  const bodies = new LruCache<Kept<Buffer>>({ sizeMax: bodiesBytesMax, valueSizeMax: bodyBytesMax, sizeOf: ({ value }) => value.length })
  const building = new Map<string, Promise<Buffer>>()

  function recent<T>(cache: LruCache<Kept<T>>, key: string): T | undefined {
    const kept = cache.get(key)
    return kept && nowMs() - kept.madeMs < keptMs ? kept.value : undefined
  }

  async function build(event: EventRow, hasLinks: boolean, format: WebhookFormat, name: string): Promise<Buffer> {
    const madeMs = nowMs()
    const payload = await source.payloadOf(event, hasLinks)
    const value = Buffer.from(JSON.stringify(await formats[format](payload, event.organization_id)))
    bodies.keep(name, { madeMs, value })
    return value
  }

  return {
    async find(ids) {
      const found = new Map<string, EventRow>()
      const missing = new Set<string>()
      for (const id of ids) {
        const event = recent(events, id)
        if (event) found.set(id, event)
        else missing.add(id)
      }
      if (missing.size === 0) return found
      const madeMs = nowMs()
      for (const [id, value] of await source.find([...missing])) {
        found.set(id, value)
        events.keep(id, { madeMs, value })
      }
      return found
    },

    async bodyOf(event, hasLinks, format) {
      const name = `${event.id} ${hasLinks} ${format}`
      const known = recent(bodies, name) ?? building.get(name)
      if (known) return known
      const made = build(event, hasLinks, format, name)
      building.set(name, made)
      try {
        return await made
      } finally {
        building.delete(name)
      }
    },
  }
}
