// The caller of the API, and the audit log of an organization.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, Limit, nullableString, page, strict, Timestamp } from '../../schema.ts'

export const CallerInfo = Type.Object(
  {
    user_id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String(),
    role: Type.Unsafe<'owner' | 'admin' | 'member' | 'operator' | 'reviewer' | 'agent'>({
      type: 'string',
      enum: ['owner', 'admin', 'member', 'operator', 'reviewer', 'agent'],
    }),
    key: Type.Object({
      id: Type.String(),
      name: Type.String(),
      type: Type.Unsafe<'organization' | 'agent'>({ type: 'string', enum: ['organization', 'agent'] }),
      scopes: Type.Array(Type.String()),
      agent_handle: nullableString(),
      agent_handles: Type.Array(Type.String()),
    }),
  },
  { $id: 'CallerInfo' },
)

export const getCaller = operation({
  id: 'getCaller',
  method: 'GET',
  path: '/api/v1/me',
  summary: 'Returns the organization, and the agent if any, that the key belongs to.',
  tag: 'Identity and caller',
  scopes: [],
  status: 200,
  reply: CallerInfo,
})

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    action: Type.String({ description: 'The audited action, such as key.created.' }),
    actor_type: Type.Unsafe<'key' | 'host' | 'member' | 'anonymous' | 'link'>({
      type: 'string',
      enum: ['key', 'host', 'member', 'anonymous', 'link'],
      description: 'A member acts in the console. `anonymous` failed to sign in there. A link approves or rejects one draft.',
    }),
    actor_id: nullableString(),
    actor_name: nullableString({
      description: 'The name of the key or the member, as it is now. null if there is none, or it was deleted.',
    }),
    target_id: nullableString(),
    details: Type.Record(Type.String(), Type.Unknown()),
    request_id: nullableString(),
    created_at: Timestamp,
  },
  { $id: 'AuditEntry' },
)

export const listAudit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'Lists the audit log, newest first.',
  tag: 'Identity and caller',
  scopes: ['audit:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(AuditEntry),
})
