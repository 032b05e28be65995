// An event: one row per change that subscribers can see, written in the transaction of the change, so that neither exists alone.
import type { EventType } from '@callsign/contract/events'
import type { Tx } from './sql.ts'

export type NewEvent = {
  type: EventType
  organizationId: string
  identityId: string | null
  /** The id of what changed; bodies are read from it when the event is delivered, so that they are stored once. */
  subjectId: string
  /** Small facts of the change itself that the subject does not keep, such as the recipient that bounced. */
  data?: Record<string, unknown>
}

/** Appends events; they commit or vanish with the change. */
export type Emit = (tx: Tx, events: NewEvent[]) => Promise<void>
