// What iMessage is made of: the provider that the settings name, and the feature on it.
import type { Config } from '../config/settings.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import type { Emit } from '../core/event.ts'
import type { Enqueue } from '../core/job.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../core/sql.ts'
import type { Web } from '../core/web.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createBlueBubbles } from '../edges/suppliers/bluebubbles.ts'
import { createLinq } from '../edges/suppliers/linq.ts'
import { createSimulatorImessage } from '../edges/suppliers/simulator-imessage.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import { createImessageJobs } from '../features/imessage/jobs.ts'
import { createImessage } from '../features/imessage/operations.ts'
import { createOutbox } from '../features/imessage/outbox.ts'
import type { ImessageProvider } from '../features/imessage/provider.ts'
import { createReceiving } from '../features/imessage/receiving.ts'
import { imessageRoutes, simulatedImessageRoutes } from '../features/imessage/routes.ts'
import { createSimulation } from '../features/imessage/simulation.ts'
import type { Attachments } from '../features/mail/attachments/operations.ts'
import type { SimulatorState } from '../features/simulator/operations.ts'

type Parts = {
  config: Config
  db: Database
  keyring: Keyring
  identities: Identities
  attachments: Attachments
  web: Web
  simulatorState: SimulatorState
  enqueue: Enqueue
  emit: Emit
  publicUrl: () => string
  userAgent: string
  businessEvents: BusinessEvents
  log: Log
}

/** The line that the simulator has: a toll-free number set aside for fiction. */
const simulatedLine = '+18005550199'

const pollTickMsMax = 1000
const hourMs = 3_600_000

export type ImessageParts = ReturnType<typeof createImessageParts>

/** The secret part of the address of callbacks: the same for as long as the keyring is. */
export const imessageRouteToken = (keyring: Keyring): string => keyring.subkey('imessage-callbacks').toString('base64url')

/** How events tell messages and conversations; iMessage is made after events. */
export const imessageDescribers = (parts: () => ImessageParts) => ({
  imsg: (ids: string[]) => parts().imessage.describeMessages(ids),
  conv: (ids: string[]) => parts().imessage.describeConversations(ids),
})

export function createImessageParts(parts: Parts) {
  const { config, db, keyring, identities, attachments, web, simulatorState, enqueue, emit, publicUrl, userAgent, businessEvents, log } =
    parts
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
  const provider: ImessageProvider = simulator ?? createProvider(config, userAgent)
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

  const scheduledTasks: ScheduledTask[] = [
    ...(provider.backfill
      ? [
          {
            name: 'ask the iMessage provider',
            everyMs: Math.min(pollTickMsMax, pollMs ?? pollTickMsMax),
            isDueAtStart: true,
            run: () => receiving.poll(),
          },
        ]
      : []),
    { name: 'sweep received iMessages', everyMs: hourMs, run: () => receiving.sweep() },
  ]
  return {
    imessage,
    attachmentSource: imessage.attachmentSource,
    routes: [...imessageRoutes(imessage, receiving), ...(simulator ? simulatedImessageRoutes(imessage) : [])],
    handlers: createImessageJobs({
      db,
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
