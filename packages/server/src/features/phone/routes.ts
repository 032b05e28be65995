// The endpoints of phone numbers and texts. Buying and releasing require an organization key, callbacks a signature.
import * as contract from '@callsign/contract/phones'
import type { RawRequest } from '../../core/route.ts'
import { type Route, route } from '../../core/route.ts'
import type { Arrivals } from './arrivals.ts'
import type { Inbox } from './inbox.ts'
import type { Phones } from './operations.ts'

export const phoneRoutes = (phones: Phones, inbox: Inbox, arrivals: Arrivals): Route[] => [
  route(contract.provisionPhoneNumber, 'organization', (call, { body }) => phones.provisionPhoneNumber(call, body)),
  route(contract.listPhoneNumbers, 'agent', (call, { query }) => phones.listPhoneNumbers(call.caller, query)),
  route(contract.getPhoneNumber, 'agent', (call, { params }) => phones.getPhoneNumber(call.caller, params.id)),
  route(contract.releasePhoneNumber, 'organization', (call, { params }) => phones.releasePhoneNumber(call, params.id)),
  route(contract.listSmsMessages, 'agent', (call, { params, query }) => inbox.listSmsMessages(call.caller, params.id, query)),
  route(contract.waitForSms, 'agent', (call, { params, query }) => inbox.waitForSms(call.caller, params.id, query)),
  route(contract.getSmsMessage, 'agent', (call, { params }) => inbox.getSmsMessage(call.caller, params.id, params.message_id)),
  route(contract.updateSmsMessage, 'agent', (call, { params, body }) => inbox.updateSmsMessage(call, params.id, params.message_id, body)),
  route(contract.sendSmsMessage, 'agent', (call, { params }) => phones.refuseToSend(call.caller, params.id)),
  route(contract.receivePhoneHook, 'agent', (call, { params }) =>
    arrivals.receiveHook(params.provider, params.route_token, call.raw as RawRequest),
  ),
]
