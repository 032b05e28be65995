// Claimed deliveries with their endpoints and events, and the end of those that their webhook no longer receives.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { nowMs } from '../../../core/clock.ts'
import { openSecret } from '../../../core/secret-seal.ts'
import type { Database } from '../../../core/sql.ts'
import type { EventRow } from '../log/model.ts'
import type { Claimed, Ended } from './delivery-store.ts'
import type { EventBodies } from './event-bodies.ts'
import { openHeaders } from './fields.ts'
import { wants } from './model.ts'
import * as store from './store.ts'

/** An endpoint with its decrypted secrets. They are decrypted once per claim. */
export type Target = Omit<store.EndpointRow, 'secrets' | 'headers'> & { secrets: KeyObject[]; headers: Record<string, string> }

/** A delivery to post. Its URL, its subscription and its secrets are of one moment. */
export type Claim = { claimed: Claimed; target: Target; event: EventRow }

export interface ClaimReader {
  /** The deliveries to post, and the ends of those that were written or replayed before their webhook changed its events or agents. */
  read(claimed: Claimed[]): Promise<{ claims: Claim[]; unwanted: Ended[] }>
}

export function createClaimReader(db: Database, bodies: EventBodies, sealKey: Buffer): ClaimReader {
  const open = (row: store.EndpointRow): Target => ({
    ...row,
    secrets: row.secrets.map((sealed) => createSecretKey(openSecret(sealKey, row.id, sealed))),
    headers: openHeaders(sealKey, row.id, row.headers),
  })

  return {
    async read(claimed) {
      const [rows, found] = await Promise.all([
        store.findEndpoints(db, [...new Set(claimed.map((one) => one.webhook_id))]),
        bodies.find(claimed.map((one) => one.event_id)),
      ])
      const targets = new Map([...rows].map(([id, row]) => [id, open(row)]))
      const [claims, unwanted]: [Claim[], Ended[]] = [[], []]
      for (const one of claimed) {
        const target = targets.get(one.webhook_id)
        const event = found.get(one.event_id)
        // A deleted webhook or event is swept with its deliveries.
        if (!target || !event) continue
        if (wants(target, event)) claims.push({ claimed: one, target, event })
        else unwanted.push(unwantedEnd(one))
      }
      return { claims, unwanted }
    },
  }
}

const unwantedEnd = (claimed: Claimed): Ended => ({
  claimed,
  status: 'failed',
  retryInMs: null,
  attempt: {
    attempt: claimed.attempt_count + 1,
    started_at: new Date(nowMs()).toISOString(),
    duration_ms: 0,
    status_code: null,
    error_code: 'not_subscribed',
    error: 'The webhook no longer receives this event: its events or agents were changed. Nothing was sent.',
    response_snippet: null,
  },
})
