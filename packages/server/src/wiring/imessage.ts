// Builds iMessage on the provider that the settings name.
import type { Config } from '../config/settings.ts'
import type { Emit } from '../core/event.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createBlueBubbles } from '../edges/suppliers/bluebubbles.ts'
import { createLinq } from '../edges/suppliers/linq.ts'
import { createSimulatorImessage } from '../edges/suppliers/simulator-imessage.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import type { OrganizationSettings } from '../features/account/organizations/settings.ts'
import type { Events } from '../features/events/log/operations.ts'
import { createImessageJobs } from '../features/imessage/jobs.ts'
import { chatJob } from '../features/imessage/model.ts'
import { createImessage } from '../features/imessage/operations.ts'
import { createOutbox } from '../features/imessage/outbox.ts'
import type { ImessageProvider } from '../features/imessage/provider.ts'
import { createReceiving } from '../features/imessage/receiving.ts'
import { imessageRoutes, simulatedImessageRoutes } from '../features/imessage/routes.ts'
import { createSimulation, type SimulatedPhones } from '../features/imessage/simulation.ts'
import type { Attachments } from '../features/mail/attachments/operations.ts'
import { type Area, hourMs, type SharedParts } from './parts.ts'

type Needs = SharedParts & {
  identities: Identities
  organizations: OrganizationSettings
  events: Events
  emit: Emit
  attachments: Attachments
  simulatorState: SimulatedPhones
}

/** The simulator's line: a toll-free number reserved for fiction. */
const simulatedLine = '+18005550199'

const pollTickMsMax = 1000

/** The secret part of the callback address. It changes only with the keyring. */
export const imessageRouteToken = (keyring: Keyring): string => keyring.subkey('imessage-callbacks').toString('base64url')

export function createImessageArea(needs: Needs): Area {
  const {
    config,
    db,
    keyring,
    identities,
    events,
    attachments,
    web,
    simulatorState,
    enqueue,
    emit,
    publicUrl,
    businessEvents,
    organizations,
  } = needs
  const log = needs.log.child({ part: 'imessage' })
  organizations.onResume(chatJob)
  const simulation = createSimulation({ db, attachments, simulatorState })
  const simulator =
    config.imessageProvider === 'simulator'
      ? createSimulatorImessage({
          line: config.imessageLine ?? simulatedLine,
          secret: keyring.subkey('imessage-simulator'),
          memory: simulation.memory,
          nextFault: simulation.nextSendFault,
        })
      : null
  const provider: ImessageProvider = simulator ?? createProvider(config, needs.userAgent)
  const routeToken = imessageRouteToken(keyring)
  const outbox = createOutbox(enqueue)
  const pollMs = config.imessagePollSeconds === null ? null : config.imessagePollSeconds * 1000
  const receiving = createReceiving({ db, identities, provider, outbox, enqueue, emit, routeToken, publicUrl, pollMs, businessEvents, log })
  const imessage = createImessage({
    db,
    identities,
    attachments,
    web,
    provider,
    outbox,
    receiving,
    simulate: simulator && simulation.deliverer((message) => receiving.callback('simulator', routeToken, simulator.callbackOf(message))),
    displayName: config.imessageDisplayName,
    allowCold: config.imessageAllowCold,
    log,
  })

  events.describe('imsg', imessage.describeMessages)
  events.describe('conv', imessage.describeConversations)
  attachments.addSource(imessage.attachmentSource)

  const scheduledTasks: ScheduledTask[] = [
    ...(provider.backfill
      ? [
          {
            name: 'poll the iMessage provider',
            everyMs: Math.min(pollTickMsMax, pollMs ?? pollTickMsMax),
            isDueAtStart: true,
            run: () => receiving.poll(),
          },
        ]
      : []),
    { name: 'sweep received iMessages', everyMs: hourMs, run: () => receiving.sweep() },
  ]
  return {
    routes: [...imessageRoutes(imessage, receiving), ...(simulator ? simulatedImessageRoutes(imessage) : [])],
    handlers: createImessageJobs({
      db,
      pause: organizations,
      attachments,
      provider,
      enqueue,
      emit,
      retrySeconds: config.imessageRetrySeconds,
      businessEvents,
      log,
    }),
    scheduledTasks,
    close: () => provider.close(),
  }
}

function createProvider(config: Config, userAgent: string): ImessageProvider {
  if (config.imessageProvider === 'linq') {
    return createLinq({
      url: config.linqUrl,
      apiKey: config.linqApiKey as string,
      webhookSecret: config.linqWebhookSecret,
      line: config.imessageLine,
      userAgent,
    })
  }
  return createBlueBubbles({
    url: config.blueBubblesUrl as string,
    password: config.blueBubblesPassword as string,
    line: config.imessageLine as string,
    method: config.blueBubblesMethod,
    settleMs: config.blueBubblesSettleSeconds,
    userAgent,
  })
}
