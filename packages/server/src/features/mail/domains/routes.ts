// The endpoints of custom domains, for organization keys only.
import * as contract from '@callsign/contract/domains'
import { type Route, route } from '../../../core/route.ts'
import type { Domains } from './operations.ts'

export const domainRoutes = (domains: Domains): Route[] => [
  route(contract.listDomains, 'organization', (call) => domains.listDomains(call.caller)),
  route(contract.createDomain, 'organization', (call, { body }) => domains.createDomain(call, body)),
  route(contract.getDomain, 'organization', (call, { params }) => domains.getDomain(call.caller, params.domain_id)),
  route(contract.verifyDomain, 'organization', (call, { params }) => domains.verifyDomain(call, params.domain_id)),
  route(contract.setDefaultDomain, 'organization', (call, { params }) => domains.setDefault(call, params.domain_id)),
  route(contract.deleteDomain, 'organization', (call, { params, query }) =>
    domains.deleteDomain(call, params.domain_id, query.force ?? false),
  ),
  route(contract.getZoneFile, 'organization', (call, { params }) => domains.getZoneFile(call.caller, params.domain_id)),
]
