// The endpoints of iMessage. An agent key sees the conversations of its own agent.
import * as contract from '@callsign/contract/imessage'
import { type Route, route } from '../../core/route.ts'
import type { Imessage } from './operations.ts'
import type { Receiving } from './receiving.ts'

export const imessageRoutes = (imessage: Imessage, receiving: Receiving): Route[] => [
  route(contract.getImessageRouter, 'agent', (call, { query }) => imessage.getRouter(call.caller, query)),
  route(contract.sendImessage, 'agent', (call, { body }) => imessage.send(call, body)),
  route(contract.listImessages, 'agent', (call, { query }) => imessage.listMessages(call.caller, query)),
  route(contract.listImessageConversations, 'agent', (call, { query }) => imessage.listConversations(call.caller, query)),
  route(contract.getImessageConversation, 'agent', (call, { params }) => imessage.getConversation(call.caller, params.conversation_id)),
  route(contract.disconnectImessageConversation, 'agent', (call, { params }) => imessage.disconnect(call, params.conversation_id)),
  route(contract.receiveImessageCallback, 'agent', async (call, { params }) => {
    if (!call.raw) throw new Error('the callback has no raw body')
    await receiving.callback(params.provider, params.route_token, call.raw)
    return { received: true as const }
  }),
]

/** Routes that exist only while the simulator is the provider. */
export const simulatedImessageRoutes = (imessage: Imessage): Route[] => [
  route(contract.simulateImessage, 'organization', (call, { body }) => imessage.simulate(call.caller, body)),
]
