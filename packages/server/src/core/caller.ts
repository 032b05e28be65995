// The authenticated caller, as passed to every operation.
import type { AgentScope } from '@callsign/contract/scopes'
import { forbidden } from './errors.ts'

/** The agent that an agent-scoped key is limited to. */
export type CallerAgent = { identityId: string; handle: string; mailboxId: string; address: string }

/** A person or key signed in to the console. `memberId` is null for a key. */
export type CallerSession = { id: string; memberId: string | null }

export type Caller = {
  /** The API key, or the console session of a member. */
  keyId: string
  keyName: string
  keyType: 'organization' | 'agent'
  scopes: string[]
  organizationId: string
  organizationName: string
  userId: string
  role: 'owner' | 'operator' | 'reviewer' | 'agent'
  /** Set for agent-scoped keys, null for organization keys. */
  agent: CallerAgent | null
  /** Set when the request carries a token of the console. */
  session: CallerSession | null
  /**
   * Approval of mail that the caller sends for an agent: as the agent is set, always, or given by a person in a connected app.
   */
  mailApproval: 'agent' | 'always' | 'given'
}

/** The id under which access is revoked, for work that outlives its request: the session of a console token, else the key. */
export const accessIdOf = (caller: Caller): string => caller.session?.id ?? caller.keyId

/** False for an agent key without this scope. An organization key has all. */
export const hasScope = (caller: Caller, scope: AgentScope): boolean => caller.agent === null || caller.scopes.includes(scope)

/** Throws 403 for an agent key without this scope. */
export function requireScope(caller: Caller, scope: AgentScope): void {
  if (!hasScope(caller, scope)) throw forbidden(`This key has no ${scope} scope.`)
}

/** The API key of a call. Null for a member of the console. */
export const keyIdOf = ({ caller }: { caller: Caller }): string | null => (caller.session ? null : caller.keyId)
