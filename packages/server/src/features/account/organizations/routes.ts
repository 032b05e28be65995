// The endpoints of accounts.
import * as contract from '@callsign/contract/accounts'
import * as organization from '@callsign/contract/organization'
import { type Route, route } from '../../../core/route.ts'
import type { Accounts } from './operations.ts'
import type { OrganizationSettings } from './settings.ts'

export const accountRoutes = (accounts: Accounts, settings: OrganizationSettings): Route[] => [
  route(contract.getCaller, 'agent', async (call) => accounts.describeCaller(call.caller)),
  route(organization.getOrganization, 'organization', (call) => settings.getOrganization(call.caller)),
  route(organization.updateOrganization, 'organization', (call, { body }) => settings.updateOrganization(call, body)),
  route(organization.pauseOrganization, 'organization', (call, { body }) => settings.pauseOrganization(call, body)),
  route(organization.resumeOrganization, 'organization', (call) => settings.resumeOrganization(call)),
  route(contract.listAudit, 'organization', (call, { query }) => accounts.listAudit(call.caller, query)),
]
