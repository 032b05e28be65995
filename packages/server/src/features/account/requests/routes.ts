// The endpoints of the log of API requests.
import * as contract from '@callsign/contract/requests'
import { type Route, route } from '../../../core/route.ts'
import type { Requests } from './operations.ts'

export const requestRoutes = (requests: Requests): Route[] => [
  route(contract.listRequests, 'organization', (call, { query }) => requests.listRequests(call.caller, query)),
  route(contract.getRequest, 'organization', (call, { params }) => requests.getRequest(call.caller, params.id)),
]
