// The endpoints of templates. An agent can use templates, and only an organization key changes them.
import * as contract from '@callsign/contract/templates'
import { type Route, route } from '../../../core/route.ts'
import type { Templates } from './operations.ts'

export const templateRoutes = (templates: Templates): Route[] => [
  route(contract.createTemplate, 'organization', (call, { body }) => templates.createTemplate(call, body)),
  route(contract.listTemplates, 'agent', (call, { query }) => templates.listTemplates(call.caller, query)),
  route(contract.getTemplate, 'agent', (call, { params }) => templates.getTemplate(call.caller, params.template)),
  route(contract.updateTemplate, 'organization', (call, { params, body }) => templates.updateTemplate(call, params.template, body)),
  route(contract.publishTemplate, 'organization', (call, { params }) => templates.publishTemplate(call, params.template)),
  route(contract.renderTemplate, 'agent', (call, { params, body }) => templates.renderTemplate(call.caller, params.template, body)),
  route(contract.deleteTemplate, 'organization', (call, { params }) => templates.deleteTemplate(call, params.template)),
]
