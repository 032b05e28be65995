// The authenticated caller, as passed to every operation.

/** The agent that an agent-scoped key is limited to. */
export type CallerAgent = { identityId: string; handle: string; mailboxId: string; address: string }

export type Caller = {
  keyId: string
  keyName: string
  keyType: 'organization' | 'agent'
  scopes: string[]
  organizationId: string
  organizationName: string
  userId: string
  role: 'owner' | 'admin' | 'member' | 'agent'
  /** Set for agent-scoped keys, null for organization keys. */
  agent: CallerAgent | null
}
