// Builds the event log, which later areas emit to and describe their subjects for.
import type { Emit } from '../core/event.ts'
import { createEmit } from '../edges/postgres/event-log.ts'
import { createEvents, type Events } from '../features/events/log/operations.ts'
import { eventRoutes } from '../features/events/log/routes.ts'
import type { AccountArea } from './account.ts'
import type { Area, SharedParts } from './parts.ts'

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
