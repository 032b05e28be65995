// An event is one row per change that subscribers can see. It is written in the transaction of the change, so that neither is stored
// without the other.
import type { EventType } from '@callsign/contract/event-types'
import type { Tx } from './sql.ts'

export type NewEvent = {
  type: EventType
  organizationId: string
  identityId: string | null
  /** The id of the changed resource. Bodies are read from it when the event is delivered, so that they are stored once. */
  subjectId: string
  /** Facts of the change that the subject does not store, such as the recipient that bounced. */
  data?: Record<string, unknown>
}

/** Appends events, which commit or roll back with the change. */
export type Emit = (tx: Tx, events: NewEvent[]) => Promise<void>
