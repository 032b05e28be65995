// API keys.
import { createKey, listKeys, revokeKey, updateKey } from '@callsign/contract/keys'
import { listFiltered } from './pages.ts'
import { isGiven, notOffered, ResendFailure, type ResendRoute, textField } from './route.ts'

/** A key for sending may also look up mailboxes, since `from` names an address. */
const sendingScopes = ['mail:send', 'drafts:write', 'identities:read'] as const

export const keyRoutes: ResendRoute[] = [
  {
    method: 'POST',
    path: '/api-keys',
    status: 201,
    async run({ body, call }) {
      const { permission = 'full_access', domain_id: domainId } = body as Record<string, unknown>
      if (isGiven(domainId)) throw notOffered('A key for one domain')
      if (permission !== 'full_access' && permission !== 'sending_access')
        throw new ResendFailure(422, 'validation_error', '`permission` must be `full_access` or `sending_access`.')
      const scopes = permission === 'full_access' ? {} : { scopes: [...sendingScopes] }
      const { id, key } = await call(createKey, { body: { name: textField(body, 'name'), type: 'organization', ...scopes } })
      return { id, token: key }
    },
  },
  {
    method: 'GET',
    path: '/api-keys',
    run: (request) =>
      listFiltered(
        request,
        (query) => request.call(listKeys, { query }),
        ({ revoked_at }) => revoked_at === null,
        ({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at }),
      ),
  },
  {
    method: 'PATCH',
    path: '/api-keys/:id',
    async run({ params, body, call }) {
      const { id } = await call(updateKey, { params: { id: params.id as string }, body: { name: textField(body, 'name') } })
      return { object: 'api_key', id }
    },
  },
  {
    method: 'DELETE',
    path: '/api-keys/:id',
    async run({ params, call }) {
      const { id, deleted } = await call(revokeKey, { params: { id: params.id as string } })
      return { object: 'api_key', id, deleted }
    },
  },
]
