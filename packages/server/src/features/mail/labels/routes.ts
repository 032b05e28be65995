// The endpoints of labels.
import * as contract from '@callsign/contract/labels'
import { type Route, route } from '../../../core/route.ts'
import type { Labels } from './operations.ts'

export const labelRoutes = (labels: Labels): Route[] => [
  route(contract.createLabel, 'agent', (call, { params, body }) => labels.createLabel(call, params.email_address, body)),
  route(contract.listLabels, 'agent', (call, { params, query }) => labels.listLabels(call.caller, params.email_address, query)),
  route(contract.updateLabel, 'agent', (call, { params, body }) => labels.updateLabel(call, params.email_address, params.label_id, body)),
  route(contract.deleteLabel, 'agent', (call, { params }) => labels.deleteLabel(call, params.email_address, params.label_id)),
]
