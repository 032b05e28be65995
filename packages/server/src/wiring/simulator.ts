// Builds the simulator's controls on the channels that it simulates.
import { now } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { renderReceived } from '../edges/smtp/server/intake.ts'
import { createMailReceiver } from '../edges/smtp/server/mail-receiver.ts'
import { simulatedCallback } from '../edges/suppliers/simulator-phone.ts'
import { createMailboxIntake } from '../features/mail/inbound/operations.ts'
import { createReturnIntake } from '../features/mail/returned/operations.ts'
import { createSimulatedMail, type SimulatedDelivery } from '../features/simulator/mail.ts'
import { createSimulator, type SimulatorState } from '../features/simulator/operations.ts'
import { mailSimulatorRoutes, phoneSimulatorRoutes, simulatorRoutes } from '../features/simulator/routes.ts'
import type { AccountArea } from './account.ts'
import type { MailArea } from './mail.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'
import type { PhoneArea } from './phone.ts'

type Needs = Pick<AccountArea, 'identities'> &
  Pick<MailArea, 'inboundMail' | 'returnedMail' | 'messages'> &
  Pick<PhoneArea, 'phones' | 'pollNow' | 'simulatorSignKey' | 'callbackPaths' | 'arrivals'> & { simulatorState: SimulatorState }

export function createSimulatorArea({ config, db }: SharedParts, needs: Needs): Area {
  const { simulatorState, phones, pollNow, simulatorSignKey, callbackPaths, arrivals } = needs
  const simulator = createSimulator({
    db,
    simulatorState,
    phones,
    pollNow,
    toCallback: (body, nowMs) => simulatedCallback(simulatorSignKey, callbackPaths.of('simulator'), body, nowMs),
    deliver: (request) => arrivals.receiveAt(request),
  })
  const mail = createSimulatedMail({ ...needs, deliver: deliverMail(config.mailDomain, needs) })
  const hasPhones = config.phoneProvider === 'simulator'
  return {
    routes: [
      ...(config.mailTransport === 'simulator' ? mailSimulatorRoutes(mail) : []),
      ...(hasPhones ? phoneSimulatorRoutes(simulator) : []),
      ...(hasPhones || config.imessageProvider === 'simulator' ? simulatorRoutes(simulator) : []),
    ],
    scheduledTasks: [{ name: 'sweep simulated texts', everyMs: hourMs, run: () => simulatorState.sweep() }],
  }
}

/** Passes mail on as the SMTP server does for a client on this machine. */
function deliverMail(mailDomain: string, { inboundMail, returnedMail }: Needs): SimulatedDelivery {
  const receiver = createMailReceiver([createReturnIntake(returnedMail), createMailboxIntake(inboundMail)])
  return (from, recipient, raw) => {
    const envelope = {
      id: newId('simulated'),
      from,
      recipients: [recipient],
      clientAddress: '127.0.0.1',
      clientName: 'simulator.localhost',
      esmtp: true,
      tls: null,
      smtputf8: false,
      account: null,
      bodyType: '8bitmime' as const,
      declaredSize: null,
    }
    return receiver.accept(envelope, raw, renderReceived(envelope, mailDomain, now()))
  }
}
