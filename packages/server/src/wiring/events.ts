// Builds the event log, which later areas emit to and describe their subjects for, and webhooks on it.

import { nowMs } from '../core/clock.ts'
import type { Emit } from '../core/event.ts'
import { TokenBuckets } from '../edges/api/authenticate.ts'
import { threadIdOf, toAgentMailEvent } from '../edges/compat/agentmail/events.ts'
import { toResendEvent } from '../edges/compat/resend/events.ts'
import { createEmit } from '../edges/postgres/event-log.ts'
import { createEvents, type Events } from '../features/events/log/operations.ts'
import { eventRoutes } from '../features/events/log/routes.ts'
import { createDeliverer, type Deliverer } from '../features/events/webhooks/jobs.ts'
import type { BodyFormats } from '../features/events/webhooks/model.ts'
import { createWebhooks } from '../features/events/webhooks/operations.ts'
import { webhookRoutes } from '../features/events/webhooks/routes.ts'
import type { Messages } from '../features/mail/messages/operations.ts'
import type { AccountArea } from './account.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'

export type EventArea = Area & { events: Events; emit: Emit }

const placeEveryMs = 1000

export function createEventArea({ db, keyring, log }: SharedParts, { keys, identities }: AccountArea): EventArea {
  const events = createEvents({ db, keys, identities, socketSecret: keyring.subkey('event-sockets'), log: log.child({ part: 'events' }) })
  return {
    events,
    emit: createEmit(events.committed),
    routes: eventRoutes(events),
    scheduledTasks: [{ name: 'place events', everyMs: placeEveryMs, run: () => events.place() }],
  }
}

export type WebhookArea = Area & { deliverer: Deliverer }

/** Test pings of one webhook: this many at once, then one per second. */
const pingBurst = 60

/** Bodies in the shapes of other services. An event that AgentMail does not have keeps its own shape. */
const createFormats = (messages: Messages): BodyFormats => ({
  callsign: (payload) => payload,
  resend: toResendEvent,
  async agentmail(payload, organizationId) {
    const threadId = threadIdOf(payload)
    const thread = threadId === undefined ? null : await messages.describeThread(organizationId, threadId)
    return toAgentMailEvent(payload, thread) ?? payload
  },
})

export function createWebhookArea(
  shared: SharedParts,
  { accounts, identities }: AccountArea,
  { events }: EventArea,
  messages: Messages,
): WebhookArea {
  const formats = createFormats(messages)
  const { config, db, keyring, web, businessEvents, log } = shared
  const sealKey = keyring.subkey('webhook-secrets')
  const deliverer = createDeliverer({
    db,
    accounts,
    events,
    web,
    formats,
    sealKey,
    retrySeconds: config.webhookRetrySeconds,
    businessEvents,
    log: log.child({ part: 'webhooks' }),
  })
  events.onCommit(deliverer.wake)
  const pings = new TokenBuckets(1, pingBurst)
  const takePing = (webhookId: string) => pings.take(webhookId, nowMs())
  const webhooks = createWebhooks({ db, accounts, identities, events, web, formats, sealKey, takePing, wake: deliverer.wake })
  return {
    deliverer,
    routes: webhookRoutes(webhooks),
    scheduledTasks: [{ name: 'sweep deliveries and events', everyMs: hourMs, run: () => deliverer.sweep() }],
  }
}
