// The endpoints of stored messages and threads.
import * as contract from '@callsign/contract/messages'
import { type Route, route, routeAhead } from '../../../core/route.ts'
import type { Messages } from './operations.ts'

export const messageRoutes = (messages: Messages): Route[] => [
  route(contract.listMail, 'agent', (call, { query }) => messages.listMail(call.caller, query)),
  route(contract.listMessages, 'agent', (call, { params, query }) => messages.listMessages(call.caller, params.email_address, query)),
  route(contract.waitForMessage, 'agent', (call, { params, query }) => messages.waitForMessage(call.caller, params.email_address, query)),
  routeAhead(
    contract.getMessage,
    'agent',
    (params) => messages.lookAhead(params.message_id),
    (call, { params }, found) => messages.getMessage(call.caller, params.email_address, params.message_id, found),
  ),
  route(contract.updateMessage, 'agent', (call, { params, body }) =>
    messages.updateMessage(call, params.email_address, params.message_id, body),
  ),
  route(contract.deleteMessage, 'agent', (call, { params }) => messages.deleteMessage(call, params.email_address, params.message_id)),
  route(contract.releaseMessage, 'agent', (call, { params }) => messages.releaseMessage(call, params.email_address, params.message_id)),
  route(contract.getRawMessage, 'agent', (call, { params }) =>
    messages.getRawMessage(call.caller, params.email_address, params.message_id),
  ),
  route(contract.listThreads, 'agent', (call, { params, query }) => messages.listThreads(call.caller, params.email_address, query)),
  route(contract.getThread, 'agent', (call, { params }) => messages.getThread(call.caller, params.email_address, params.thread_id)),
  route(contract.searchMessages, 'agent', (call, { params, query }) => messages.search(call.caller, params.email_address, query)),
]
