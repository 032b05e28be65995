// The roles of members as sets of scopes. A member's console session has the scopes of the role, as a key has those listed on it.
import { type Scope, scopePresets, scopes } from '@callsign/contract/scopes'

export const memberRoles = ['owner', 'operator', 'reviewer'] as const
export type MemberRole = (typeof memberRoles)[number]

const roles: Record<MemberRole, ReadonlySet<Scope>> = {
  owner: new Set(scopes),
  /** Everything except keys, members and the keys of the vault. */
  operator: new Set(scopes.filter((scope) => !['keys:read', 'keys:write', 'vault:manage'].includes(scope))),
  /** Reads everything except keys and the vault. Approves and rejects drafts, and releases quarantined messages. */
  reviewer: new Set([...scopePresets.read_only, 'drafts:approve', 'quarantine:release']),
}

export const roleScopes = (role: MemberRole): ReadonlySet<Scope> => roles[role]
