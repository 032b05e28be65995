// The endpoints of the simulator. `wiring/simulator.ts` mounts those of the channels that are simulated.
import * as contract from '@callsign/contract/simulator'
import { type Route, route } from '../../core/route.ts'
import type { SimulatedMail } from './mail.ts'
import type { Simulator } from './operations.ts'

/** Mail from a simulated mail server. */
export const mailSimulatorRoutes = (mail: SimulatedMail): Route[] => [
  route(contract.simulateMail, 'organization', (call, { body }) => mail.simulateMail(call.caller, body)),
]

/** The controls of simulated phone numbers. */
export const phoneSimulatorRoutes = (simulator: Simulator): Route[] => [
  route(contract.simulateSms, 'organization', (call, { body }) => simulator.simulateSms(call.caller, body)),
  route(contract.advanceNumber, 'organization', (call, { params, body }) => simulator.advanceNumber(call.caller, params.id, body)),
]

/** The controls of every channel. */
export const simulatorRoutes = (simulator: Simulator): Route[] => [
  route(contract.setFault, 'organization', (call, { body }) => simulator.setFault(call.caller, body)),
  route(contract.listOutbox, 'organization', (call, { query }) => simulator.listOutbox(call.caller, query)),
]
