// API keys. The plaintext is returned on creation only, and revocation takes effect immediately.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, described, HandleReference, id, Limit, nullableString, nullableTimestamp, page, strict, Timestamp } from '../../schema.ts'
import { type Scope as ScopeName, type ScopePreset, scopeMeanings, scopePresets, scopes } from '../../scopes.ts'

export const KeyType = Type.Unsafe<'organization' | 'agent'>({
  type: 'string',
  enum: ['organization', 'agent'],
  description: 'A key of the whole organization, or of some of its agents.',
})

const Scope = Type.Unsafe<ScopeName>({
  type: 'string',
  enum: [...scopes],
  description: Object.entries(scopeMeanings)
    .map(([scope, meaning]) => `\`${scope}\`: ${meaning}`)
    .join(' '),
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

const Preset = Type.Unsafe<ScopePreset>({
  type: 'string',
  enum: Object.keys(scopePresets),
  description:
    '`none` adds no scope. `read_only` adds every read scope except vault:read and keys:read. `agent` adds the default scopes of an agent key.',
})

/** The most agents of one key. */
export const keyAgentsMax = 100

export const allowedIpsMax = 50

const keyFields = {
  id: Type.String(),
  name: Type.String(),
  type: KeyType,
  scopes: Type.Array(Type.String(), {
    description: 'The whole list, or empty for the default of the type: all, or the preset `agent`.',
  }),
  agent_handle: nullableString({ description: 'The agent of a key with one agent.' }),
  agent_handles: Type.Array(Type.String(), { description: 'The agents of an agent key. Empty for an organization key.' }),
  allowed_ips: Type.Array(Type.String(), { description: 'CIDR ranges from which the key is accepted. Empty for any address.' }),
  last4: Type.String(),
  connected_app: Type.Union([ConnectedApp, Type.Null()]),
  expires_at: nullableTimestamp,
  last_used_at: nullableTimestamp,
  last_used_ip: nullableString({ description: 'The address of the last use. Uses are recorded once per minute.' }),
  last_used_user_agent: nullableString({ description: 'The User-Agent of the last use.' }),
  revoked_at: nullableTimestamp,
  created_at: Timestamp,
}

export const Key = Type.Object(keyFields, { $id: 'Key' })

export const CreatedKey = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The plaintext of the key. It is not shown again.' }) },
  { $id: 'CreatedKey' },
)

const KeyName = Type.String({ minLength: 1, maxLength: 100, description: 'A name for people, such as the program that uses the key.' })

export const createKey = operation({
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Creates an API key. Store its plaintext, because only this response contains it.',
  tag: 'Keys',
  scopes: ['keys:write'],
  body: strict({
    name: KeyName,
    type: KeyType,
    agent_handle: Type.Optional(described(HandleReference, 'The agent of an agent key. Not together with agent_handles.')),
    agent_handles: Type.Optional(
      Type.Array(HandleReference, { minItems: 1, maxItems: keyAgentsMax, uniqueItems: true, description: 'The agents of an agent key.' }),
    ),
    scopes: Type.Optional(
      Type.Array(Scope, {
        maxItems: scopes.length,
        uniqueItems: true,
        description:
          'Together with the scopes of the preset. For an agent key without a preset, `vault:read` and `quarantine:read` alone add to the preset `agent`.',
      }),
    ),
    preset: Type.Optional(Preset),
    allowed_ips: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
        maxItems: allowedIpsMax,
        description: 'IPv4 and IPv6 addresses or CIDR ranges. Other addresses are answered with 403.',
      }),
    ),
    expires_at: Type.Optional(
      nullableString({ format: 'date-time', description: 'The time from which the key is refused. Without it, the key does not expire.' }),
    ),
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
  scopes: ['keys:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(Key),
})

export const updateKey = operation({
  id: 'updateKey',
  method: 'PATCH',
  path: '/api/v1/keys/{id}',
  summary: 'Renames a key. Its access cannot change: create another key instead.',
  tag: 'Keys',
  scopes: ['keys:write'],
  params: strict({ id: id('key') }),
  body: strict({ name: KeyName }),
  status: 200,
  reply: Key,
})

export const revokeKey = operation({
  id: 'revokeKey',
  method: 'DELETE',
  path: '/api/v1/keys/{id}',
  summary: 'Revokes a key. The next request with it is rejected. Idempotent.',
  tag: 'Keys',
  scopes: ['keys:write'],
  params: strict({ id: id('key') }),
  status: 200,
  reply: Type.Object({ id: Type.String(), deleted: Type.Literal(true), revoked_at: Timestamp }, { $id: 'RevokedKey' }),
})
