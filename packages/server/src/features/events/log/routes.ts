// The endpoints of events. An agent key sees the events of its own agent.
import * as contract from '@callsign/contract/events'
import { type Route, route } from '../../../core/route.ts'
import type { Events } from './operations.ts'

export const eventRoutes = (events: Events): Route[] => [
  route(contract.listEvents, 'agent', (call, { query }) => events.listEvents(call.caller, query)),
  route(contract.createSocketToken, 'agent', (call) => events.createSocketToken(call.caller)),
  route(contract.streamEvents, 'agent', (call, { query }) => events.streamEvents(call, query)),
]
