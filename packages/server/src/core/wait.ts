// Types shared by operations that wait for events and the code that resolves them.
import type { Code, codeKinds } from '@callsign/contract/codes'
import type { EventType } from '@callsign/contract/event-types'
import type { Caller } from './caller.ts'

/** Parameters of every wait request (contract `waits`). */
export type WaitQuery = { timeout?: number; after?: string; cursor?: string }

export type WaitRequest<T> = {
  caller: Caller
  /** The owner of the events, to which the caller's access was checked. */
  owner: { organizationId: string; identityId: string }
  types: EventType[]
  query: WaitQuery
  /** Returns the first wanted subject later than `after`, with the answer for it, or null. `subjectIds` are ordered oldest first. */
  pick: (subjectIds: string[], after: Date | null) => Promise<{ id: string; value: T } | null>
  /** Ends the wait because the client disconnected or the server stops. */
  signal: AbortSignal
}

/**
 * Resolves with the first wanted value, or with null at the timeout or when `signal` fires. `cursor` starts the next wait after everything
 * examined.
 * Rejects with 401 when the caller's key is revoked meanwhile. Waiting does not run a query per waiter.
 */
export type Wait = <T>(request: WaitRequest<T>) => Promise<{ found: T | null; cursor: string }>

/** True when the message has codes of the wanted kind. */
export const hasWantedCode = (
  codes: readonly Code[],
  wants: { has_code?: boolean | undefined; code_kind?: (typeof codeKinds)[number] | undefined },
): boolean =>
  wants.code_kind !== undefined
    ? codes.some((code) => code.kind === wants.code_kind)
    : wants.has_code === undefined || codes.length > 0 === wants.has_code
