// API keys. The plaintext is returned on creation only, and revocation takes effect immediately.
import Type from 'typebox'
import { operation } from './operation.ts'
import { Cursor, HandleReference, id, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from './schema.ts'
import { type AgentScope, agentScopes } from './scopes.ts'

export const KeyType = Type.Unsafe<'organization' | 'agent'>({ type: 'string', enum: ['organization', 'agent'] })

const Scope = Type.Unsafe<AgentScope>({
  type: 'string',
  enum: [...agentScopes],
  description: 'vault:read reads the secrets granted to the agent. quarantine:read reads the quarantined mail of the agent.',
})

/** The app that a person connected over OAuth. Its key has no plaintext. */
export const ConnectedApp = Type.Object(
  {
    client_id: Type.String(),
    host: nullableString({ description: 'The host that publishes the app, or null for an app that registered itself.' }),
    toolsets: Type.Array(Type.String()),
    is_read_only: Type.Boolean(),
    mail_approval: Type.Unsafe<'agent' | 'always' | 'ask'>({
      type: 'string',
      enum: ['agent', 'always', 'ask'],
      description: 'agent: as each agent is set. always: mail of the app waits for a person. ask: the app asks the person.',
    }),
  },
  { $id: 'ConnectedApp' },
)

const keyFields = {
  id: Type.String(),
  name: Type.String(),
  type: KeyType,
  scopes: Type.Array(Type.String()),
  agent_handle: nullableString(),
  last4: Type.String(),
  connected_app: Type.Union([ConnectedApp, Type.Null()]),
  expires_at: nullableTimestamp,
  last_used_at: nullableTimestamp,
  revoked_at: nullableTimestamp,
  created_at: Timestamp,
}

export const Key = Type.Object(keyFields, { $id: 'Key' })

export const CreatedKey = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The plaintext of the key. It is not shown again.' }) },
  { $id: 'CreatedKey' },
)

export const createKey = operation({
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Creates an API key. Store its plaintext, because only this response contains it.',
  tag: 'Keys',
  body: strict({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    type: KeyType,
    agent_handle: Type.Optional(HandleReference),
    scopes: Type.Optional(Type.Array(Scope, { maxItems: 10, uniqueItems: true })),
    expires_at: Type.Optional(nullableTimestamp),
  }),
  status: 201,
  reply: CreatedKey,
  errors: ['not_found'],
  idempotent: true,
  hasSecretReply: true,
})

export const listKeys = operation({
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/keys',
  summary: 'Lists keys, newest first, revoked ones included.',
  tag: 'Keys',
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Key),
})

export const revokeKey = operation({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/api/v1/keys/{id}',
  summary: 'Revokes a key. The next request with it is rejected. Idempotent.',
  tag: 'Keys',
  params: strict({ id: id('key') }),
  status: 200,
  reply: Type.Object({ id: Type.String(), deleted: Type.Literal(true), revoked_at: Timestamp }, { $id: 'RevokedKey' }),
})
