// The endpoints of accounts.
import * as contract from '@callsign/contract/accounts'
import { type Route, route } from '../../../core/route.ts'
import type { Accounts } from './operations.ts'

export const accountRoutes = (accounts: Accounts): Route[] => [
  route(contract.getCaller, 'agent', async (call) => accounts.describeCaller(call.caller)),
  route(contract.listAudit, 'organization', (call, { query }) => accounts.listAudit(call.caller, query)),
]
