// The endpoints of reports about domains.
import * as contract from '@callsign/contract/domain-reports'
import { type Route, route } from '../../../core/route.ts'
import type { DomainReports } from './operations.ts'

export const domainReportRoutes = (reports: DomainReports): Route[] => [
  route(contract.listDomainReports, 'organization', (call, { params, query }) =>
    reports.listDomainReports(call.caller, params.domain_id, query),
  ),
]
