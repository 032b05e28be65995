// The scopes of API keys, without schemas, so that clients can import them. Each operation names the scopes that admit a caller.

/** Every scope with its meaning, in the order of documents and lists. */
export const scopeMeanings = {
  'mail:read': 'Reads messages, threads and attachments, searches, and waits for mail.',
  'mail:write': 'Changes flags and labels of messages, and deletes messages.',
  'mail:send': 'Sends, replies to and forwards mail, and sends or schedules drafts.',
  'drafts:read': 'Reads drafts and their versions.',
  'drafts:write': 'Creates, changes and deletes drafts.',
  'drafts:approve': 'Sends, schedules, rejects and deletes drafts of agents whose mail needs approval.',
  'templates:read': 'Reads and renders templates.',
  'templates:write': 'Creates, changes, publishes and deletes templates.',
  'quarantine:read': 'Reads quarantined mail, and events about it.',
  'quarantine:release': 'Releases mail from quarantine.',
  'rules:read': 'Reads mail rules and suppressions.',
  'rules:write': 'Changes mail rules and suppressions.',
  'identities:read': 'Reads identities and mailboxes.',
  'identities:write': 'Creates, changes and deletes identities.',
  'domains:read': 'Reads domains and their DNS records.',
  'domains:write': 'Adds, verifies and deletes domains.',
  'phone:read': 'Reads phone numbers and texts.',
  'phone:write': 'Buys and releases phone numbers, and changes texts.',
  'imessage:read': 'Reads iMessage conversations.',
  'imessage:send': 'Sends iMessages, and disconnects conversations.',
  'tunnels:read': 'Reads tunnels and the requests that they recorded.',
  'tunnels:write': 'Connects tunnel clients, changes tunnels, and replays requests.',
  'vault:read': 'Unlocks the vault and reads secrets. An agent key reads the secrets that are granted to its agents.',
  'vault:write': 'Changes secrets and grants.',
  'vault:manage': 'Creates the vault, and replaces and rotates its keys.',
  'events:read': 'Reads the event log and the event stream, for the types whose scope the key has.',
  'webhooks:read': 'Reads webhooks and their deliveries.',
  'webhooks:write': 'Changes webhooks for the event types whose scope the key has, and replays their deliveries.',
  'keys:read': 'Lists API keys.',
  'keys:write': 'Creates and revokes API keys. A new key has at most the access of the key that makes it.',
  'organization:read': 'Reads the settings and the sending state of the organization.',
  'organization:write': 'Pauses and resumes sending, and changes settings of the organization.',
  'audit:read': 'Reads the audit log.',
  'usage:read': 'Reads the counts of mail per day.',
  'requests:read': 'Reads the log of API requests.',
  'simulator:read': 'Reads the outbox of the simulator.',
  'simulator:write': 'Simulates incoming messages, numbers and faults.',
} as const

export type Scope = keyof typeof scopeMeanings

export const scopes = Object.keys(scopeMeanings) as Scope[]

/** Scopes of operations on the whole organization, which an agent key cannot have. */
export const organizationScopes: readonly Scope[] = [
  'templates:write',
  'rules:write',
  'identities:write',
  'domains:read',
  'domains:write',
  'vault:write',
  'vault:manage',
  'webhooks:read',
  'webhooks:write',
  'keys:read',
  'keys:write',
  'organization:read',
  'organization:write',
  'audit:read',
  'usage:read',
  'requests:read',
  'simulator:read',
  'simulator:write',
]

/** Scopes that an agent key has only when they are listed on it. */
const listedOnly: readonly Scope[] = ['drafts:approve', 'quarantine:read', 'quarantine:release', 'vault:read']

/** The scopes that an agent key may have. */
export const agentScopes: readonly Scope[] = scopes.filter((scope) => !organizationScopes.includes(scope))

/** The scopes of an agent key that lists none. */
export const defaultAgentScopes: readonly Scope[] = agentScopes.filter((scope) => !listedOnly.includes(scope))

/**
 * A request for an agent key that lists these scopes alone, without a preset, asks for the preset `agent` with them. They are older than the
 * other scopes. Stored lists are whole.
 */
export const addedScopes: readonly Scope[] = ['vault:read', 'quarantine:read']

/** The scopes of a key with this stored list. An empty list is the default of the type. */
export function effectiveScopes(type: 'organization' | 'agent', listed: readonly string[]): readonly Scope[] {
  if (listed.length > 0) return scopes.filter((scope) => listed.includes(scope))
  return type === 'organization' ? scopes : defaultAgentScopes
}

const isRead = (scope: Scope): boolean => scope.endsWith(':read')

/** Named lists of scopes. `none` says that the listed scopes are all. `read_only` has neither the vault nor keys. For an agent key, those that an agent key cannot have are left out. */
export const scopePresets = {
  none: [],
  agent: defaultAgentScopes,
  read_only: scopes.filter((scope) => isRead(scope) && scope !== 'vault:read' && scope !== 'keys:read'),
} as const satisfies Record<string, readonly Scope[]>

export type ScopePreset = keyof typeof scopePresets
