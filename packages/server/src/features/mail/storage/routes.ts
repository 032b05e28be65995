// The endpoints of storage and retention.
import * as contract from '@callsign/contract/storage'
import { type Route, route } from '../../../core/route.ts'
import type { Storage } from './operations.ts'
import type { Retention } from './retention.ts'

export const storageRoutes = (storage: Storage, retention: Retention): Route[] => [
  route(contract.listStorage, 'organization', (call, { query }) => storage.listStorage(call.caller, query)),
  route(contract.previewRetention, 'organization', (call, { query }) => retention.previewRetention(call.caller, query)),
]
