// The scopes of agent keys, without schemas, so that clients can import them.

/** Scopes that an agent key may have besides mail, which it always has for its own agent. */
export const agentScopes = ['vault:read', 'quarantine:read'] as const

export type AgentScope = (typeof agentScopes)[number]
