// The authenticated caller, as passed to every operation, and the checks of its scopes and agents.
import type { Scope } from '@callsign/contract/scopes'
import { type ApiError, forbidden } from './errors.ts'

/** One agent that an agent key is limited to. */
export type CallerAgent = { identityId: string; handle: string; mailboxId: string; address: string }

/** A member or an API key signed in to the console. `memberId` is null for a key. */
export type CallerSession = { id: string; memberId: string | null }

/** The address and the program that a request came from. */
export type RequestClient = { address: string; userAgent: string }

export type Caller = {
  /** The API key, or the console session of a member. */
  keyId: string
  keyName: string
  keyType: 'organization' | 'agent'
  /** The scopes listed on the key. Empty for the default of its type. */
  listedScopes: readonly string[]
  /** The scopes that hold for this request. */
  scopes: ReadonlySet<Scope>
  organizationId: string
  organizationName: string
  userId: string
  role: 'owner' | 'operator' | 'reviewer' | 'agent'
  /** The agents of an agent key, at least one. Null for organization keys, which may act for any. */
  agents: readonly CallerAgent[] | null
  /** Limits of the key that a new key may not exceed. */
  limits: KeyLimits
  /** Set when the request carries a token of the console, of a member or of a key. `personOf` says which. */
  session: CallerSession | null
  /**
   * Approval of mail that the caller sends for an agent: as the agent and the scopes are set, or always.
   */
  mailApproval: 'agent' | 'always'
}

/** `allowedIps` are CIDR ranges, empty for any address. */
export type KeyLimits = { expiresAt: Date | null; allowedIps: readonly string[] }

/**
 * Resolves the secret of a Bearer header to its caller, or to null without a valid key. Returns null at once for a malformed secret. Rejects
 * with 403 for a key that is not allowed from the address.
 */
export type Authenticate = (bearerToken: string, client: RequestClient) => Promise<Caller | null> | null

/** The member that makes a request: a person. Null for an API key, also for one that signed in to the console. */
export const personOf = ({ session }: Caller): string | null => session?.memberId ?? null

/** The id that limits count by: the member or the key, however many sessions it has. */
export const limitIdOf = (caller: Caller): string => personOf(caller) ?? caller.keyId

/** The id under which access is revoked, for work that outlives its request: the session of a console token, else the key. */
export const accessIdOf = (caller: Caller): string => caller.session?.id ?? caller.keyId

/** True if the caller has this scope. */
export const hasScope = (caller: Caller, scope: Scope): boolean => caller.scopes.has(scope)

/** True for a caller that can approve mail. An app whose mail always needs approval cannot, whatever its scopes. */
export const mayApprove = ({ mailApproval, scopes }: Caller): boolean => mailApproval === 'agent' && scopes.has('drafts:approve')

/** The first of these scopes if the caller has none of them, else null. An empty list admits everyone. */
export function missingScope(caller: Caller, anyOf: readonly Scope[]): Scope | null {
  for (const scope of anyOf) if (caller.scopes.has(scope)) return null
  return anyOf[0] ?? null
}

/** The API key of a call, directly or in a session of the console. Null for a person. */
export const keyIdOf = ({ caller }: { caller: Caller }): string | null => (personOf(caller) === null ? caller.keyId : null)

/** Throws 403 with the name of the first scope for a caller that has none of these. */
export function requireScope(caller: Caller, ...anyOf: Scope[]): void {
  const missing = missingScope(caller, anyOf)
  if (missing !== null) throw scopeMissing(caller, missing)
}

export const scopeMissing = (caller: Caller, scope: Scope): ApiError =>
  forbidden(
    personOf(caller) !== null
      ? `The role ${caller.role} does not include the scope ${scope}. Ask an owner.`
      : `This key does not have the scope ${scope}. Use a key with this scope.`,
  )

/** True if the caller may act for this agent of its organization. */
export const mayActFor = (caller: Caller, identityId: string | null): boolean =>
  caller.agents === null || caller.agents.some((agent) => agent.identityId === identityId)

/** The identities that limit a list, or null for an organization key. */
export const identityIdsOf = (caller: Caller): string[] | null => caller.agents?.map((agent) => agent.identityId) ?? null

/** The agent of a key that has one. Null for organization keys and for keys of several agents, which name the agent. */
export const onlyAgentOf = (caller: Caller): CallerAgent | null => (caller.agents?.length === 1 ? (caller.agents[0] ?? null) : null)
