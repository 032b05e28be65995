// The endpoints of the suppression list, for organization keys only, so that no agent removes its own limits.
import * as contract from '@callsign/contract/suppressions'
import { type Route, route } from '../../../core/route.ts'
import type { Suppressions } from './operations.ts'

export const suppressionRoutes = (suppressions: Suppressions): Route[] => [
  route(contract.createSuppression, 'organization', (call, { body }) => suppressions.createSuppression(call, body)),
  route(contract.listSuppressions, 'organization', (call, { query }) => suppressions.listSuppressions(call.caller, query)),
  route(contract.deleteSuppression, 'organization', (call, { params }) => suppressions.deleteSuppression(call, params.email_address)),
]
