// The endpoint of counted mail.
import { listUsage } from '@callsign/contract/usage'
import { type Route, route } from '../../../core/route.ts'
import type { Usage } from './operations.ts'

export const usageRoutes = (usage: Usage): Route[] => [
  route(listUsage, 'organization', (call, { query }) => usage.listUsage(call.caller, query)),
]
