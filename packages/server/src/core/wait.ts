// Waiting for what arrives: the words that whoever waits, and whoever watches for them, have in common.
import type { Code, codeKinds } from '@callsign/contract/codes'
import type { EventType } from '@callsign/contract/events'
import type { Caller } from './caller.ts'

/** What every wait takes of its request (contract `waits`). */
export type WaitQuery = { timeout?: number; after?: string; cursor?: string }

export type WaitRequest<T> = {
  caller: Caller
  /** Whose events; the caller has been found entitled to them. */
  owner: { organizationId: string; identityId: string }
  types: EventType[]
  query: WaitQuery
  /** Of subjects of such events, oldest first, the first that is wanted and later than `after`, with what to answer; null when none is. */
  pick: (subjectIds: string[], after: Date | null) => Promise<{ id: string; value: T } | null>
  /** Ends the wait: the client has gone, or the server is about to. */
  signal: AbortSignal
}

/**
 * Resolves with the first that is wanted, or with null when the time is up or `signal` fires; `cursor` begins the next wait behind all that was
 * looked at. Rejects with 401 when the caller's key is revoked meanwhile. Waiting costs no query of its own, however many wait.
 */
export type Wait = <T>(request: WaitRequest<T>) => Promise<{ found: T | null; cursor: string }>

/** True when codes are as a wait wants them. */
export const hasWantedCode = (
  codes: readonly Code[],
  wants: { has_code?: boolean | undefined; code_kind?: (typeof codeKinds)[number] | undefined },
): boolean =>
  wants.code_kind !== undefined
    ? codes.some((code) => code.kind === wants.code_kind)
    : wants.has_code === undefined || codes.length > 0 === wants.has_code
