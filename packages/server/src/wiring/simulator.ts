// Builds the simulator's controls on the channels that it simulates.
import { simulatedCallback } from '../edges/suppliers/simulator-phone.ts'
import { createSimulator, type SimulatorState } from '../features/simulator/operations.ts'
import { phoneSimulatorRoutes, simulatorRoutes } from '../features/simulator/routes.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'
import type { PhoneArea } from './phone.ts'

export function createSimulatorArea({ config, db }: SharedParts, simulatorState: SimulatorState, phone: PhoneArea): Area {
  const simulator = createSimulator({
    db,
    simulatorState,
    phones: phone.phones,
    pollNow: phone.pollNow,
    toCallback: (body, nowMs) => simulatedCallback(phone.simulatorSignKey, phone.callbackPaths.of('simulator'), body, nowMs),
    deliver: (request) => phone.arrivals.receiveAt(request),
  })
  const hasPhones = config.phoneProvider === 'simulator'
  return {
    routes: [
      ...(hasPhones ? phoneSimulatorRoutes(simulator) : []),
      ...(hasPhones || config.imessageProvider === 'simulator' ? simulatorRoutes(simulator) : []),
    ],
    scheduledTasks: [{ name: 'sweep simulated texts', everyMs: hourMs, run: () => simulatorState.sweep() }],
  }
}
