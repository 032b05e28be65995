// The endpoints of mail rules. An agent key may read its own agent's rules. Only organization keys change them, so that no agent widens its guardrails.
import * as contract from '@callsign/contract/mail-rules'
import { type Route, route } from '../../../core/route.ts'
import type { MailRules } from './operations.ts'

export const mailRuleRoutes = (rules: MailRules): Route[] => [
  route(contract.createMailRule, 'organization', (call, { params, body }) => rules.createMailRule(call, params.handle, body)),
  route(contract.listMailRules, 'agent', (call, { params, query }) => rules.listMailRules(call.caller, params.handle, query)),
  route(contract.getMailRule, 'agent', (call, { params }) => rules.getMailRule(call.caller, params.handle, params.rule_id)),
  route(contract.updateMailRule, 'organization', (call, { params, body }) =>
    rules.updateMailRule(call, params.handle, params.rule_id, body),
  ),
  route(contract.deleteMailRule, 'organization', (call, { params }) => rules.deleteMailRule(call, params.handle, params.rule_id)),
]
