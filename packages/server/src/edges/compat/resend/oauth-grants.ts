// OAuth grants, each of which is the key of a connected app.
import { type Key, listKeys, revokeKey } from '@callsign/contract/keys'
import type { Static } from 'typebox'
import { listFiltered } from './pages.ts'
import { ResendFailure, type ResendRoute } from './route.ts'

type OwnKey = Static<typeof Key>

const isGrant = (key: OwnKey): boolean => key.connected_app !== null

/** Our API does not record the reason of a revocation. */
const toGrant = ({ id, name, scopes, created_at, revoked_at, connected_app }: OwnKey) => ({
  id,
  client_id: connected_app?.client_id ?? '',
  scopes,
  created_at,
  revoked_at,
  revoked_reason: null,
  client: { name, logo_uri: null },
})

export const grantRoutes: ResendRoute[] = [
  {
    method: 'GET',
    path: '/oauth/grants',
    run: (request) => listFiltered(request, (query) => request.call(listKeys, { query }), isGrant, toGrant),
  },
  {
    method: 'DELETE',
    path: '/oauth/grants/:id',
    async run(request) {
      const id = request.params.id as string
      const grants = { ...request, query: { limit: '100' } }
      const isThere = (key: OwnKey): boolean => isGrant(key) && key.id === id
      const { data } = await listFiltered(grants, (query) => request.call(listKeys, { query }), isThere, toGrant)
      if (data.length === 0) throw new ResendFailure(404, 'not_found', 'OAuth grant not found')
      const { revoked_at } = await request.call(revokeKey, { params: { id } })
      return { object: 'oauth_grant', id, revoked_at, revoked_reason: 'user' }
    },
  },
]
