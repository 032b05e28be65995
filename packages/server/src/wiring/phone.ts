// What phone numbers are made of: the supplier that the settings name, the simulator in its place, and the feature on both.
import type { Config } from '../config/settings.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import type { Emit } from '../core/event.ts'
import type { Enqueue, JobHandler } from '../core/job.ts'
import type { Log } from '../core/log.ts'
import type { Route } from '../core/route.ts'
import type { Database } from '../core/sql.ts'
import type { Wait } from '../core/wait.ts'
import type { Web } from '../core/web.ts'
import type { ScheduledTask } from '../edges/jobs/scheduled-tasks.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createPhoneSimulator, simulatedCallback } from '../edges/suppliers/simulator-phone.ts'
import { createTelnyx } from '../edges/suppliers/telnyx.ts'
import { createTwilio } from '../edges/suppliers/twilio.ts'
import type { Identities } from '../features/account/identities/operations.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'
import type { AttachmentSource, Attachments } from '../features/mail/attachments/operations.ts'
import { areaCodesIn, tollFreeCodes } from '../features/phone/area-codes.ts'
import { createArrivals } from '../features/phone/arrivals.ts'
import { createInbox } from '../features/phone/inbox.ts'
import { createPhoneJobs } from '../features/phone/jobs.ts'
import { createPhones } from '../features/phone/operations.ts'
import type { PhoneProvider, ProviderName } from '../features/phone/provider.ts'
import { phoneRoutes } from '../features/phone/routes.ts'
import { createSimulator, createSimulatorDesk } from '../features/simulator/operations.ts'
import { phoneSimulatorRoutes, simulatorRoutes } from '../features/simulator/routes.ts'

type Parts = {
  config: Config
  db: Database
  keyring: Keyring
  accounts: Accounts
  identities: Identities
  attachments: Attachments
  web: Web
  emit: Emit
  enqueue: Enqueue
  wait: Wait
  publicUrl: () => string
  userAgent: string
  businessEvents: BusinessEvents
  log: Log
}

export type PhoneParts = ReturnType<typeof createPhoneParts>

/** Below what clients and proxies wait for an answer. */
const provisionWaitMs = 25_000
const hourMs = 3_600_000

/** How events tell numbers and texts; phones are made after events. */
export const phoneDescribers = (phone: () => PhoneParts) => ({
  pn: (ids: string[]) => phone().phones.describe(ids),
  sms: (ids: string[]) => phone().inbox.describe(ids),
})

export function createPhoneParts(parts: Parts) {
  const { config, db, keyring, accounts, identities, attachments, web, emit, enqueue, wait, publicUrl, userAgent, businessEvents, log } =
    parts
  const simulatorState = createSimulatorDesk(db)
  const signKey = keyring.subkey('phone-simulator')
  const callbackUrl = (name: ProviderName) => () => `${publicUrl()}${arrivals.hookPath(name)}`

  // The simulator stays able to give back what it sold; new numbers come from the one that the settings name.
  const providers = new Map<ProviderName, PhoneProvider>([
    [
      'simulator',
      createPhoneSimulator({
        carrier: simulatorState.phoneCarrier,
        readyMs: config.simSmsReadyMs,
        signKey,
        areaCodesOf: ({ country, type, region, areaCode }) =>
          areaCode !== null ? [areaCode] : type === 'toll_free' ? tollFreeCodes() : areaCodesIn(country, region),
      }),
    ],
  ])
  const closers: (() => Promise<void>)[] = []
  const { telnyxApiKey, telnyxPublicKey, telnyxMessagingProfileId, twilioAccountSid, twilioAuthToken } = config
  if (telnyxApiKey && telnyxPublicKey && telnyxMessagingProfileId) {
    const telnyx = createTelnyx({
      apiKey: telnyxApiKey,
      publicKey: telnyxPublicKey,
      messagingProfileId: telnyxMessagingProfileId,
      apiUrl: config.telnyxApiUrl,
      userAgent,
      callbackUrl: callbackUrl('telnyx'),
    })
    providers.set('telnyx', telnyx)
    closers.push(telnyx.close)
  }
  if (twilioAccountSid && twilioAuthToken) {
    const twilio = createTwilio({
      accountSid: twilioAccountSid,
      authToken: twilioAuthToken,
      apiUrl: config.twilioApiUrl,
      userAgent,
      callbackUrl: callbackUrl('twilio'),
    })
    providers.set('twilio', twilio)
    closers.push(twilio.close)
  }

  const pollMs = config.phonePollSeconds * 1000
  const jobs = createPhoneJobs({ db, providers, enqueue, emit, pollMs, businessEvents, log })
  const providerName = config.phoneProvider
  const phones = createPhones({ db, accounts, identities, attachments, enqueue, providerName, waitMsMax: provisionWaitMs })
  const arrivals = createArrivals({
    db,
    attachments,
    web,
    providers,
    jobs,
    providerNames: [...providers.keys()],
    emit,
    enqueue,
    publicUrl,
    routeKey: keyring.subkey('phone-callbacks'),
    businessEvents,
    log,
  })
  const inbox = createInbox({ db, phones, attachments, wait })
  const simulator = createSimulator({
    db,
    simulatorState,
    phones,
    hurry: jobs.hurry,
    toCallback: (body, nowMs) => simulatedCallback(signKey, arrivals.hookPath('simulator'), body, nowMs),
    deliver: (request) => arrivals.receiveAt(request),
  })
  const isSimulated = providerName === 'simulator'
  const routes: Route[] = [
    ...phoneRoutes(phones, inbox, arrivals),
    ...(isSimulated ? phoneSimulatorRoutes(simulator) : []),
    ...(isSimulated || config.imessageProvider === 'simulator' ? simulatorRoutes(simulator) : []),
  ]
  const handlers: JobHandler[] = [...jobs.handlers, arrivals.mediaHandler]
  const scheduledTasks: ScheduledTask[] = [
    { name: 'catch up with texts', everyMs: config.phoneCatchUpSeconds * 1000, isDueAtStart: true, run: arrivals.catchUp },
    { name: 'sweep texts', everyMs: hourMs, run: () => Promise.all([phones.sweep(), arrivals.sweep(), simulatorState.sweep()]) },
  ]
  const attachmentSource: AttachmentSource = { findFile: inbox.findFile, findNamedBlobs: inbox.findNamedBlobs }
  return {
    phones,
    inbox,
    simulatorState,
    attachmentSource,
    routes,
    handlers,
    scheduledTasks,
    close: async () => {
      await Promise.all(closers.map((close) => close()))
    },
  }
}
