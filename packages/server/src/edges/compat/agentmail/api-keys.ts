// API keys. Permissions are our scopes. A set of permissions that no set of scopes grants exactly is refused.
import { createKey, type Key, listKeys, revokeKey, updateKey } from '@callsign/contract/keys'
import type { ReplyOf } from '@callsign/contract/operation'
import { effectiveScopes, type Scope } from '@callsign/contract/scopes'
import type { Static } from 'typebox'
import { handleOf, inboxIdsOf } from './inboxes.ts'
import {
  type AgentMailRequest,
  type AgentMailRoute,
  byId,
  listOf,
  notOffered,
  notThere,
  optionalText,
  pageLimitMax,
  parameter,
  present,
  queryValue,
  readList,
  requiredText,
  wrongValue,
} from './route.ts'

type OwnKey = Static<typeof Key>

/** Pages of keys that one request reads. */
const pagesMax = 20

/** The permissions that a scope grants together. */
const permissionsOf: Partial<Record<Scope, string[]>> = {
  'identities:read': ['inbox_read'],
  'identities:write': ['inbox_create', 'inbox_update', 'inbox_delete'],
  'mail:read': ['message_read'],
  'mail:send': ['message_send'],
  'mail:write': ['message_update', 'message_delete'],
  'quarantine:read': ['label_blocked_read', 'label_unauthenticated_read'],
  'drafts:read': ['draft_read'],
  'drafts:write': ['draft_create', 'draft_update', 'draft_delete'],
  'webhooks:read': ['webhook_read'],
  'webhooks:write': ['webhook_create', 'webhook_update', 'webhook_delete'],
  'domains:read': ['domain_read'],
  'domains:write': ['domain_create', 'domain_update', 'domain_delete'],
  'rules:read': ['list_entry_read'],
  'rules:write': ['list_entry_create', 'list_entry_delete'],
  'usage:read': ['metrics_read'],
  'keys:read': ['api_key_read'],
  'keys:write': ['api_key_create', 'api_key_update', 'api_key_delete'],
}

/** Exactly our scopes for these permissions. Empty without any, which is the default of the key. */
function scopesOf({ body }: AgentMailRequest): { scopes?: Scope[]; preset?: 'none' } {
  const { permissions } = body
  if (permissions === undefined || permissions === null) return {}
  if (typeof permissions !== 'object') throw wrongValue('`permissions` must be an object.')
  const given = permissions as Record<string, unknown>
  if (given.label_spam_read === false || given.label_trash_read === false)
    throw notOffered('A key that reads mail without spam or the trash')
  if (given.draft_send === true && given.message_send !== true) throw notOffered('`draft_send` without `message_send`')
  const scopes = (Object.entries(permissionsOf) as [Scope, string[]][]).flatMap(([scope, names]) => {
    const granted = names.filter((name) => given[name] === true)
    if (granted.length > 0 && granted.length < names.length) throw notOffered(`A key with only some of ${names.join(', ')}`)
    return granted.length > 0 ? [scope] : []
  })
  if (scopes.length === 0) throw wrongValue('`permissions` must grant at least one permission.')
  return { scopes, preset: 'none' }
}

/** The permissions of a key with scopes of its own. A key without has all those of its type. */
function permissionsFrom({ type, scopes }: Pick<OwnKey, 'type' | 'scopes'>): { permissions?: Record<string, true> } {
  if (scopes.length === 0) return {}
  const names = effectiveScopes(type, scopes).flatMap((scope) => permissionsOf[scope] ?? [])
  return { permissions: Object.fromEntries(names.map((name) => [name, true])) }
}

const toKey = (key: OwnKey, inboxIds: Map<string, string>) => ({
  type: 'bearer',
  api_key_id: key.id,
  prefix: `svc_live_…${key.last4}`,
  name: key.name,
  ...present({ inbox_id: key.agent_handle === null ? undefined : inboxIds.get(key.agent_handle) }),
  ...(key.last_used_at !== null && { used_at: key.last_used_at }),
  ...permissionsFrom(key),
  created_at: key.created_at,
  updated_at: key.created_at,
  ...(key.expires_at !== null && { expires_at: key.expires_at }),
})

/** The inbox ids of the agents of keys, by handle. */
async function inboxesOf({ call }: AgentMailRequest, keys: OwnKey[]): Promise<Map<string, string>> {
  const handles = [...new Set(keys.flatMap(({ agent_handle }) => agent_handle ?? []))]
  const ids = await Promise.all(handles.map((handle) => inboxIdsOf(call, [handle])))
  return new Map(handles.map((handle, index) => [handle, [...(ids[index]?.values() ?? [])][0] ?? '']))
}

/** Usable keys of the account, or of the inbox in the path, up to the limit, and the position after them. */
async function readKeys(
  request: AgentMailRequest,
  limit: number,
  start: string | undefined,
  isWanted: (key: OwnKey) => boolean = () => true,
): Promise<{ keys: OwnKey[]; next: string | null }> {
  const handle = request.params.inbox_id === undefined ? null : await handleOf(request)
  const keys: OwnKey[] = []
  let cursor: string | null | undefined = start
  for (let read = 0; read < pagesMax && cursor !== null; read++) {
    const page: ReplyOf<typeof listKeys> = await request.call(listKeys, { query: { limit: pageLimitMax, ...present({ cursor }) } })
    for (const key of page.data) {
      if (key.revoked_at === null && (handle === null || key.agent_handle === handle) && isWanted(key)) keys.push(key)
      if (keys.length === limit) return { keys, next: key.id === page.data.at(-1)?.id ? page.next_cursor : key.id }
    }
    cursor = page.next_cursor
  }
  return { keys, next: cursor ?? null }
}

async function find(request: AgentMailRequest): Promise<OwnKey> {
  const { keys } = await readKeys(request, 1, undefined, ({ id }) => id === parameter(request, 'api_key_id'))
  if (!keys[0]) throw notThere('API key')
  return keys[0]
}

async function create(request: AgentMailRequest) {
  if (request.body.public_key !== undefined) throw notOffered('A public key as a credential')
  const handle = request.params.inbox_id === undefined ? undefined : await handleOf(request)
  const made = await request.call(createKey, {
    body: {
      name: optionalText(request, 'name') || 'API key',
      type: handle === undefined ? 'organization' : 'agent',
      ...present({ agent_handle: handle }),
      ...scopesOf(request),
    },
  })
  const {
    type: _type,
    used_at: _used,
    updated_at: _updated,
    ...shown
  } = { used_at: null, ...toKey(made, await inboxesOf(request, [made])) }
  return { ...shown, api_key: made.key }
}

async function list(request: AgentMailRequest) {
  const isOther = queryValue(request, 'type') === 'public_key'
  const { data, limit, next } = await readList(request, {
    kind: 'key',
    positionOf: byId,
    async read(page) {
      const { keys, next } = isOther ? { keys: [], next: null } : await readKeys(request, page.limit, page.cursor)
      return { data: keys, next_cursor: next }
    },
  })
  const inboxIds = await inboxesOf(request, data)
  return listOf(
    'api_keys',
    data.map((key) => toKey(key, inboxIds)),
    limit,
    next,
  )
}

export const keyRoutes: AgentMailRoute[] = (['', '/inboxes/:inbox_id'] as const).flatMap((scope): AgentMailRoute[] => {
  const isInPod = scope === ''
  const path = `${scope}/api-keys`
  return [
    {
      method: 'GET',
      path,
      isInPod,
      run: list,
    },
    { method: 'POST', path, isInPod, run: create },
    {
      method: 'GET',
      path: `${path}/:api_key_id`,
      isInPod,
      async run(request) {
        const key = await find(request)
        return toKey(key, await inboxesOf(request, [key]))
      },
    },
    {
      method: 'PATCH',
      path: `${path}/:api_key_id`,
      isInPod,
      async run(request) {
        if (request.body.permissions !== undefined) throw notOffered('A change of the `permissions` of an API key')
        const key = await find(request)
        const renamed = await request.call(updateKey, { params: { id: key.id }, body: { name: requiredText(request, 'name') } })
        return toKey(renamed, await inboxesOf(request, [renamed]))
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:api_key_id`,
      isInPod,
      async run(request) {
        const { id } = await find(request)
        await request.call(revokeKey, { params: { id } })
      },
    },
  ]
})
