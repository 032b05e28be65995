// The endpoints of API keys, for organization keys only.
import * as contract from '@callsign/contract/keys'
import { type Route, route } from '../../../core/route.ts'
import type { Keys } from './operations.ts'

export const keyRoutes = (keys: Keys): Route[] => [
  route(contract.createKey, 'organization', (call, { body }) => keys.createKey(call, body)),
  route(contract.listKeys, 'organization', (call, { query }) => keys.listKeys(call.caller, query)),
  route(contract.updateKey, 'organization', (call, { params, body }) => keys.updateKey(call, params.id, body)),
  route(contract.revokeKey, 'organization', (call, { params }) => keys.revokeKey(call, params.id)),
]
